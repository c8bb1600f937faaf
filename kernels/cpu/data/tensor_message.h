// Tensors as the bytes of TensorProto.
#ifndef GRAPNEL_KERNELS_CPU_DATA_TENSOR_MESSAGE_H_
#define GRAPNEL_KERNELS_CPU_DATA_TENSOR_MESSAGE_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Elements as they lie in memory, however few: the bytes are TensorFlow's. Not for HoldsObjects().
// Strings are values of their own, or `packed`: their sizes, then all their bytes.
std::string TensorMessage(const Tensor& tensor, bool packed = false);

// In memory of its own. A message that claims more than it has (one value that stands for all) is
// expanded to 2 GiB at most.
Expected<Tensor> TensorOfMessage(llvm::StringRef bytes, Allocator& allocator);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_DATA_TENSOR_MESSAGE_H_
