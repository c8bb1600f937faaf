#include "lib/exec/tensor_list.h"

#include "lib/support/memory_budget.h"

namespace grapnel {

Error TensorList::Resize(int64_t size) {
  if (size < 0) return MakeError("a tensor list cannot have {0} elements", size);
  RETURN_IF_ERROR(CheckMemory(size, sizeof(Tensor)));
  tensors.resize(size);
  return Error::success();
}

std::string TensorList::ToString() const {
  return llvm::formatv("list of {0} {1}{2}", tensors.size(), DataTypeName(element_dtype),
                       element_shape.ToString())
      .str();
}

}  // namespace grapnel
