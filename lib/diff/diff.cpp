#include "lib/diff/diff.h"

#include <algorithm>
#include <map>

#include "lib/ir/import.h"
#include "lib/ir/literal.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

std::string InputText(const Node& node, int i) {
  Port port = node.input(i);
  if (port.node == kNoNode) return node.DanglingText(i).str();
  return PortText(node.graph(), port);
}

std::string ControlText(const Node& node) {
  std::vector<std::string> names;
  for (int i = 0; i < node.num_controls(); ++i) {
    Node control = node.control(i);
    names.push_back(control ? "^" + control.name().str() : "^?");
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Two encodings of one tensor are the same value.
bool SameValue(AttrView a, AttrView b) {
  if (a.bytes() == b.bytes()) return true;
  auto tensor_a = a.AsTensor(), tensor_b = b.AsTensor();
  if (!tensor_a || !tensor_b) return false;
  auto literal_a = Literal::FromTensorProto(*tensor_a);
  auto literal_b = Literal::FromTensorProto(*tensor_b);
  bool same = literal_a && literal_b && literal_a->SameValue(*literal_b);
  if (!literal_a) llvm::consumeError(literal_a.takeError());
  if (!literal_b) llvm::consumeError(literal_b.takeError());
  return same;
}

// What a person wants to read of a value: for a small tensor its elements.
std::string ValueText(AttrView view) {
  auto tensor = view.AsTensor();
  if (!tensor) return view.ToString();
  auto literal = Literal::FromTensorProto(*tensor);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return view.ToString();
  }
  return (DataTypeName(literal->dtype()) + DimsText(literal->dims()) + " " + literal->ToString(6))
      .str();
}

void CompareAttrs(const Node& a, const Node& b, llvm::ArrayRef<std::string> ignored,
                  std::vector<Change>* changes) {
  auto attrs_a = a.Attrs(), attrs_b = b.Attrs();
  auto at_a = attrs_a.begin(), at_b = attrs_b.begin();
  auto report = [&](llvm::StringRef key, std::string before, std::string after) {
    if (!llvm::is_contained(ignored, key))
      changes->push_back({key.str(), std::move(before), std::move(after)});
  };
  while (at_a != attrs_a.end() || at_b != attrs_b.end()) {
    if (at_b == attrs_b.end() || (at_a != attrs_a.end() && at_a->first < at_b->first)) {
      report(at_a->first, ValueText(at_a->second), "");
      ++at_a;
    } else if (at_a == attrs_a.end() || at_b->first < at_a->first) {
      report(at_b->first, "", ValueText(at_b->second));
      ++at_b;
    } else {
      if (!SameValue(at_a->second, at_b->second))
        report(at_a->first, ValueText(at_a->second), ValueText(at_b->second));
      ++at_a;
      ++at_b;
    }
  }
}

std::vector<Change> Compare(const Node& a, const Node& b, llvm::ArrayRef<std::string> ignored) {
  std::vector<Change> changes;
  if (a.op() != b.op()) changes.push_back({"op", a.op().str(), b.op().str()});
  if (a.device() != b.device()) changes.push_back({"device", a.device().str(), b.device().str()});
  for (int i = 0; i < std::max(a.num_inputs(), b.num_inputs()); ++i) {
    std::string before = i < a.num_inputs() ? InputText(a, i) : "",
                after = i < b.num_inputs() ? InputText(b, i) : "";
    if (before != after) changes.push_back({"input " + std::to_string(i), before, after});
  }
  std::string before = ControlText(a), after = ControlText(b);
  if (before != after) changes.push_back({"control inputs", before, after});
  CompareAttrs(a, b, ignored, &changes);
  return changes;
}

void DiffBodies(const Graph* a, const Graph* b, const std::string& prefix,
                llvm::ArrayRef<std::string> ignored, Diff* diff) {
  if (a) {
    for (Node node : a->nodes()) {
      Node other = b ? b->Find(node.name()) : Node();
      std::string name = prefix + node.name().str();
      if (!other) {
        diff->removed.push_back({name, node.op().str()});
      } else {
        diff->matched.push_back({name, name, other.op().str(), Compare(node, other, ignored)});
      }
    }
  }
  if (!b) return;
  for (Node node : b->nodes()) {
    if (!a || !a->Find(node.name()))
      diff->added.push_back({prefix + node.name().str(), node.op().str()});
  }
}

}  // namespace

bool Diff::Same() const {
  return removed.empty() && added.empty() &&
         llvm::all_of(matched, [](const MatchedPair& pair) { return pair.changes.empty(); });
}

Diff DiffByName(const Module& a, const Module& b, llvm::ArrayRef<std::string> ignored) {
  Diff diff;
  DiffBodies(&a.main, &b.main, "", ignored, &diff);
  std::map<std::string, std::pair<const Graph*, const Graph*>> functions;
  for (const auto& function : a.functions)
    functions[function->name().str()].first = &function->body;
  for (const auto& function : b.functions)
    functions[function->name().str()].second = &function->body;
  for (const auto& [name, bodies] : functions)
    DiffBodies(bodies.first, bodies.second, name + "/", ignored, &diff);
  llvm::sort(diff.matched, [](const MatchedPair& x, const MatchedPair& y) { return x.a < y.a; });
  auto by_name = [](const NodeEntry& x, const NodeEntry& y) { return x.name < y.name; };
  llvm::sort(diff.removed, by_name);
  llvm::sort(diff.added, by_name);
  return diff;
}

}  // namespace grapnel
