// Moves elementwise ops that are applied to all inputs of a concatenation, or to all outputs of a
// split, so that they run once, on the whole.
//
//   Before:  Concat(Exp(Sin(x)), Exp(Sin(y))) -> z     After:  Exp(Sin(Concat(x, y))) -> z
//   Before:  Split(x) -> Exp -> a, Exp -> b            After:  Split(Exp(x)) -> a, b
//
// After a concatenation the nodes of the first chain are reused; before a split new ones are made,
// "ArithmeticOptimizer/_<op's node>_<split>".
//
// Refuses: a concatenation or split that is fetched, fed or kept; ops that are fetched, fed or
// kept, have another reader, or are on another device; Relu after BiasAdd or batch norm, which the
// remapper fuses; a concatenation that reads a tensor twice; a split that other nodes wait for, or
// that has more reads than outputs.
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

// One op in a chain, and the input of the concatenation (or output of the split) that the chain is
// on.
struct Link {
  int port;
  Node node;
  bool operator==(const Link& other) const { return port == other.port && node == other.node; }
};

class Hoist {
 public:
  Hoist(Arithmetic& rule, const Node& root)
      : rule_(rule), root_(root), is_concat_(root.op().starts_with("Concat")) {}

  Verdict Run() {
    std::vector<Link> next = FirstLinks(), links;
    if (next.size() < 2) return rule_.NotMine();
    bool more = true;
    while (more && !next.empty() && CanHoist(next)) {
      links = next;
      more = Advance(links, &next);
    }
    if (links.empty()) return rule_.NotMine();
    rule_.Enqueue(root_);
    rule_.hoisted_chains.insert(root_.id());
    if (is_concat_) {
      OutOfConcat(links);
    } else {
      BeforeSplit(links);
    }
    return rule_.Changed();
  }

 private:
  // Sorts by port and name, without duplicates: the order decides which chain is kept, and so the
  // names.
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
        Node reader = rule_.graph.node(use.node);
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
    if (rule_.kinds.Is(first, kFrameOp) || !rule_.IsUnaryElementwise(first)) return false;
    for (const Link& link : links) {
      const Node& node = link.node;
      if (node.num_inputs() == 0) return false;
      if (node.op_id() != first.op_id()) {
        rule_.NotMine("'{0}' is a {1}, and '{2}' a {3}\napply the same op on all sides",
                      node.name(), node.op(), first.name(), first.op());
        return false;
      }
      if (node.device_id() != root_.device_id() || rule_.IsPreserved(node) ||
          rule_.NumReaders(node) > 1) {
        return rule_.Fails(
            "'{0}' is fetched, fed, kept, read elsewhere or on another device\nundo this: {1}",
            node.name(),
            rule_.ObstaclesAt({node, root_}, Obstacles::kStays | Obstacles::kReaders |
                                                 Obstacles::kControls | Obstacles::kDevice));
      }
      if (IsFusableRelu(node, node.input_node(0))) {
        return rule_.Fails("the remapper can fuse '{0}' with '{1}'", node.name(),
                           node.input_node(0).name());
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
        Node reader = rule_.graph.node(use.node);
        if (reader.num_inputs() == 0 || reader.input(0).node != link.node.id()) return false;
        next->push_back({link.port, reader});
      }
    }
    Order(next);
    return true;
  }

  // All nodes that the ops of the chains wait for, from the concatenation or split to the link of
  // each chain in `links`.
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
    Editor& edit = rule_.edit;
    for (const Node& control : Controls(links)) edit.AddControl(root_, control);
    int first = root_.op() == "Concat" ? 1 : 0;
    for (const Link& link : links) {
      Port old = root_.input(link.port), hoisted = link.node.input(0);
      edit.SetInput(root_, link.port, hoisted);
      if (link.port != first) continue;
      rule_.UpdateReaders({root_.id(), 0}, old);
      edit.SetInput(link.node, 0, {root_.id(), 0});
    }
  }

  void BeforeSplit(const std::vector<Link>& links) {
    Editor& edit = rule_.edit;
    std::vector<Node> controls = Controls(links);
    int slot = root_.op() == "SplitV" ? 0 : 1;
    Port input = root_.input(slot), at;
    // The nodes of the first chain, from its end back to the split.
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
      rule_.UpdateReaders({link.node.id(), 0}, {root_.id(), link.port});
  }

  Arithmetic& rule_;
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

Verdict HoistUnaryChains(Arithmetic& rule, const Node& node) {
  if (rule.IsPreserved(node))
    return rule.NotMine(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  if (node.op().starts_with("Concat")) {
    if (node.GetInt("N") < 2) return rule.NotMine();
    if (!HasDistinctInputs(node)) return rule.NotMine("'{0}' reads a tensor twice", node.name());
  } else {
    if (node.GetInt("num_split") < 2 || node.NumDataUses() > node.GetInt("num_split") ||
        rule.DrivesControls(node) || rule.hoisted_chains.contains(node.id()))
      return rule.NotMine();
  }
  return Hoist(rule, node).Run();
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "simplify_aggregation",
     .name = "hoist_unary_chains",
     .ops = {"Concat", "ConcatV2", "Split", "SplitV"},
     .help = "the same elementwise op on all inputs of Concat, or outputs of Split, runs once",
     .refuses = "nodes that are fetched, fed or kept; ops with another reader, or on another "
                "device; Relu that the remapper fuses; a concatenation that reads a tensor twice; "
                "a split that other nodes wait for, or that has more reads than outputs",
     .apply = HoistUnaryChains});

}  // namespace
}  // namespace grapnel::arithmetic
