// "x:0[0, :]": a tensor's name with a slice, as one types it.
#ifndef GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_
#define GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

// A copy of `tensor` in which the elements that `slice` names ("[0, :]"; "": all) are those of
// `value`, which is broadcast and cast to its dtype. Errors: as of TensorExpression; a shape that
// does not broadcast; strings and numbers in one another's place.
Expected<Tensor> WithElements(const Tensor& tensor, llvm::StringRef slice, const Tensor& value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TENSOR_SLICE_H_
