// Slices of tensors as users type them: "x:0[0, :]".
#ifndef GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_
#define GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// Returns a copy of `tensor` in which the elements selected by `slice` ("[0, :]"; "": all) are
// replaced by those of `value`, broadcast to the selection and cast to the tensor's dtype. Errors:
// an unreadable or impossible slice; `value` does not broadcast to the selection; the dtypes do not
// fit, as strings for numbers, complex numbers for real ones, or objects.
Expected<Tensor> WithElements(const Tensor& tensor, llvm::StringRef slice, const Tensor& value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_
