// The value of a variant that represents a ragged tensor.
#ifndef GRAPNEL_KERNELS_CPU_RAGGED_VARIANT_H_
#define GRAPNEL_KERNELS_CPU_RAGGED_VARIANT_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"

namespace grapnel {

struct RaggedValue : Object {
  std::vector<Tensor> splits;  // outermost first; each has one element more than rows
  Tensor values;

  int64_t num_rows() const {
    if (splits.empty()) return values.rank() > 0 ? values.dim(0) : 0;
    return splits[0].num_elements() - 1;
  }
  std::string ToString() const override {
    return llvm::formatv("ragged tensor of rank {0} over {1}", splits.size(), values.ToString(0))
        .str();
  }
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_RAGGED_VARIANT_H_
