// TensorFlow's protos in chunks (.cpb), which it writes of models above protobuf's 2 GiB.
#ifndef GRAPNEL_LIB_IO_CHUNKED_MESSAGE_H_
#define GRAPNEL_LIB_IO_CHUNKED_MESSAGE_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// The SavedModel, MetaGraphDef or GraphDef that was split into the chunks of `file`, in one piece
// and of the same name, as tensorflow/tools/proto_splitter/merge.cc puts it together: records of a
// Riegeli file are chunks, the last record (chunk.proto's ChunkMetadata) says where each belongs. A
// chunk that is damaged, or belongs nowhere, is left out, and `problems` say which field lacks it;
// without the last record the first chunk is all there is. Memory: twice the whole, which is at
// most `limit` and half of what is free: chunks beyond that are left out. Errors, which do not name
// the file: no record can be read.
Expected<std::shared_ptr<const FileBytes>> MergeChunks(std::shared_ptr<const FileBytes> file,
                                                       std::vector<Problem>* problems,
                                                       uint64_t limit = ~uint64_t{0});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CHUNKED_MESSAGE_H_
