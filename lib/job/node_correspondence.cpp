#include "lib/job/node_correspondence.h"

#include <map>

#include "lib/check/pair_backwards.h"
#include "lib/diff/diff.h"
#include "lib/function/function_rewriter.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// Returns the op without the prefix "Stateless": "While" for While and StatelessWhile.
llvm::StringRef KindOf(const Node& node) {
  llvm::StringRef op = node.op();
  op.consume_front("Stateless");
  return op;
}

bool IsControlFlow(const Node& node) {
  llvm::StringRef kind = KindOf(node);
  return kind == "While" || kind == "If" || kind == "Case";
}

// Returns the node of a diff's group (N nodes that became one, or the reverse) that nodes outside
// the group read, or that has no readers; null unless there is exactly one.
Node ExitOf(llvm::ArrayRef<NodeEntry> group) {
  auto is_inside = [&](NodeId id) {
    return llvm::any_of(group, [&](const NodeEntry& e) { return e.node.id() == id; });
  };
  Node exit;
  for (const NodeEntry& entry : group) {
    llvm::ArrayRef<Use> uses = entry.node.uses();
    bool is_exit =
        uses.empty() || llvm::any_of(uses, [&](const Use& use) { return !is_inside(use.node); });
    if (!is_exit) continue;
    if (exit) return Node();
    exit = entry.node;
  }
  return exit;
}

// Counts the nodes that the main graph has after inlining all functions (a function counts once for
// each call); stops at `most`.
class OpenedSize {
 public:
  explicit OpenedSize(int64_t most) : most_(most) {}

  int64_t Of(const Graph& graph, int depth = 0) {
    if (depth > kDeepest) return most_;
    auto [size, is_new] = sizes_.try_emplace(&graph, most_);  // the bound for recursive functions
    if (!is_new) return size->second;
    int64_t sum = 0;
    for (Node node : graph.nodes()) {
      ++sum;
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        const Function* function = graph.module().FindFunction(name);
        if (function && sum < most_) sum += Of(function->body, depth + 1);
      }
    }
    return sizes_[&graph] = std::min(sum, most_);
  }

 private:
  static constexpr int kDeepest = 100;  // depth of nested calls
  const int64_t most_;
  std::map<const Graph*, int64_t> sizes_;
};

bool HasNode(const Graph& graph, llvm::function_ref<bool(const Node&)> is) {
  for (Node node : graph.nodes()) {
    if (is(node)) return true;
  }
  return false;
}

// Returns a copy in which calls are inlined and loops and branches are lowered, except those of a
// kind (While, If, Case) that `other` has too: a TensorFlow 1 graph may have Case next to Switch
// and Merge.
std::unique_ptr<Module> Lowered(const Module& module, const Graph& other) {
  auto has = [&](llvm::StringRef op) {
    return HasNode(other, [&](const Node& node) { return KindOf(node) == op; });
  };
  llvm::StringMap<bool> stays;
  for (llvm::StringRef op : {"While", "If", "Case"}) stays[op] = has(op);
  std::unique_ptr<Module> copy = module.Copy();
  for (const Body& body : Bodies(*copy)) {
    for (Node node : body.graph->nodes()) {
      if (IsControlFlow(node))
        body.graph->SetAttr(node.id(), kLower, attr::Bool(!stays[KindOf(node)]));
    }
  }
  bool has_calls = HasNode(
      other, [](const Node& node) { return MayCallFunctions(node) && !IsControlFlow(node); });
  proto::RewriterConfig config;
  Boundary boundary;
  boundary.keep_stateful = true;
  Editor edit(copy->main, nullptr, std::move(boundary), config, nullptr);
  FunctionRewriter in(edit, has_calls ? Opening::kSession : Opening::kFunction);
  OpenCalls(in);
  return copy;
}

}  // namespace

NodeCorrespondence::NodeCorrespondence(const Module& a, const Module& b,
                                       const Provenance* provenance) {
  if (&a == &b) return;
  AddByLowering(a, b, &b_);
  AddByLowering(b, a, &a_);
  AddByDiff(a, b, provenance);
}

RunPairs::Namers NodeCorrespondence::namers() const {
  auto namer = [](const Places& places) {
    return [&places](const Node& node) {
      auto place = places.find({&node.graph(), node.id()});
      return place == places.end() ? PlaceOfName(node.name()) : place->second;
    };
  };
  return {namer(a_), namer(b_)};
}

void NodeCorrespondence::AddByDiff(const Module& a, const Module& b, const Provenance* provenance) {
  DiffOptions options;
  options.provenance = provenance;
  Diff diff = DiffModules(a, b, options);
  auto add = [&](const Node& x, const Node& y) {
    if (PlaceOfName(x.name()).path == PlaceOfName(y.name()).path) return;
    if (!a_.count({&x.graph(), x.id()}))
      b_.try_emplace({&y.graph(), y.id()}, PlaceOfName(x.name()));
  };
  for (const MatchedPair& pair : diff.matched) {
    const Node &x = pair.a.node, &y = pair.b.node;
    if (x.name() != y.name() && !x.graph().Find(y.name()) && !y.graph().Find(x.name())) add(x, y);
  }
  for (const GroupEntry& group : diff.groups) {
    Node x = ExitOf(group.a), y = ExitOf(group.b);
    // A While or If does not correspond to one node of another op: an Exit may be any of a loop's
    // outputs.
    bool is_loop = x && y && (IsControlFlow(x) || IsControlFlow(y)) && x.op() != y.op();
    if (x && y && !is_loop && x.name() != y.name() && !y.graph().Find(x.name())) add(x, y);
  }
}

void NodeCorrespondence::AddByLowering(const Module& functional, const Module& other,
                                       Places* places) {
  auto is_open = [&](const Node& node) {
    return node.op() == "Merge" && !IsAddedByLowering(node.name()) &&
           !functional.main.Find(node.name());
  };
  auto is_lowered = [](const Node& node) {
    return node.op() == "Merge" && IsAddedByLowering(node.name());
  };
  bool has_calls = !functional.functions.empty() && HasNode(functional.main, MayCallFunctions);
  if (!has_calls && !HasNode(functional.main, is_lowered)) return;
  if (!HasNode(other.main, is_open)) return;
  // `other` is inlined already, so the lowered copy should be about as large as `other`; inlining a
  // whole library can give far more nodes.
  int64_t most = 4 * static_cast<int64_t>(other.main.num_nodes()) + 1000;
  if (OpenedSize(most).Of(functional.main) >= most) return;
  std::unique_ptr<Module> lowered;
  if (has_calls) lowered = Lowered(functional, other.main);
  llvm::DenseSet<NodeId> taken;  // nodes of `functional`
  for (const auto& [x, y] : PairBackwards(lowered ? lowered->main : functional.main, other.main)) {
    if (IsAddedByLowering(x.name())) continue;
    if (Node in_main = functional.main.Find(x.name())) taken.insert(in_main.id());
    (*places)[{&other.main, y.id()}] = PlaceOfName(x.name());
  }
  // Gives the remaining nodes a place that matches nothing, except for those with a namesake in the
  // main graph. In a lowered loop, "while/add_1" need not be "add_1" of the loop's body: the
  // lowered loop numbers its nodes starting in the condition, but each function numbers its own.
  for (Node node : other.main.nodes()) {
    Node namesake = functional.main.Find(node.name());
    bool is_free = namesake && !taken.contains(namesake.id());
    if (is_free || IsAddedByLowering(node.name())) continue;
    places->try_emplace({&other.main, node.id()}, NodePlace{"!" + node.name().str(), ""});
  }
}

}  // namespace grapnel
