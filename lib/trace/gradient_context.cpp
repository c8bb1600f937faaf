#include "lib/trace/gradient_context.h"

#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {

Value GradientContext::ForwardAt(Port port) const { return forward_.At(port); }

const Value& GradientContext::dy(int i) {
  Gradient& gradient = gradients_[i];
  if (gradient.is_slices()) gradient = ToDense(state_, gradient);
  return gradient.values;
}

std::vector<OpAttribute> GradientContext::Attrs(llvm::ArrayRef<const char*> keys) const {
  std::vector<OpAttribute> attributes;
  for (const char* key : keys) {
    if (auto value = node_.Attr(key))
      attributes.push_back(OpAttribute::Serialized(key, value->bytes().str()));
  }
  return attributes;
}

InputGradients GradientContext::Fail(const std::string& text) {
  state_.Report(forward_.LineOf(node_.id()),
                ("op '" + node_.op() + "', node '" + node_.name() + "': " + text).str());
  return {};
}

Value ToDense(TraceState& state, const Gradient& gradient, llvm::StringRef name) {
  if (!gradient.is_slices()) return gradient.values;
  GradientContext g(state, *state.current, Node(), {}, 0);
  Value rows = g.At(gradient.dense_shape, 0);
  return g.Op("UnsortedSegmentSum", {gradient.values, gradient.indices, rows}, {}, name);
}

}  // namespace grapnel
