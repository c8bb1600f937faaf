// MetaGraphDef and SavedModel: graphs with signatures, tags and variables.
#ifndef GRAPNEL_LIB_IO_META_GRAPH_H_
#define GRAPNEL_LIB_IO_META_GRAPH_H_

#include "lib/io/open.h"

namespace grapnel {

// The field of a MetaGraphDef that has its GraphDef.
constexpr uint32_t kGraphOfMetaGraph = 2;

// Appends to `model` the graph of the serialized MetaGraphDef, or the graphs of the SavedModel in
// `file`. The bytes of the graph stay a slice of the file, unless the file has them in several
// parts. Fails if no graph can be read.
Error ReadMetaGraph(std::shared_ptr<const FileBytes> file, llvm::StringRef meta_graph,
                    Model* model);
Error ReadSavedModel(const std::shared_ptr<const FileBytes>& file, Model* model);

// Sets variables_prefix, if there are variables, the paths of assets, and keras_metadata for a
// SavedModel whose saved_model.pb is in `folder`.
void FindFilesBeside(llvm::StringRef folder, Model* model);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_META_GRAPH_H_
