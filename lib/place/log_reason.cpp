#include "lib/place/log_reason.h"

#include "lib/ir/device_name.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsFull(llvm::StringRef device) {
  auto name = DeviceSpec::Parse(device);
  if (name) return name->IsFull();
  llvm::consumeError(name.takeError());
  return false;
}

// The pass that made a node, according to the node's name or op; "" if unknown.
std::string MakerByName(const Node& node) {
  llvm::StringRef name = node.name(), op = node.op();
  if (HasPrefix(name, "_arg_") || HasPrefix(name, "_retval_"))
    return "the session, for feeds and fetches";
  if (op.ends_with("Send") || op.ends_with("Recv")) {
    if (HasPrefix(op, "_")) return "partitioning";
  }
  struct Mark {
    const char *mark, *pass;
  };
  static constexpr Mark kMarks[] = {
      {"ConstantFolding", "constant_folding"},
      {"ArithmeticOptimizer", "arithmetic_optimizer"},
      {"LayoutOptimizer", "layout"},
      {"AutoMixedPrecision", "auto_mixed_precision"},
      {"DependencyOptimizer", "dependency_optimizer"},
      {"MemoryOptimizer", "memory_optimizer"},
      {"ScopedAllocator", "scoped_allocator_optimizer"},
      {"__cf__", "the runtime's constant folding"},
      {"Func/", "inlining"},
  };
  for (const Mark& each : kMarks) {
    if (name.contains(each.mark)) return each.pass;
  }
  return HasPrefix(op, "_Fused") || HasPrefix(op, "_Mkl") ? "remapper" : "";
}

std::string WithReader(const Graph& graph, const Node& node) {
  if (node.uses().empty()) return "";
  return ("; it runs with its reader '" + graph.node(node.uses().front().node).name() + "'").str();
}

class Reasons {
 public:
  Reasons(const Graph& graph, const LogOfGraph& logged, const PlacementLog& log,
          const GraphStory& story)
      : graph_(graph), logged_(logged), log_(log), story_(story), is_placed_(IsPlaced(graph)) {}

  NodeStory Of(const Node& node) const {
    const LoggedNode* line = logged_.of[node.id()];
    auto found = story_.here.find(node.name());
    const NodeStory* story = found == story_.here.end() ? nullptr : &found->second;
    if (!line) return NotThere(node, story);
    if (!line->op.empty() && line->op != node.op()) return Rewritten(node, *line, story);
    if (IsFull(node.device()) && CanonicalDevice(node.device()) != line->device)
      return {story ? story->pass : "",
              "moved after placement: the graph has it on " + CanonicalDevice(node.device())};
    return {};
  }

 private:
  NodeStory Rewritten(const Node& node, const LoggedNode& line, const NodeStory* story) const {
    std::string was = "in the log as " + line.op + ", ";
    if (story) return {story->pass, was + story->text};
    if (node.op() == "Const") return {"", was + "folded to a constant"};
    bool is_fused = HasPrefix(node.op(), "_Fused") || HasPrefix(node.op(), "_Mkl");
    if (is_fused) return {"remapper", was + "fused with its inputs: " + node.op().str()};
    return {"", was + "rewritten to " + node.op().str()};
  }

  NodeStory NotThere(const Node& node, const NodeStory* story) const {
    if (logged_.used.empty()) return {"", "not in the log, which is of other graphs"};
    std::string text = "not in the log: ";
    if (story) return {story->pass, text + story->text + WithReader(graph_, node)};
    std::string maker = MakerByName(node);
    if (is_placed_ || !maker.empty()) {
      if (maker.empty() && log_.cut_line > 0)
        return {"", text + "made after placement, or beyond the log's end"};
      std::string made = maker.empty() ? "made after placement" : "made by " + maker;
      return {maker, text + made + WithReader(graph_, node)};
    }
    if (log_.cut_line > 0) return {"", text + "it ends before this node was placed"};
    return {"", text + "the graph that was placed does not have it"};
  }

  const Graph& graph_;
  const LogOfGraph& logged_;
  const PlacementLog& log_;
  const GraphStory& story_;
  bool is_placed_;
};

}  // namespace

bool IsPlaced(const Graph& graph) {
  for (Node node : graph.nodes()) {
    if (!IsFull(node.device())) return false;
  }
  return true;
}

std::vector<NodeStory> ReasonsOf(const Graph& graph, const LogOfGraph& logged,
                                 const PlacementLog& log, const GraphStory& story) {
  std::vector<NodeStory> reasons(graph.end_id());
  Reasons all(graph, logged, log, story);
  for (Node node : graph.nodes()) reasons[node.id()] = all.Of(node);
  return reasons;
}

NodeStory ReasonOfGone(const LoggedNode& node, const GraphStory& story) {
  auto found = story.gone.find(node.node);
  return found == story.gone.end() ? NodeStory{"", "removed or merged after placement"}
                                   : found->second;
}

}  // namespace grapnel
