// Values for tensors of a graph, from .npy files.
#ifndef GRAPNEL_LIB_EXEC_FEED_H_
#define GRAPNEL_LIB_EXEC_FEED_H_

#include "lib/exec/executor.h"
#include "lib/support/file.h"

namespace grapnel {

// What the graph says of a tensor's dtype; DT_INVALID where it says nothing. Errors: there is no
// such tensor.
Expected<DataType> TypeOfFeed(const Graph& graph, llvm::StringRef tensor);

// The file as a tensor of the dtype that `tensor` has in the graph.
Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor, llvm::StringRef path);
Expected<Tensor> ReadFeed(const Graph& graph, llvm::StringRef tensor,
                          std::shared_ptr<const FileBytes> file);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FEED_H_
