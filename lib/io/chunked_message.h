// TensorFlow's chunked protos (.cpb), which it writes for models above protobuf's 2 GiB.
#ifndef GRAPNEL_LIB_IO_CHUNKED_MESSAGE_H_
#define GRAPNEL_LIB_IO_CHUNKED_MESSAGE_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "lib/support/file.h"

namespace grapnel {

// Merges the chunks of `file` into one SavedModel, MetaGraphDef or GraphDef, in a file object of
// the same name, like tensorflow/tools/proto_splitter/merge.cc: the records of a Riegeli file are
// chunks, and the last record (chunk.proto's ChunkMetadata) says where each chunk belongs. Omits a
// chunk that is damaged or belongs nowhere, and reports it in `problems`; without the last record,
// reads only the first chunk. Memory: twice the merged size, which is at most `limit` and half of
// the free memory; chunks beyond that are omitted. Fails if no record can be read; the error does
// not name the file.
Expected<std::shared_ptr<const FileBytes>> MergeChunks(std::shared_ptr<const FileBytes> file,
                                                       std::vector<Problem>* problems,
                                                       uint64_t limit = ~uint64_t{0});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CHUNKED_MESSAGE_H_
