// A variant that holds a tensor: the form of serialized sparse tensors within one process.
#ifndef GRAPNEL_KERNELS_CPU_STATE_VARIANT_TENSOR_H_
#define GRAPNEL_KERNELS_CPU_STATE_VARIANT_TENSOR_H_

#include <string>

#include "lib/exec/tensor.h"

namespace grapnel {

struct TensorValue : Object {
  explicit TensorValue(Tensor tensor) : tensor(std::move(tensor)) {}
  std::string ToString() const override { return "tensor " + tensor.ToString(0); }
  const Tensor tensor;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_VARIANT_TENSOR_H_
