#include "lib/trace/gradient_rule.h"

#include <map>

#include "lib/trace/body.h"

namespace grapnel {
namespace {

// Filled before main() begins, and only read from then on.
std::map<std::string, GradientEntry, std::less<>>& Registry() {
  static auto* const kRegistry = new std::map<std::string, GradientEntry, std::less<>>;
  return *kRegistry;
}

}  // namespace

bool RegisterGradient(const GradientEntry& entry) {
  bool added = Registry().try_emplace(entry.op, entry).second;
  assert(added && "two rules for one op");
  return added;
}

const GradientEntry* FindGradient(llvm::StringRef op) {
  auto it = Registry().find(std::string_view(op.data(), op.size()));
  return it == Registry().end() ? nullptr : &it->second;
}

std::vector<const GradientEntry*> AllGradients() {
  std::vector<const GradientEntry*> entries;
  for (const auto& [op, entry] : Registry()) entries.push_back(&entry);
  return entries;
}

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
  // An error of this op, and where the op came from: the line is set.
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
