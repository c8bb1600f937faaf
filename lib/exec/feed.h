// Reads .npy files as values for feeds.
#ifndef GRAPNEL_LIB_EXEC_FEED_H_
#define GRAPNEL_LIB_EXEC_FEED_H_

#include "lib/exec/executor.h"
#include "lib/support/file.h"
#include "lib/support/public.h"

namespace grapnel {

// The dtype of a tensor as the graph says it; DT_INVALID where the op is not known. Errors: there
// is no such tensor.
GRAPNEL_PUBLIC Expected<DataType> TypeOfFeed(const Graph& graph, llvm::StringRef tensor);

// Read a .npy file as a value for `tensor`. Errors: there is no such tensor or file, or the file is
// of another dtype than the graph says: values are not converted.
GRAPNEL_PUBLIC Expected<Tensor> LoadFeed(const Graph& graph, llvm::StringRef tensor,
                                         llvm::StringRef path);
GRAPNEL_PUBLIC Expected<Tensor> ReadFeed(const Graph& graph, llvm::StringRef tensor,
                                         std::shared_ptr<const FileBytes> file);
// The same for a value of dtype `type`; DT_INVALID: the file's own.
GRAPNEL_PUBLIC Expected<Tensor> LoadFeedOf(DataType type, llvm::StringRef tensor,
                                           llvm::StringRef path);

// A value that is at hand, for a tensor of dtype `type`: itself, or, as NumPy has no quantized
// dtypes, the same numbers as one of those. Errors: it is of another dtype.
GRAPNEL_PUBLIC Expected<Tensor> FeedOf(llvm::StringRef tensor, DataType type,
                                       const Tensor& at_hand);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FEED_H_
