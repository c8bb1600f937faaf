// What the kernels of TensorArray ops share.
#ifndef GRAPNEL_KERNELS_CPU_STATE_TENSOR_ARRAY_H_
#define GRAPNEL_KERNELS_CPU_STATE_TENSOR_ARRAY_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {

// Tensors of one dtype, each written once and then read. Lives as long as a handle to it does.
class TensorArrayObject : public Object {
 public:
  struct Element {
    Tensor value;  // none of a written element: zeros of `dims`
    Dims dims;
    bool written = false, read = false, cleared = false;
  };

  std::string ToString() const override;
  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  // For these `mutex` must be held. Errors name the element and what is wrong with it.
  Error Write(KernelContext& ctx, int64_t i, Tensor value);
  Expected<Tensor> Read(KernelContext& ctx, int64_t i);
  // All elements are of this shape too, as far as it is known.
  Error RestrictShape(const Shape& shape);
  // Room for elements below `size`, an error when it cannot grow to that.
  Error Reserve(int64_t size);

  std::mutex mutex;
  DataType dtype = proto::DT_INVALID;
  Shape element_shape;
  bool grows = false, clears_after_read = true, same_shapes = false;
  bool adds_up = false;    // of a gradient: writes to one element are added up
  bool was_added = false;  // and they were: it has no gradient of its own
  bool closed = false;
  std::vector<Element> elements;
  std::map<std::string, llvm::IntrusiveRefCntPtr<TensorArrayObject>> gradients;  // by their source
};

// The array that input `i` is a handle of, which must not be closed.
Expected<TensorArrayObject*> ArrayIn(const KernelContext& ctx, int i);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_STATE_TENSOR_ARRAY_H_
