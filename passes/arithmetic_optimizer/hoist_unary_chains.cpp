// Elementwise ops that all inputs of a concatenation, or all outputs of a split, go through run
// once, on the whole.
//
//   Before:  Concat(Exp(Sin(x)), Exp(Sin(y))) -> z     After:  Exp(Sin(Concat(x, y))) -> z
//   Before:  Split(x) -> Exp -> a, Exp -> b            After:  Split(Exp(x)) -> a, b
//
// After a concatenation the nodes of the first chain are used; before a split new ones are made,
// "ArithmeticOptimizer/_<op's node>_<split>".
//
// Refuses: ops that are fetched, fed or kept, have another reader, or stand on another device; Relu
// after BiasAdd or batch norm, of which the remapper makes one op; a concatenation that reads a
// tensor twice; a split that something waits for.
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kRule[] = "hoist_unary_chains";

// One link of a chain: the port of the root that the chain hangs on, and the node.
struct Link {
  int port;
  Node node;
  bool operator==(const Link& other) const { return port == other.port && node == other.node; }
};

class Hoist {
 public:
  Hoist(Arithmetic& arithmetic, const Node& root)
      : arithmetic_(arithmetic), root_(root), is_concat_(root.op().starts_with("Concat")) {}

  Simplified Run() {
    std::vector<Link> next = FirstLinks(), links;
    if (next.size() < 2) return std::nullopt;
    bool more = true;
    while (more && !next.empty() && CanHoist(next)) {
      links = next;
      more = Advance(links, &next);
    }
    if (links.empty() || !arithmetic_.Begin(kRule, root_)) return std::nullopt;
    arithmetic_.Enqueue(root_);
    arithmetic_.hoisted_chains.insert(root_.id());
    if (is_concat_) {
      OutOfConcat(links);
    } else {
      BeforeSplit(links);
    }
    return std::nullopt;
  }

 private:
  // In order of ports and names, each once: which chain is kept, and so the names, follows from it.
  static void Order(std::vector<Link>* links) {
    llvm::sort(*links, [](const Link& a, const Link& b) {
      return std::pair(a.port, a.node.name()) < std::pair(b.port, b.node.name());
    });
    links->erase(std::unique(links->begin(), links->end()), links->end());
  }

  std::vector<Link> FirstLinks() {
    std::vector<Link> links;
    if (is_concat_) {
      int start = root_.op() == "Concat" ? 1 : 0;
      for (int i = start; i < start + root_.GetInt("N"); ++i)
        links.push_back({i, root_.input_node(i)});
    } else {
      for (const Use& use : root_.uses()) {
        Node reader = arithmetic_.graph.node(use.node);
        if (reader.num_inputs() == 0) continue;
        Port port = reader.input(0);
        if (port.node != root_.id()) return {};
        links.push_back({port.index, reader});
      }
    }
    Order(&links);
    return links;
  }

  bool CanHoist(const std::vector<Link>& links) {
    Node first = links[0].node;
    if (arithmetic_.kinds.Is(first, kFrameOp) || !arithmetic_.IsUnaryElementwise(first))
      return false;
    for (const Link& link : links) {
      const Node& node = link.node;
      if (node.op_id() != first.op_id() || node.num_inputs() == 0) return false;
      if (node.device_id() != root_.device_id() || arithmetic_.edit.IsPreserved(node) ||
          arithmetic_.NumReaders(node) > 1) {
        arithmetic_.edit.Refuse(kRule, root_,
                                "'{0}' is fetched, fed, kept, read elsewhere or on another device",
                                node.name());
        return false;
      }
      if (IsFusableRelu(node, node.input_node(0))) {
        arithmetic_.edit.Refuse(kRule, root_, "'{0}' can be fused with '{1}'", node.name(),
                                node.input_node(0).name());
        return false;
      }
    }
    return true;
  }

  bool Advance(const std::vector<Link>& links, std::vector<Link>* next) {
    next->clear();
    for (const Link& link : links) {
      if (is_concat_) {
        next->push_back({link.port, link.node.input_node(0)});
        continue;
      }
      for (const Use& use : link.node.uses()) {
        Node reader = arithmetic_.graph.node(use.node);
        if (reader.num_inputs() == 0 || reader.input(0).node != link.node.id()) return false;
        next->push_back({link.port, reader});
      }
    }
    Order(next);
    return true;
  }

  // Nodes that those of the chains wait for, from the root's end of each chain to its link.
  std::vector<Node> Controls(const std::vector<Link>& links) {
    std::map<std::string, Node> controls;
    auto add = [&](const Node& node) {
      for (int i = 0; i < node.num_controls(); ++i)
        controls[node.control(i).name().str()] = node.control(i);
    };
    for (const Link& link : links) {
      if (is_concat_) {
        for (Node node = root_.input_node(link.port); node != link.node; node = node.input_node(0))
          add(node);
        add(link.node);
      } else {
        for (Node node = link.node; node != root_; node = node.input_node(0)) add(node);
      }
    }
    std::vector<Node> sorted;
    sorted.reserve(controls.size());
    for (const auto& [name, node] : controls) sorted.push_back(node);
    return sorted;
  }

  void OutOfConcat(const std::vector<Link>& links) {
    Editor& edit = arithmetic_.edit;
    for (const Node& control : Controls(links)) edit.AddControl(root_, control);
    int first = root_.op() == "Concat" ? 1 : 0;
    for (const Link& link : links) {
      Port old = root_.input(link.port), hoisted = link.node.input(0);
      edit.SetInput(root_, link.port, hoisted);
      if (link.port != first) continue;
      arithmetic_.UpdateReaders({root_.id(), 0}, old);
      edit.SetInput(link.node, 0, {root_.id(), 0});
    }
  }

  void BeforeSplit(const std::vector<Link>& links) {
    Editor& edit = arithmetic_.edit;
    std::vector<Node> controls = Controls(links);
    int slot = root_.op() == "SplitV" ? 0 : 1;
    Port input = root_.input(slot), at;
    // From the end of the first chain to its start.
    std::vector<Node> chain;
    for (Node node = links[0].node; node != root_; node = node.input_node(0)) chain.push_back(node);
    at = input;
    for (const Node& node : llvm::reverse(chain)) {
      Node copy =
          edit.AddNode(Arithmetic::NameFor(root_, "", node.name()), node.op(), node.device());
      edit.CopyAttrs(copy, node);
      edit.AddInput(copy, at);
      if (at == input) {
        for (const Node& control : controls) edit.AddControl(copy, control);
      }
      at = {copy.id(), 0};
    }
    edit.SetInput(root_, slot, at);
    for (const Link& link : links)
      arithmetic_.UpdateReaders({link.node.id(), 0}, {root_.id(), link.port});
  }

  Arithmetic& arithmetic_;
  const Node root_;
  const bool is_concat_;
};

bool HasDistinctInputs(const Node& concat) {
  int start = concat.op() == "Concat" ? 1 : 0;
  int64_t count = concat.GetInt("N");
  if (start + count > concat.num_inputs()) return false;
  llvm::SmallDenseSet<std::pair<NodeId, int>, 8> ports;
  for (int i = start; i < start + count; ++i)
    ports.insert({concat.input(i).node, concat.input(i).index});
  return static_cast<int64_t>(ports.size()) == count;
}

}  // namespace

Simplified HoistUnaryChains(Arithmetic& arithmetic, const Node& node) {
  if (arithmetic.edit.IsPreserved(node)) return std::nullopt;
  if (node.op().starts_with("Concat")) {
    if (node.GetInt("N") < 2 || !HasDistinctInputs(node)) return std::nullopt;
  } else {
    if (node.GetInt("num_split") < 2 || node.NumDataUses() > node.GetInt("num_split") ||
        arithmetic.DrivesControls(node) || arithmetic.hoisted_chains.contains(node.id()))
      return std::nullopt;
  }
  return Hoist(arithmetic, node).Run();
}

}  // namespace grapnel::arithmetic
