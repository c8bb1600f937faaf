// Merges nodes that compute the same value.
//
//   Before:  a = Exp(x); b = Exp(x); y = Mul(b, a)      After:  a = Exp(x); y = Mul(a, a)
//
// The first in topological order stays. Inputs of commutative ops are sorted by name, as in
// Grappler.
//
// Refuses: nodes that are fetched, fed or kept; ops with state or effects other than Print and
// Assert; Enter and Exit; in-place ops and the nodes that they depend on. Nodes with different
// devices, attributes or control inputs are not equal at all.
#include <utility>

#include "lib/ir/import.h"
#include "lib/pass/bypass.h"
#include "lib/pass/node_order.h"
#include "lib/pass/op_kinds.h"
#include "lib/pass/pass.h"
#include "lib/support/hash.h"
#include "lib/support/memory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace grapnel {
namespace {

// Hashes a few elements: constants of one shape mostly differ in these, and constants with equal
// hashes are compared in full.
uint64_t HashSample(const Literal& literal) {
  uint64_t hash = MixHash(literal.dims().size(), literal.dtype());
  for (int64_t dim : literal.dims()) hash = MixHash(hash, dim);
  int64_t count = literal.num_elements();
  if (count == 0) return hash;
  size_t size = DataTypeSize(literal.dtype());
  for (int64_t i : {int64_t{0}, count / 4, count / 2, count / 4 * 3, count - 1}) {
    int64_t at = literal.is_splat() ? 0 : i;
    llvm::StringRef element = literal.dtype() == proto::DT_STRING
                                  ? llvm::StringRef(literal.strings()[at])
                                  : literal.bytes().substr(at * size, size);
    hash = MixHash(hash, HashBytes(element));
  }
  return hash;
}

// A compact hash table of nodes: in a large graph each look-up is a cache miss.
class NodesByHash {
 public:
  // Empties the table; reserves enough space for all nodes of the graph.
  void Reset(const Graph& graph) {
    size_t count = llvm::PowerOf2Ceil(2 * graph.num_nodes() + 2);
    slots_.reserve(count);
    UseHugePages(slots_.data(), count * sizeof(NodeId));
    slots_.assign(count, kNoNode);
    hash_of_.resize(graph.end_id());
  }

  // Loads the slot for the hash into the cache, for a look-up that follows soon.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

  // Iterates over the nodes with the hash, in the order of their insertion.
  class Probe {
   public:
    Probe(NodesByHash& nodes, uint64_t hash)
        : nodes_(nodes), hash_(static_cast<uint32_t>(hash >> 32)), slot_(hash & Mask()) {}
    NodeId Next() {  // kNoNode: no more
      for (;; slot_ = (slot_ + 1) & Mask()) {
        NodeId id = nodes_.slots_[slot_];
        if (id == kNoNode) return id;
        if (nodes_.hash_of_[id] != hash_) continue;
        slot_ = (slot_ + 1) & Mask();
        return id;
      }
    }
    // Adds the node under the hash. Call this after Next() returned kNoNode.
    void Add(NodeId id) {
      nodes_.slots_[slot_] = id;
      nodes_.hash_of_[id] = hash_;
    }

   private:
    uint64_t Mask() const { return nodes_.slots_.size() - 1; }

    NodesByHash& nodes_;
    uint32_t hash_;
    uint64_t slot_;
  };

 private:
  std::vector<NodeId> slots_;      // a power of two, at most half full
  std::vector<uint32_t> hash_of_;  // by node: the upper half of its hash
};

class CommonSubgraphElimination : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    OpKinds kinds(edit.module());
    edit_ = &edit;
    kinds_ = &kinds;
    Bypasser bypasser(edit);
    bypasser_ = &bypasser;
    MarkFeedersOfInPlaceOps();
    // One sweep over the nodes is enough unless the graph has loops, which pass values back to
    // earlier nodes.
    std::vector<NodeId> order = edit.NodesInOrder();
    bool merged = true;
    while (merged) {
      merged = false;
      seen_.Reset(edit.graph());
      for (size_t i = 0; i < order.size(); ++i) {
        Foreseen& place = foreseen_[i % kAhead];
        Foreseen foreseen = std::exchange(place, Foreseen());
        if (i + kAhead < order.size()) Foresee(order[i + kAhead], &place);
        if (!edit.graph().IsAlive(order[i])) continue;
        if (!Visit(edit.graph().node(order[i]), foreseen, &merged)) return Error::success();
      }
      if (!has_loops_) break;
    }
    EraseDeadNodes(edit.graph(), &order);
    edit.SetOrder(order);
    return Error::success();
  }

 private:
  // The hash of a node that will be visited soon, computed early so that its slot is in the cache
  // by then.
  struct Foreseen {
    NodeId node = kNoNode;
    uint64_t version = 0, hash = 0;  // of the node
  };
  void Foresee(NodeId id, Foreseen* foreseen) {
    if (!edit_->graph().IsAlive(id)) return;
    *foreseen = {id, edit_->graph().VersionOf(id), HashOf(edit_->graph().node(id))};
    seen_.Prefetch(foreseen->hash);
  }

  // Sorts the node's inputs if its op is commutative, and merges the node with an equal earlier
  // one. False if --limit is used up.
  bool Visit(const Node& node, const Foreseen& foreseen, bool* merged) {
    has_loops_ |= kinds_->Is(node, kNextIterationOp);
    if (!SortInputs(node)) return false;
    if (!edit_->Runs("merge")) return true;
    bool is_mine = CanMerge(node);
    bool is_as_foreseen =
        foreseen.node == node.id() && foreseen.version == edit_->graph().VersionOf(node.id());
    NodesByHash::Probe probe(seen_, is_as_foreseen ? foreseen.hash : HashOf(node));
    for (NodeId id; (id = probe.Next()) != kNoNode;) {
      Node first = edit_->graph().node(id);
      if (!IsSame(first, node)) continue;
      if (!is_mine || !CanMerge(first)) {
        ReportWhyNot(first, node);
        continue;
      }
      if (!edit_->Begin("merge", node)) return false;
      edit_->Used(first);
      bypasser_->Replace(node, first);
      if (edit_->boundary().has_fetches()) edit_->RemoveNode(node);
      edit_->End();
      *merged = true;
      return true;
    }
    probe.Add(node.id());
    return true;
  }

  bool SortInputs(const Node& node) {
    if (node.num_inputs() < 2 || !kinds_->Is(node, kCommutativeOp)) return true;
    if (!edit_->Runs("sort_commutative_inputs")) return true;
    if (node.op() == "Add" && node.GetType("T") == proto::DT_STRING) return true;
    llvm::SmallVector<Port, 4> inputs = node.inputs();
    llvm::MutableArrayRef<Port> data(inputs.data(), node.num_inputs());
    auto before = [&](Port a, Port b) {
      if (a.node != b.node && a.index == 0 && b.index == 0) {
        return edit_->graph().node(a.node).name() < edit_->graph().node(b.node).name();
      }
      return a != b && PortText(edit_->graph(), a) < PortText(edit_->graph(), b);
    };
    if (std::is_sorted(data.begin(), data.end(), before)) return true;
    if (!edit_->Begin("sort_commutative_inputs", node)) return false;
    if (data.size() == 2)
      std::swap(data[0], data[1]);
    else
      std::stable_sort(data.begin(), data.end(), before);
    edit_->SetInputs(node, inputs);
    edit_->End();
    return true;
  }

  bool CanMerge(const Node& node) const {
    if (edit_->IsPreserved(node) || kinds_->Is(node, kEnterOrExitOp) ||
        feeds_in_place_.contains(node.id()))
      return false;
    // Print and Assert are marked stateful so that they are not dropped; of two equal ones, one is
    // enough.
    if (kinds_->Is(node, kAssertOrPrintOp)) return true;
    return kinds_->Is(node, kPureOp);
  }

  void ReportWhyNot(const Node& first, const Node& node) {
    const Node& culprit = CanMerge(node) ? first : node;
    const Node& other = CanMerge(node) ? node : first;
    // Nodes without inputs that keep state are distinct by intention: variables, placeholders,
    // queues.
    bool is_source = node.num_inputs() == 0 && !kinds_->Is(node, kPureOp);
    if (is_source) return;
    const char* why = edit_->IsPreserved(culprit)
                          ? "'{0}' computes the same as '{1}', but is fetched, fed or kept\n"
                            "use another node for that, such as an Identity of it"
                          : "'{0}' computes the same as '{1}', but may have state or an effect, "
                            "feeds or is an in-place op, or is an Enter or Exit";
    edit_->Refuse("merge", node, why, culprit.name(), other.name());
  }

  // Marks in-place ops and the nodes that they depend on: two in-place accumulations must not share
  // their initial buffer.
  void MarkFeedersOfInPlaceOps() {
    std::vector<NodeId> open;
    for (Node node : edit_->graph().nodes()) {
      if (kinds_->Is(node, kInPlaceOp)) open.push_back(node.id());
    }
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      if (!feeds_in_place_.insert(id).second) continue;
      for (Port port : edit_->graph().node(id).inputs()) open.push_back(port.node);
    }
  }

  llvm::SmallVector<Port, 4> SortedControls(const Node& node) const {
    llvm::SmallVector<Port, 4> inputs = node.inputs();
    std::sort(inputs.begin() + node.num_inputs(), inputs.end());
    return inputs;
  }

  uint64_t HashOf(const Node& node) {
    uint64_t hash = MixHash(uint64_t{node.op_id()} << 32 | node.device_id(), node.num_inputs());
    auto of_port = [](Port port) {
      return uint64_t{port.node} << 32 | static_cast<uint32_t>(port.index);
    };
    int slots = node.num_inputs();
    for (int i = 0; i < slots; ++i) hash = MixHash(hash, of_port(node.input(i)));
    uint64_t unordered = 0;  // input hashes whose order does not matter
    for (int i = 0; i < node.num_controls(); ++i)
      unordered += MixHash(hash, of_port(node.input(slots + i)));
    const Literal* literal = edit_->ConstantOf(node);
    if (literal) return MixHash(MixHash(hash, unordered), HashSample(*literal));
    node.ForEachAttr([&](llvm::StringRef key, AttrView value) {
      unordered += MixHash(HashBytes(key), HashBytes(value.bytes()));
    });
    return MixHash(hash, unordered);
  }

  bool IsSame(const Node& a, const Node& b) {
    if (a.op_id() != b.op_id() || a.device_id() != b.device_id()) return false;
    if (SortedControls(a) != SortedControls(b)) return false;
    const Literal* value_of_a = edit_->ConstantOf(a);
    const Literal* value_of_b = edit_->ConstantOf(b);
    if (!value_of_a != !value_of_b) return false;
    auto attrs_of_a = a.Attrs(), attrs_of_b = b.Attrs();
    if (attrs_of_a.size() != attrs_of_b.size()) return false;
    for (size_t i = 0; i < attrs_of_a.size(); ++i) {
      if (attrs_of_a[i].first != attrs_of_b[i].first) return false;
      if (value_of_a && attrs_of_a[i].first == "value") continue;
      if (attrs_of_a[i].second.bytes() != attrs_of_b[i].second.bytes()) return false;
    }
    return !value_of_a || value_of_a->SameValue(*value_of_b);
  }

  Editor* edit_ = nullptr;
  OpKinds* kinds_ = nullptr;
  Bypasser* bypasser_ = nullptr;
  bool has_loops_ = false;
  llvm::DenseSet<NodeId> feeds_in_place_;
  NodesByHash seen_;
  static constexpr size_t kAhead = 16;
  Foreseen foreseen_[kAhead];  // the next nodes, by position in the order
};

GRAPNEL_PASS(CommonSubgraphElimination,
             (PassInfo{
                 .name = "common_subgraph_elimination",
                 .config_name = "common_subgraph_elimination",
                 .order = 5,
                 .default_on = true,
                 .toggle = "common_subgraph_elimination,arithmetic_optimization",
                 .help = "merges nodes that compute the same value",
                 .refuses = "nodes that are fetched, fed or kept; state and effects other than "
                            "Print and Assert; in-place ops and what they depend on; Enter, Exit"}),
             {"merge", "removes a node that computes the same as an earlier one"},
             {"sort_commutative_inputs", "sorts the inputs of a commutative op by name"});

}  // namespace
}  // namespace grapnel
