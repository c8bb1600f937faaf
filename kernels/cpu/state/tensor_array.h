// Shared code of the kernels of TensorArray ops.
#ifndef GRAPNEL_KERNELS_CPU_STATE_TENSOR_ARRAY_H_
#define GRAPNEL_KERNELS_CPU_STATE_TENSOR_ARRAY_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {

// Tensors of one dtype, each written once and then read. The array lives as long as a handle to it.
class TensorArrayObject : public Object {
 public:
  struct Element {
    Tensor value;  // absent although written and not cleared: zeros of `dims`
    Dims dims;
    bool written = false, read = false, cleared = false;
  };

  std::string ToString() const override;
  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  // The caller of these functions must hold `mutex`.
  Error Write(KernelContext& ctx, int64_t i, Tensor value);
  Expected<Tensor> Read(KernelContext& ctx, int64_t i);
  // Merges the shape into element_shape; fails if they do not match. Existing elements are not
  // checked.
  Error RestrictShape(const Shape& shape);
  // Ensures there are elements below `size`; an error when the array cannot grow to that.
  Error Reserve(int64_t size);

  std::mutex mutex;
  DataType dtype = proto::DT_INVALID;
  Shape element_shape;
  bool grows = false, clears_after_read = true, same_shapes = false;
  bool adds_up = false;    // gradient array: writes to one element are summed
  bool was_added = false;  // an element was summed: this array cannot have a gradient itself
  bool closed = false;
  std::vector<Element> elements;
  std::map<std::string, llvm::IntrusiveRefCntPtr<TensorArrayObject>> gradients;  // by source
};

// Returns the array of the handle in input `i`; a closed array is an error.
Expected<TensorArrayObject*> ArrayIn(const KernelContext& ctx, int i);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_TENSOR_ARRAY_H_
