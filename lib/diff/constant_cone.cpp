#include "lib/diff/constant_cone.h"

#include "lib/ir/op_table.h"
#include "llvm/ADT/SetVector.h"

namespace grapnel {
namespace {

bool ComesFromOutside(llvm::StringRef op) {
  const OpInfo* info = FindOp(op);
  return op.starts_with("Placeholder") || op == "_Arg" || (info && info->is_stateful);
}

}  // namespace

ConstantCone ConstantConeOf(const Side& side, int32_t node) {
  ConstantCone result;
  if (node == kNobody || !side.IsFree(node)) return result;
  llvm::SmallSetVector<int32_t, 16> cone;
  cone.insert(node);
  for (size_t i = 0; i < cone.size(); ++i) {
    int32_t at = cone[i];
    if (at == kNobody || cone.size() > kLargestRegion) return result;
    if (ComesFromOutside(side.view->node(at).op())) return result;
    if (!side.IsFree(at)) {
      if (!side.labels->constant[at]) return result;
      result.known.push_back(at);
    }
    for (const BodyView::In& in : side.view->DataInputs(at)) cone.insert(in.node);
  }
  result.is_one = true;
  return result;
}

std::vector<int32_t> FreeConstantsOf(const Side& side, int32_t node) {
  std::vector<int32_t> constants;
  for (const BodyView::In& in : side.view->DataInputs(node)) {
    ConstantCone cone = ConstantConeOf(side, in.node);
    if (cone.is_one && cone.known.empty()) constants.push_back(in.node);
  }
  return constants;
}

}  // namespace grapnel
