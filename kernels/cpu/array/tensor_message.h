// Tensors as serialized TensorProtos.
#ifndef GRAPNEL_KERNELS_CPU_ARRAY_TENSOR_MESSAGE_H_
#define GRAPNEL_KERNELS_CPU_ARRAY_TENSOR_MESSAGE_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

// Writes elements as raw bytes, however few there are: TensorFlow writes the same bytes. The tensor
// must not hold objects (Tensor::HoldsObjects). Strings are separate values or, if `packed`, all
// their sizes followed by all their bytes.
std::string TensorMessage(const Tensor& tensor, bool packed = false);

// Parses a TensorProto into newly allocated memory. A message with fewer values than elements (one
// value that fills the tensor) is expanded to at most 2 GiB.
Expected<Tensor> TensorOfMessage(llvm::StringRef bytes, Allocator& allocator);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_ARRAY_TENSOR_MESSAGE_H_
