// Slices of tensors as users type them: "x:0[0, :]".
#ifndef GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_
#define GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// Returns a copy of `tensor` in which the elements selected by `slice` ("[0, :]"; "": all) are
// those of `value`, broadcast and cast to its dtype. Errors: as for TensorExpression; a shape that
// does not broadcast; strings for numbers or the reverse.
Expected<Tensor> WithElements(const Tensor& tensor, llvm::StringRef slice, const Tensor& value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_
