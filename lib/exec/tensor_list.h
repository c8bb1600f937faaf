// The value that TensorList ops pass along: tensors of one dtype, some of which may not be set yet.
#ifndef GRAPNEL_LIB_EXEC_TENSOR_LIST_H_
#define GRAPNEL_LIB_EXEC_TENSOR_LIST_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

struct TensorList : Object {
  DataType element_dtype = proto::DT_INVALID;
  Shape element_shape;  // of each element, as far as known
  int64_t max_elements = -1;
  std::vector<Tensor> tensors;  // an empty one was never set: it reads as zeros

  // Elements that are new were never set. Errors: a negative size, memory.
  Error Resize(int64_t size);
  std::string ToString() const override;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_TENSOR_LIST_H_
