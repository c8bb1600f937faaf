// The value of a TensorList variant: tensors of one dtype, some of which may not be set yet.
#ifndef GRAPNEL_LIB_EXEC_TENSOR_LIST_H_
#define GRAPNEL_LIB_EXEC_TENSOR_LIST_H_

#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

struct TensorList : Object {
  DataType element_dtype = proto::DT_INVALID;
  Shape element_shape;  // of every element; may be partly unknown
  int64_t max_elements = -1;
  std::vector<Tensor> tensors;  // an empty Tensor was never set and reads as zeros

  // Changes the number of elements; new ones are unset. Errors: a negative size, not enough memory.
  Error Resize(int64_t size);
  std::string ToString() const override;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_TENSOR_LIST_H_
