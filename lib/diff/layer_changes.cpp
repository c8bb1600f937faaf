#include "lib/diff/layer_changes.h"

#include <algorithm>
#include <array>
#include <set>

#include "lib/diff/body_view.h"
#include "lib/diff/fates.h"
#include "lib/diff/measures.h"
#include "lib/ir/device_name.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/support/name_list.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

constexpr size_t kMostParts = 3, kMostDetails = 2, kMostOps = 4;

// True for ops that compute nothing.
bool IsPlumbing(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Identity", "IdentityN", "NoOp", "_Arg", "_Retval", "ReadVariableOp", true)
      .Cases("StopGradient", "PreventGradient", "Snapshot", "EnsureShape", true)
      .Default(false);
}

// True for ops whose results say how others compute, or how long their results are.
bool HandlesShapes(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Shape", "StridedSlice", "Slice", "Pack", "Unpack", "Range", "Rank", "Size", true)
      .Cases("ExpandDims", "Squeeze", "Fill", "Cast", "Max", "Prod", "ConcatV2", "Reshape", true)
      .Default(false);
}

// True for the nodes that hold what others compute with.
bool Holds(const Node& node) { return node.op() == "Const" || IsVariable(node); }

bool IsPlaceholder(const Node& node) { return node.op().starts_with("Placeholder"); }

// True for an attribute of a call that follows from the function that it calls.
bool FollowsFromCallee(const Node& node, llvm::StringRef key) {
  bool calls = MayCallFunctions(node) && !CalledFunctions(node).empty();
  return calls && llvm::StringSwitch<bool>(key)
                      .Cases("T", "Tin", "Tout", "Tcond", "output_shapes", true)
                      .Cases("f", "body", "cond", "then_branch", "else_branch", "branches", true)
                      .Default(false);
}

std::string Leaf(llvm::StringRef name) {
  llvm::StringRef leaf = name.rsplit('/').second;
  return (leaf.empty() ? name : leaf).str();
}

// Returns "float[8,16]": what a variable or constant holds; empty if it does not say.
std::string HeldType(const Node& node) {
  std::string dtype = DataTypeName(node.GetType("dtype")).str();
  if (IsVariable(node)) {
    auto shape = node.Attr("shape");
    return dtype + (shape ? shape->AsShape().value_or(Shape()) : Shape()).ToString();
  }
  auto literal = Literal::FromConst(node);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return "";
  }
  return dtype + Shape(literal->dims()).ToString();
}

// The attributes that say in which dtype a node computes. LayerChangesOf compares them itself, so
// that a diff may ignore them and pair nodes of different dtypes.
constexpr const char* kDtypeAttributes[] = {"T", "dtype", "U", "Tparams"};

using NodeKey = std::pair<const Graph*, NodeId>;
NodeKey NodeKeyOf(const Node& node) { return {&node.graph(), node.id()}; }

constexpr size_t kNumOutcomes = NodeOutcome::kReplaced + 1;

// The changes of one layer in a diff.
struct Draft {
  std::vector<std::string> sizes, ops, attributes, edges;  // details, by how much they tell
  std::vector<std::string> gone, fresh;                    // ops of unmatched nodes
  std::vector<std::string> fused;
  std::array<size_t, kNumOutcomes> outcomes{};  // how many nodes were removed, by how
  bool folds_constants_only = true;
  std::set<std::string> dtypes;
  double position = 2;
  bool IsEmpty() const {
    return sizes.empty() && ops.empty() && attributes.empty() && edges.empty() && gone.empty() &&
           fresh.empty() && dtypes.empty() && fused.empty() &&
           llvm::all_of(outcomes, [](size_t count) { return count == 0; });
  }
};

void AddOnce(std::string text, std::vector<std::string>* texts) {
  if (!llvm::is_contained(*texts, text)) texts->push_back(std::move(text));
}

// Returns "Mul + 2 AddV2".
std::string OpsText(llvm::ArrayRef<std::string> ops) {
  std::vector<std::pair<std::string, size_t>> counts;  // in the order of the graph
  for (const std::string& op : ops) {
    auto same = llvm::find_if(counts, [&](const auto& one) { return one.first == op; });
    if (same == counts.end()) {
      counts.emplace_back(op, 1);
    } else {
      ++same->second;
    }
  }
  // Ops that compute say more than those that handle shapes, if there are many.
  if (counts.size() > kMostOps) {
    std::stable_partition(counts.begin(), counts.end(),
                          [](const auto& one) { return !HandlesShapes(one.first); });
  }
  std::string text;
  for (const auto& [op, count] : llvm::ArrayRef(counts).take_front(kMostOps))
    text += (text.empty() ? "" : " + ") + (count > 1 ? std::to_string(count) + " " : "") + op;
  if (counts.size() > kMostOps) text += " + ...";
  return text;
}

// Numbers the paths of layers.
class LayerNumbers {
 public:
  int Of(llvm::StringRef layer) {
    auto [it, is_new] = numbers_.try_emplace(layer, static_cast<int>(paths_.size()));
    if (is_new) paths_.push_back(it->first());
    return it->second;
  }
  llvm::StringRef PathOf(int layer) const { return paths_[layer]; }

 private:
  llvm::StringMap<int> numbers_;
  std::vector<llvm::StringRef> paths_;
};

// The places of a graph's nodes in the order of computation, from 0 to 1.
class OrderedPlaces {
 public:
  explicit OrderedPlaces(const Graph& graph) : graph_(&graph), of_(graph.end_id(), 1) {
    double size = std::max<double>(1, static_cast<double>(graph.num_nodes())), place = 0;
    for (NodeId id : TopologicalOrder(graph)) of_[id] = place++ / size;
  }
  // 1 for a node of a function.
  double Of(const Node& node) const { return &node.graph() == graph_ ? of_[node.id()] : 1; }

 private:
  const Graph* graph_;
  std::vector<double> of_;
};

class Collector {
 public:
  explicit Collector(const DiffOfLayers& graphs)
      : diff_(graphs.diff),
        names_a_(graphs.layers_before),
        names_b_(graphs.layers_now),
        order_a_(graphs.before.main),
        order_b_(graphs.now.main),
        has_interface_(graphs.of_signatures),
        of_stages_(graphs.of_stages) {
    for (size_t i = 0; i < diff_.fates.size(); ++i)
      fates_[NodeKeyOf(diff_.removed[i].node)] = diff_.fates[i].kind;
    for (const auto* entries : {&diff_.removed, &diff_.added})
      for (const NodeEntry& entry : *entries) lone_.insert(NodeKeyOf(entry.node));
    for (const GroupEntry& group : diff_.groups) {
      for (const auto* entries : {&group.a, &group.b})
        for (const NodeEntry& entry : *entries) lone_.insert(NodeKeyOf(entry.node));
    }
    PairLayers();
  }

  LayerChanges Run() {
    for (const GroupEntry& group : diff_.groups) AddGroup(group);
    for (const MatchedPair& pair : diff_.matched) AddPair(pair);
    for (const Node& node : InOrder(diff_.removed, order_a_)) AddRemoved(node);
    for (const Node& node : InOrder(diff_.added, order_b_)) AddAdded(node);
    return {Finish(), Renamed()};
  }

 private:
  using Drafts = llvm::DenseMap<int, Draft>;  // by layer

  std::vector<std::pair<std::string, std::string>> Renamed() const {
    std::vector<std::pair<std::string, std::string>> renamed;
    for (const auto& [a, b] : in_b_) {
      llvm::StringRef before = layers_.PathOf(a), now = layers_.PathOf(b);
      if (before != now && NameClass(before) != NameClass(now))
        renamed.emplace_back(before.str(), now.str());
    }
    llvm::sort(renamed);
    return renamed;
  }

  static std::vector<Node> InOrder(llvm::ArrayRef<NodeEntry> entries, const OrderedPlaces& order) {
    std::vector<Node> nodes;
    for (const NodeEntry& entry : entries) nodes.push_back(entry.node);
    llvm::stable_sort(nodes,
                      [&](const Node& x, const Node& y) { return order.Of(x) < order.Of(y); });
    return nodes;
  }

  int LayerOfA(const Node& node) { return layers_.Of(names_a_.Of(node)); }
  int LayerOfB(const Node& node) { return layers_.Of(names_b_.Of(node)); }

  // Finds the layer of B that has most of the nodes of a layer of A.
  void PairLayers() {
    llvm::DenseMap<std::pair<int, int>, size_t> votes;
    // Stages of one run have the same layers.
    bool has_same_names = &names_a_ == &names_b_ && !names_a_.empty();
    auto vote = [&](const NodeEntry& a, const NodeEntry& b) {
      if (Holds(a.node) != Holds(b.node) || IsPlaceholder(b.node)) return;
      int of_a = LayerOfA(a.node);
      bool is_same = has_same_names && a.name == b.name && a.function() == b.function() &&
                     !IsVariable(a.node) && !IsVariable(b.node);
      int of_b = is_same ? of_a : LayerOfB(b.node);
      if (layers_.PathOf(of_a).empty() || layers_.PathOf(of_b).empty()) return;
      ++votes[{of_a, of_b}];
      kept_b_.insert(of_b);
    };
    for (const MatchedPair& pair : diff_.matched) vote(pair.a, pair.b);
    for (const GroupEntry& group : diff_.groups)
      for (const NodeEntry& a : group.a) vote(a, group.b.front());
    for (const auto& [pair, count] : votes) {
      auto [most, is_new] = in_b_.try_emplace(pair.first, pair.second);
      if (is_new) continue;
      size_t before = votes.lookup({pair.first, most->second});
      bool is_earlier = layers_.PathOf(pair.second) < layers_.PathOf(most->second);
      if (count > before || (count == before && is_earlier)) most->second = pair.second;
    }
  }

  Draft& DraftAt(int layer, const Node& node, const OrderedPlaces& order) {
    Draft& draft = drafts_[layer];
    draft.position = std::min(draft.position, order.Of(node));
    return draft;
  }

  // Returns the nodes of one side of a group that compute.
  static std::vector<Node> Computing(llvm::ArrayRef<NodeEntry> entries,
                                     const OrderedPlaces& order) {
    std::vector<Node> nodes;
    for (const Node& node : InOrder(entries, order)) {
      if (!Holds(node) && !IsPlumbing(node.op()) && node.op() != "Cast") nodes.push_back(node);
    }
    return nodes;
  }

  static std::vector<std::string> OpsOf(llvm::ArrayRef<Node> nodes) {
    std::vector<std::string> ops;
    for (const Node& node : nodes) ops.push_back(node.op().str());
    return ops;
  }

  void AddGroup(const GroupEntry& group) {
    std::vector<Node> before = Computing(group.a, order_a_);
    std::vector<Node> after = Computing(group.b, order_b_);
    std::vector<std::string> ops_a = OpsOf(before), ops_b = OpsOf(after);
    if (ops_a.empty() && ops_b.empty()) return;
    const Node& at = group.b.front().node;
    Draft& draft = DraftAt(LayerOfB(at), at, order_b_);
    if (ops_a == ops_b) {
      for (auto [a, b] : llvm::zip(before, after)) CompareTypes(a, b, &draft);
    } else if (ops_a.empty() || ops_b.empty()) {
      llvm::copy(ops_a, std::back_inserter(draft.gone));
      llvm::copy(ops_b, std::back_inserter(draft.fresh));
    } else if (ops_b.size() == 1 && llvm::StringRef(ops_b[0]).starts_with("_Fused")) {
      draft.fused.push_back(OpsText(ops_a) + " fused");
    } else {
      draft.ops.push_back(OpsText(ops_a) + " -> " + OpsText(ops_b));
    }
  }

  static void CompareTypes(const Node& a, const Node& b, Draft* draft) {
    auto attrs_a = a.graph().AttrBytes(a.id()), attrs_b = b.graph().AttrBytes(b.id());
    if (attrs_a && attrs_b && *attrs_a == *attrs_b && a.op() == b.op()) return;
    for (const char* key : kDtypeAttributes) {
      DataType before = a.GetType(key), after = b.GetType(key);
      if (before != proto::DT_INVALID && after != proto::DT_INVALID && before != after)
        draft->dtypes.insert((DataTypeName(before) + " -> " + DataTypeName(after)).str());
    }
  }

  void AddPair(const MatchedPair& pair) {
    Draft draft;
    for (const Change& change : pair.changes) AddChange(pair.a.node, pair.b.node, change, &draft);
    bool is_input = has_interface_ && IsPlaceholder(pair.b.node);
    if (!is_input && !IsPlumbing(pair.b.node.op())) CompareTypes(pair.a.node, pair.b.node, &draft);
    if (draft.IsEmpty()) return;
    Draft& all = DraftAt(LayerOfB(pair.b.node), pair.b.node, order_b_);
    for (auto list : {&Draft::sizes, &Draft::ops, &Draft::attributes, &Draft::edges})
      for (std::string& text : draft.*list) AddOnce(std::move(text), &(all.*list));
    all.dtypes.insert(draft.dtypes.begin(), draft.dtypes.end());
    for (size_t kind = 0; kind < kNumOutcomes; ++kind) all.outcomes[kind] += draft.outcomes[kind];
    all.folds_constants_only &= draft.folds_constants_only;
  }

  void AddChange(const Node& a, const Node& b, const Change& change, Draft* draft) {
    const std::string& what = change.what;
    std::string from_to = change.before + " -> " + change.after;
    if (what == "control inputs" || what[0] == '_' || FollowsFromCallee(b, what)) return;
    if (what == "op" && of_stages_ && b.op() == "Const") {
      ++draft->outcomes[NodeOutcome::kFolded];
      draft->folds_constants_only = false;
      return;
    }
    if (has_interface_ && IsPlaceholder(b)) return;
    if (what == "op") {
      if (!IsPlumbing(a.op()) || !IsPlumbing(b.op())) draft->ops.push_back(from_to);
    } else if (llvm::StringRef(what).starts_with("input ")) {
      AddEdge(a, b, change, draft);
    } else if (Holds(a) && Holds(b)) {
      AddHeld(a, b, change, draft);
    } else if (ParseDataType(change.before) && ParseDataType(change.after)) {
      draft->dtypes.insert(from_to);
    } else if (what == "device") {
      draft->attributes.push_back(b.op().str() + " on " + QuotedDevice(change.after) + ", was on " +
                                  QuotedDevice(change.before));
    } else if (a.op() == b.op() || (!change.before.empty() && !change.after.empty())) {
      // An attribute that only one of two ops has follows from the op.
      auto value = [](const std::string& text) { return text.empty() ? "(none)" : text; };
      draft->attributes.push_back(what + " " + value(change.before) + " -> " + value(change.after));
    }
  }

  // Returns "kernel": the last part of a node's name, of a variable as the program names it.
  std::string NameOf(const Node& node) const {
    int variable = IsVariable(node) ? names_b_.FindVariable(node.name()) : -1;
    return Leaf(variable < 0 ? node.name()
                             : llvm::StringRef(names_b_.table().variables()[variable].name));
  }

  // A variable of another size or dtype, or a constant that says how to compute. Other values are
  // weights.
  void AddHeld(const Node& a, const Node& b, const Change& change, Draft* draft) const {
    std::string before = HeldType(a), after = HeldType(b);
    auto [dtype_a, sizes_a] = llvm::StringRef(before).split('[');
    auto [dtype_b, sizes_b] = llvm::StringRef(after).split('[');
    if (before != after && sizes_a == sizes_b) {
      draft->dtypes.insert((dtype_a + " -> " + dtype_b).str());
    } else if (before != after) {
      AddOnce(NameOf(b) + " " + before + " -> " + after, &draft->sizes);
    } else if (change.what == "value" && IsMeasure(b)) {
      draft->attributes.push_back(NameOf(b) + " " + change.before + " -> " + change.after);
    }
  }

  // Another input counts if neither a node that only one graph has nor one that forwards a value
  // explains it.
  void AddEdge(const Node& a, const Node& b, const Change& change, Draft* draft) const {
    int slot = 0;
    if (llvm::StringRef(change.what).drop_front(6).getAsInteger(10, slot)) return;
    for (const Node& reader : {a, b}) {
      if (slot >= reader.num_inputs()) return;
      Node from = reader.input_node(slot);
      if (!from || lone_.count(NodeKeyOf(from)) || IsPlumbing(from.op())) return;
    }
    draft->edges.push_back(b.op().str() + " reads '" + Printable(change.after) + "', and read '" +
                           Printable(change.before) + "'");
  }

  void AddRemoved(const Node& node) {
    int layer = LayerOfA(node);
    bool is_outside = layers_.PathOf(layer).empty();
    auto in_b = in_b_.find(layer);
    bool is_gone = !is_outside && in_b == in_b_.end();
    auto draft_now = [&]() -> Draft& {
      return DraftAt(is_outside ? layer : in_b->second, node, order_a_);
    };
    if (of_stages_) return AddOutcome(node, is_gone ? &gone_[layer] : &draft_now());
    if (!is_gone && IsPlumbing(node.op())) return;
    if (is_gone) {
      Draft& draft = gone_[layer];
      draft.position = std::min(draft.position, order_a_.Of(node));
      if (!IsPlumbing(node.op()) && !Holds(node)) draft.gone.push_back(node.op().str());
      return;
    }
    if (has_interface_ && IsPlaceholder(node)) return;
    draft_now().gone.push_back(node.op().str());
  }

  void AddOutcome(const Node& node, Draft* draft) const {
    draft->position = std::min(draft->position, order_a_.Of(node));
    NodeOutcome::Kind kind = fates_.lookup(NodeKeyOf(node));
    ++draft->outcomes[kind];
    if (kind == NodeOutcome::kFolded) draft->folds_constants_only &= node.op() == "Const";
  }

  void AddAdded(const Node& node) {
    int layer = LayerOfB(node);
    bool is_new = !layers_.PathOf(layer).empty() && !kept_b_.contains(layer);
    if (!is_new && IsPlumbing(node.op())) return;
    if (is_new) {
      Draft& draft = fresh_[layer];
      draft.position = std::min(draft.position, order_b_.Of(node));
      if (!IsPlumbing(node.op()) && !Holds(node)) draft.fresh.push_back(node.op().str());
      return;
    }
    if (has_interface_ && IsPlaceholder(node)) return;
    DraftAt(layer, node, order_b_).fresh.push_back(node.op().str());
  }

  // Removes constants and variables, unless there is nothing else in both lists.
  static void KeepTelling(std::vector<std::string>* gone, std::vector<std::string>* fresh) {
    auto holds = [](const std::string& op) {
      return op == "Const" || op == "VarHandleOp" || op == "VariableV2";
    };
    if (llvm::all_of(*gone, holds) && llvm::all_of(*fresh, holds)) return;
    llvm::erase_if(*gone, holds);
    llvm::erase_if(*fresh, holds);
  }

  // Removes inputs that only have other names.
  static void DropRenamedInputs(std::vector<std::string>* gone, std::vector<std::string>* fresh) {
    auto is_input = [](llvm::StringRef op) { return op.starts_with("Placeholder"); };
    for (auto input = llvm::find_if(*gone, is_input); input != gone->end();
         input = std::find_if(input, gone->end(), is_input)) {
      auto same = llvm::find_if(*fresh, is_input);
      if (same == fresh->end()) return;
      fresh->erase(same);
      input = gone->erase(input);
    }
  }

  // Returns "12 constants folded", "3 nodes merged".
  static std::vector<std::string> OutcomesText(const Draft& draft) {
    std::vector<std::string> texts;
    for (auto kind : {NodeOutcome::kFolded, NodeOutcome::kMerged, NodeOutcome::kBypassed,
                      NodeOutcome::kFused, NodeOutcome::kReplaced, NodeOutcome::kPruned}) {
      size_t count = draft.outcomes[kind];
      if (count == 0) continue;
      bool of_constants = kind == NodeOutcome::kFolded && draft.folds_constants_only;
      texts.push_back(Plural(count, of_constants ? "constant" : "node") + " " +
                      OutcomeWord(kind).str());
    }
    return texts;
  }

  // `casts`: some layer computes in another dtype, for which there are Casts everywhere.
  static LayerChange ChangeOf(const std::string& layer, Draft draft, bool casts) {
    LayerChange change{layer, LayerChange::kChanged, std::move(draft.sizes), "", draft.position};
    if (!draft.dtypes.empty()) change.dtypes = *draft.dtypes.begin();
    auto is_cast = [](const std::string& op) { return op == "Cast"; };
    for (auto* ops : {&draft.gone, &draft.fresh})
      if (casts) llvm::erase_if(*ops, is_cast);
    std::vector<std::string>&gone = draft.gone, &fresh = draft.fresh;
    DropRenamedInputs(&gone, &fresh);
    KeepTelling(&gone, &fresh);
    if (!gone.empty() && !fresh.empty())
      draft.ops.push_back(OpsText(gone) + " -> " + OpsText(fresh));
    else if (!gone.empty())
      draft.ops.push_back("without " + OpsText(gone));
    else if (!fresh.empty())
      draft.ops.push_back("with " + OpsText(fresh));
    std::vector<std::string> outcomes = OutcomesText(draft), fused = Counted(draft.fused);
    for (auto* list : {&fused, &draft.ops, &outcomes, &draft.attributes, &draft.edges})
      llvm::move(*list, std::back_inserter(change.details));
    return change;
  }

  // Returns each text once: "3 x Conv2D + Relu fused".
  static std::vector<std::string> Counted(llvm::ArrayRef<std::string> texts) {
    std::vector<std::pair<std::string, size_t>> counts;
    for (const std::string& text : texts) {
      auto same = llvm::find_if(counts, [&](const auto& one) { return one.first == text; });
      if (same == counts.end())
        counts.emplace_back(text, 1);
      else
        ++same->second;
    }
    std::vector<std::string> counted;
    counted.reserve(counts.size());
    for (const auto& [text, count] : counts)
      counted.push_back(count > 1 ? std::to_string(count) + " x " + text : text);
    return counted;
  }

  // Returns the drafts in the order of the layers' paths.
  std::vector<std::pair<std::string, Draft*>> InOrderOfPaths(Drafts& drafts) const {
    std::vector<std::pair<std::string, Draft*>> sorted;
    for (auto& [layer, draft] : drafts) sorted.emplace_back(layers_.PathOf(layer).str(), &draft);
    llvm::sort(sorted, llvm::less_first());
    return sorted;
  }

  std::vector<LayerChange> Finish() {
    std::vector<LayerChange> changes;
    bool casts = llvm::any_of(drafts_, [](const auto& one) { return !one.second.dtypes.empty(); });
    for (auto& [layer, draft] : InOrderOfPaths(drafts_)) {
      LayerChange change = ChangeOf(layer, std::move(*draft), casts);
      if (!change.details.empty() || !change.dtypes.empty()) changes.push_back(std::move(change));
    }
    for (auto* lone : {&gone_, &fresh_}) {
      bool is_gone = lone == &gone_;
      for (auto& [layer, draft] : InOrderOfPaths(*lone)) {
        std::vector<std::string>& ops = is_gone ? draft->gone : draft->fresh;
        LayerChange change{
            layer, is_gone ? LayerChange::kGone : LayerChange::kNew, {}, "", draft->position};
        if (!ops.empty()) change.details.push_back(OpsText(ops));
        llvm::move(OutcomesText(*draft), std::back_inserter(change.details));
        changes.push_back(std::move(change));
      }
    }
    llvm::stable_sort(changes, [](const LayerChange& x, const LayerChange& y) {
      return x.position < y.position;
    });
    return changes;
  }

  const Diff& diff_;
  const LayerNames &names_a_, &names_b_;
  const OrderedPlaces order_a_, order_b_;
  const bool has_interface_, of_stages_;
  LayerNumbers layers_;
  llvm::DenseMap<NodeKey, NodeOutcome::Kind> fates_;
  llvm::DenseSet<NodeKey> lone_;   // nodes that only one graph has, or in another form
  llvm::DenseMap<int, int> in_b_;  // by a layer of A
  llvm::DenseSet<int> kept_b_;     // the layers of B with nodes of A
  Drafts drafts_, gone_, fresh_;
};

std::string NameOf(const LayerChange& change) {
  return change.layer.empty() ? "outside of layers" : "layer '" + Printable(change.layer) + "'";
}

std::string TextOfOne(const LayerChange& change) {
  std::string details;
  for (const std::string& detail : llvm::ArrayRef(change.details).take_front(kMostDetails))
    details += (details.empty() ? "" : ", ") + Printable(detail);
  if (change.details.size() > kMostDetails)
    details += " and " + std::to_string(change.details.size() - kMostDetails) + " more";
  if (change.kind == LayerChange::kChanged) return NameOf(change) + ": " + details;
  std::string text = NameOf(change) + (change.kind == LayerChange::kGone ? " is gone" : " is new");
  return details.empty() ? text : text + " (" + details + ")";
}

}  // namespace

IgnoreRules IgnoredByLayers() {
  std::vector<std::string> rules = {"_*", "shared_name", "container", "debug_name"};
  rules.insert(rules.end(), std::begin(kDtypeAttributes), std::end(kDtypeAttributes));
  return llvm::cantFail(IgnoreRules::Parse(rules));
}

LayerChanges LayerChangesOf(const DiffOfLayers& graphs) { return Collector(graphs).Run(); }

std::string LayersText(llvm::ArrayRef<LayerChange> layers) {
  std::map<std::string, std::vector<std::string>> of_dtypes;  // by "float -> half"
  for (const LayerChange& change : layers)
    if (!change.dtypes.empty()) of_dtypes[change.dtypes].push_back(change.layer);
  std::vector<std::string> parts;
  for (auto& [dtypes, names] : of_dtypes) {
    llvm::erase_if(names, [](const std::string& name) { return name.empty(); });
    auto [before, after] = llvm::StringRef(dtypes).split(" -> ");
    std::string of = names.empty() ? "nodes outside of layers compute"
                                   : Sentence("{0} ({1}) {2}", Plural(names.size(), "layer"),
                                              NameList(names, kMostParts),
                                              names.size() == 1 ? "computes" : "compute");
    parts.push_back(Sentence("{0} in {1} instead of {2}", of, after, before));
  }
  size_t left_out = 0;
  for (const LayerChange& change : layers) {
    bool is_told = change.kind == LayerChange::kChanged && change.details.empty();
    if (is_told) continue;
    if (parts.size() < kMostParts)
      parts.push_back(TextOfOne(change));
    else
      ++left_out;
  }
  if (left_out > 0) parts.push_back("and " + Plural(left_out, "more layer"));
  return llvm::join(parts, "; ");
}

}  // namespace grapnel
