#include "lib/exec/tensor_list.h"

namespace grapnel {

std::string TensorList::ToString() const {
  return llvm::formatv("list of {0} {1}{2}", tensors.size(), DataTypeName(element_dtype),
                       element_shape.ToString())
      .str();
}

}  // namespace grapnel
