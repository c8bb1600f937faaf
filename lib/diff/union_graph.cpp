#include "lib/diff/union_graph.h"

#include <map>

namespace grapnel {
namespace {

class UnionMaker {
 public:
  UnionMaker(const Diff& diff, UnionGraph* out) : diff_(diff), out_(*out) {
    for (const FunctionEntry& function : diff.functions) {
      if (!function.a.empty()) in_union_[function.a] = NameInUnion(function);
    }
  }

  void Run() {
    out_.of_a.reserve(diff_.matched.size() + diff_.removed.size());
    for (const NodeEntry& node : diff_.added) Mark(node, NodeStatus::kAdded);
    for (const MatchedPair& pair : diff_.matched) {
      Node copy = InUnion(pair.b);
      if (copy) out_.of_a[Key(pair.a.node)] = copy;
      if (!pair.changes.empty()) Mark(pair.b, NodeStatus::kChanged);
    }
    for (const GroupEntry& group : diff_.groups) {
      for (const NodeEntry& node : group.b) Mark(node, NodeStatus::kGrouped);
      Node copy = InUnion(group.b[0]);
      for (const NodeEntry& node : group.a) {
        if (copy) out_.of_a[Key(node.node)] = copy;
      }
    }
    for (const NodeEntry& node : diff_.removed) PutBack(node);
    // Connects nodes only when all have been added, because removed nodes may read removed nodes.
    for (const NodeEntry& node : diff_.removed) Connect(node);
  }

  // Marks that the value of a node of B differs.
  void MarkValue(const Module& b, const Node& of_b) {
    llvm::StringRef name;
    for (const auto& function : b.functions) {
      if (&function->body == &of_b.graph()) name = function->name();
    }
    Graph* body = BodyOf(name);
    if (Node copy = body ? body->Find(of_b.name()) : Node()) out_.other_values.insert(Key(copy));
  }

 private:
  // Adds a function that only A has to the union, under its own name if B has no function of that
  // name.
  std::string NameInUnion(const FunctionEntry& function) {
    if (!function.b.empty()) return function.b;
    std::string name = function.a;
    while (out_.module->FindFunction(name)) name += "_removed";
    out_.module->AddFunction(name);
    return name;
  }

  static std::pair<const Graph*, NodeId> Key(const Node& node) {
    return {&node.graph(), node.id()};
  }

  Graph* BodyOf(llvm::StringRef function_of_b) {
    if (function_of_b.empty()) return &out_.module->main;
    Function* function = out_.module->FindFunction(function_of_b);
    return function ? &function->body : nullptr;
  }

  // A copy has the ids of the original, so a node of B is found by its id, unless the diff is of
  // another copy of B.
  Node InUnion(const NodeEntry& of_b) {
    Graph* body = BodyOf(of_b.function());
    if (!body) return Node();
    NodeId id = of_b.node.id();
    bool is_same = body->IsAlive(id) && body->node(id).name() == of_b.node.name();
    return is_same ? body->node(id) : body->Find(of_b.node.name());
  }

  void Mark(const NodeEntry& of_b, NodeStatus status) {
    Node copy = InUnion(of_b);
    if (!copy) return;
    out_.status[Key(copy)] = status;
  }

  Graph* BodyForRemoved(const NodeEntry& of_a, std::string* function) {
    *function = of_a.function().str();
    if (function->empty()) return BodyOf("");
    auto it = in_union_.find(*function);
    if (it == in_union_.end()) return nullptr;
    *function = it->second;
    return BodyOf(it->second);
  }

  void PutBack(const NodeEntry& of_a) {
    std::string function;
    Graph* body = BodyForRemoved(of_a, &function);
    if (!body) return;
    std::string name = body->UniqueName(of_a.node.name());
    NodeId id = body->AddNode(name, of_a.node.op(), of_a.node.device());
    for (const auto& [key, value] : of_a.node.Attrs())
      body->SetAttr(id, key, out_.module->Keep(value.bytes()));
    out_.of_a[Key(of_a.node)] = body->node(id);
    out_.status[{body, id}] = NodeStatus::kRemoved;
    if (name != of_a.node.name()) out_.names_in_a[{body, id}] = of_a.node.name().str();
  }

  void Connect(const NodeEntry& of_a) {
    std::string function;
    Graph* body = BodyForRemoved(of_a, &function);
    auto self = out_.of_a.find(Key(of_a.node));
    if (!body || self == out_.of_a.end()) return;
    NodeId id = self->second.id();
    for (Port port : of_a.node.inputs()) {
      if (port.node == kNoNode) continue;
      auto source = out_.of_a.find({&of_a.node.graph(), port.node});
      if (source == out_.of_a.end()) continue;
      if (port.IsControl()) {
        body->AddControl(id, source->second.id());
      } else {
        body->AddInput(id, {source->second.id(), port.index});
      }
    }
  }

  const Diff& diff_;
  UnionGraph& out_;
  std::map<std::string, std::string> in_union_;  // by function of A: its name in the union
};

}  // namespace

NodeStatus UnionGraph::StatusOf(const Node& node) const {
  auto found = status.find({&node.graph(), node.id()});
  return found == status.end() ? NodeStatus::kSame : found->second;
}

UnionGraph MakeUnion(const Module& b, const Diff& diff, llvm::ArrayRef<Node> other_values) {
  UnionGraph out;
  out.module = b.Copy();
  UnionMaker maker(diff, &out);
  maker.Run();
  for (const Node& node : other_values) maker.MarkValue(b, node);
  return out;
}

}  // namespace grapnel
