// Reads .npy files as values for feeds.
#ifndef GRAPNEL_LIB_EXEC_FEED_H_
#define GRAPNEL_LIB_EXEC_FEED_H_

#include "lib/exec/executor.h"
#include "lib/support/file.h"
#include "lib/support/public.h"

namespace grapnel {

// Returns the dtype of a tensor in the graph; DT_INVALID if it is not known. Errors: the graph has
// no such tensor.
GRAPNEL_PUBLIC Expected<DataType> TypeOfFeed(const Graph& graph, llvm::StringRef tensor);

// Reads a .npy file, or the NamedFeed called `path` (lib/exec/named_feed.h), as a value for
// `tensor`. Errors: such as a missing tensor or file, an invalid file, or a dtype that is not the
// tensor's: values are not converted.
GRAPNEL_PUBLIC Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor,
                                         llvm::StringRef path);
GRAPNEL_PUBLIC Expected<Tensor> ReadFeed(const Graph& graph, llvm::StringRef tensor,
                                         std::shared_ptr<const FileBytes> file);
// Like LoadFeed, for a tensor of dtype `type`; DT_INVALID accepts any dtype.
GRAPNEL_PUBLIC Expected<Tensor> LoadFeedOf(DataType type, llvm::StringRef tensor,
                                           llvm::StringRef path);

// Checks a value in memory for a tensor of dtype `type`. Returns the value itself; for a quantized
// dtype, which NumPy does not have, returns the value's integers as that dtype. Errors: the dtypes
// differ.
GRAPNEL_PUBLIC Expected<Tensor> FeedOf(llvm::StringRef tensor, DataType type,
                                       const Tensor& at_hand);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FEED_H_
