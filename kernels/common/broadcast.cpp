#include "kernels/common/broadcast.h"

#include <algorithm>

namespace grapnel {
namespace {

Error Incompatible(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  std::string text;
  for (llvm::ArrayRef<int64_t> shape : shapes)
    text += (text.empty() ? "" : " vs. ") + DimsText(shape);
  return MakeError("incompatible shapes: {0}", text);
}

}  // namespace

Expected<BroadcastPlan> PlanBroadcast(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  BroadcastPlan plan;
  size_t rank = 0, operands = shapes.size();
  for (auto shape : shapes) rank = std::max(rank, shape.size());
  plan.dims.assign(rank, 1);
  for (auto shape : shapes) {
    size_t skip = rank - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& dim = plan.dims[skip + i];
      if (dim == 1)
        dim = shape[i];
      else if (shape[i] != 1 && shape[i] != dim)
        return Incompatible(shapes);
    }
  }
  std::optional<int64_t> total = NumElements(plan.dims);
  if (!total) return MakeError("a result of shape {0} is larger than memory", DimsText(plan.dims));
  plan.total = *total;

  // Merges dimensions, beginning with the innermost: a dimension joins the next inner one when
  // every operand either repeats along both or traverses both as one dimension with a single
  // stride.
  plan.strides.resize(operands);
  llvm::SmallVector<int64_t, 3> walked(operands, 1);
  for (size_t i = rank; i-- > 0;) {
    int64_t dim = plan.dims[i];
    if (dim == 1) continue;
    llvm::SmallVector<int64_t, 3> stride(operands);
    bool joins = !plan.sizes.empty();
    for (size_t k = 0; k < operands; ++k) {
      size_t skip = rank - shapes[k].size();
      bool repeated = i < skip || shapes[k][i - skip] == 1;
      stride[k] = repeated ? 0 : walked[k];
      if (!repeated) walked[k] *= dim;
      if (joins) {
        int64_t inner = plan.strides[k].back();
        joins = repeated ? inner == 0 : inner != 0 && stride[k] == inner * plan.sizes.back();
      }
    }
    if (joins) {
      plan.sizes.back() *= dim;
      continue;
    }
    plan.sizes.push_back(dim);
    for (size_t k = 0; k < operands; ++k) plan.strides[k].push_back(stride[k]);
  }
  if (plan.sizes.empty()) {
    plan.sizes.push_back(1);
    for (auto& strides : plan.strides) strides.push_back(1);
  }
  std::reverse(plan.sizes.begin(), plan.sizes.end());
  for (auto& strides : plan.strides) std::reverse(strides.begin(), strides.end());
  return plan;
}

}  // namespace grapnel
