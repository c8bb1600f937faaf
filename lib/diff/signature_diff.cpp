#include "lib/diff/signature_diff.h"

#include <map>

#include "lib/io/signature.h"
#include "lib/ir/summary.h"
#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Tensors = llvm::ArrayRef<SignatureTensor>;

std::string TypeText(const SignatureTensor& tensor) {
  return (DataTypeName(tensor.dtype) + tensor.shape.ToString()).str();
}

void CompareTensors(const char* what, Tensors a, Tensors b, std::vector<Change>* changes) {
  std::map<std::string, std::pair<std::string, std::string>> types;  // by key
  for (const SignatureTensor& tensor : a) types[tensor.key].first = TypeText(tensor);
  for (const SignatureTensor& tensor : b) types[tensor.key].second = TypeText(tensor);
  for (auto& [key, sides] : types)
    if (sides.first != sides.second)
      changes->push_back({std::string(what) + " " + key, sides.first, sides.second});
}

class NodeSet {
 public:
  NodeSet() = default;
  NodeSet(const GraphInFile& graph, const Signature& signature) {
    for (const Node& node : ReachedNodes(graph, signature)) Insert(node);
  }
  bool Has(const NodeEntry& entry) const {
    return nodes_.contains({&entry.node.graph(), entry.node.id()});
  }
  bool HasAny(llvm::ArrayRef<NodeEntry> entries) const {
    return llvm::any_of(entries, [&](const NodeEntry& entry) { return Has(entry); });
  }
  size_t size() const { return nodes_.size(); }

 private:
  void Insert(const Node& node) { nodes_.insert({&node.graph(), node.id()}); }
  llvm::DenseSet<std::pair<const Graph*, NodeId>> nodes_;
};

NodeChanges ChangesAmong(const NodeSet& a, const NodeSet& b, const Diff& diff) {
  NodeChanges changes;
  changes.nodes_a = a.size();
  changes.nodes_b = b.size();
  changes.removed = llvm::count_if(diff.removed, [&](const auto& node) { return a.Has(node); });
  changes.added = llvm::count_if(diff.added, [&](const auto& node) { return b.Has(node); });
  changes.changed = llvm::count_if(diff.matched, [&](const MatchedPair& pair) {
    return !pair.changes.empty() && (a.Has(pair.a) || b.Has(pair.b));
  });
  changes.replaced = llvm::count_if(
      diff.groups, [&](const GroupEntry& group) { return a.HasAny(group.a) || b.HasAny(group.b); });
  return changes;
}

const Signature* FindSignature(const GraphInFile& graph, llvm::StringRef name) {
  for (const Signature& signature : graph.signatures)
    if (signature.name == name) return &signature;
  return nullptr;
}

std::string CountsText(const NodeChanges& changes) {
  std::string text;
  auto add = [&](size_t count, const char* what) {
    if (count == 0) return;
    text += text.empty() ? "" : ", ";
    text += WithCommas(count) + " " + what;
  };
  add(changes.removed, "removed");
  add(changes.added, "added");
  add(changes.changed, "changed");
  add(changes.replaced, "replaced");
  if (text.empty()) text = "the same nodes";
  text += " of " + WithCommas(changes.nodes_a);
  return changes.nodes_a == changes.nodes_b ? text : text + " -> " + WithCommas(changes.nodes_b);
}

}  // namespace

std::vector<SignatureDiff> DiffInterfaces(const GraphInFile& a, const GraphInFile& b) {
  std::map<std::string, SignatureDiff> by_name;
  for (const GraphInFile* side : {&a, &b})
    for (const Signature& signature : side->signatures)
      if (!IsInternal(signature)) by_name[signature.name].name = signature.name;
  std::vector<SignatureDiff> result;
  for (auto& [name, one] : by_name) {
    const Signature *in_a = FindSignature(a, name), *in_b = FindSignature(b, name);
    one.in_a = in_a;
    one.in_b = in_b;
    if (in_a && in_b) {
      if (in_a->method != in_b->method)
        one.changes.push_back({"method", in_a->method, in_b->method});
      CompareTensors("input", in_a->inputs, in_b->inputs, &one.changes);
      CompareTensors("output", in_a->outputs, in_b->outputs, &one.changes);
    }
    result.push_back(std::move(one));
  }
  return result;
}

void CountChanges(const GraphInFile& a, const GraphInFile& b, const Diff& diff,
                  llvm::MutableArrayRef<SignatureDiff> signatures) {
  for (SignatureDiff& one : signatures) {
    if (!one.in_a || !one.in_b) continue;
    one.nodes = ChangesAmong(NodeSet(a, *FindSignature(a, one.name)),
                             NodeSet(b, *FindSignature(b, one.name)), diff);
  }
}

NodeChanges ChangesOf(const Module& a, const Module& b, const Diff& diff) {
  NodeChanges changes;
  changes.nodes_a = CountNodes(a);
  changes.nodes_b = CountNodes(b);
  changes.removed = diff.removed.size();
  changes.added = diff.added.size();
  changes.changed =
      llvm::count_if(diff.matched, [](const MatchedPair& pair) { return !pair.changes.empty(); });
  changes.replaced = diff.groups.size();
  return changes;
}

bool SameInterface(llvm::ArrayRef<SignatureDiff> signatures) {
  return llvm::all_of(signatures, [](const SignatureDiff& one) {
    return one.in_a && one.in_b && one.changes.empty();
  });
}

void WriteSignatureDiff(llvm::ArrayRef<SignatureDiff> signatures, llvm::raw_ostream& os) {
  for (const SignatureDiff& one : signatures) {
    os << "signature " << Printable(one.name) << "  ";
    if (one.in_a && one.in_b && one.nodes.nodes_a + one.nodes.nodes_b == 0) {
      os << "callers see changes";
    } else if (one.in_a && one.in_b) {
      os << (one.Same() ? "the same: " + Plural(one.nodes.nodes_a, "node") : CountsText(one.nodes));
    } else {
      os << (one.in_a ? "- only before" : "+ only after");
    }
    os << "\n";
    for (const Change& change : one.changes) {
      const char* sign = change.before.empty() ? "+" : change.after.empty() ? "-" : "~";
      os << "  " << sign << " " << Printable(change.what) << "  " << Printable(change.before)
         << (change.before.empty() || change.after.empty() ? "" : " -> ") << Printable(change.after)
         << "\n";
    }
  }
}

}  // namespace grapnel
