#include "lib/diff/named_nodes.h"

#include <map>
#include <optional>
#include <set>

#include "lib/diff/stage_name_forms.h"
#include "lib/io/layers/layer_names.h"
#include "lib/ir/name_parts.h"
#include "lib/ir/node_instances.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/glob.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the matching nodes of one body; `function` is "" for the main graph.
using NodesIn = llvm::function_ref<std::vector<Node>(const Graph& graph, llvm::StringRef function)>;
using FitsNode =
    llvm::function_ref<bool(const Node& node, llvm::StringRef function, llvm::StringRef name)>;

class Search {
 public:
  // `begins`: the first stages of the traces to search; empty: all traces.
  Search(const Timeline& timeline, std::set<int> begins)
      : timeline_(timeline), begins_(std::move(begins)) {}

  Expected<std::vector<NamedNode>> Find(llvm::StringRef text) const {
    llvm::StringRef name = ReadTensorName(text).node;
    std::vector<NamedNode> found = OfName(text);
    if (found.empty()) found = OfName(name);
    if (!found.empty()) return WithOtherTraces(std::move(found), name);
    ASSIGN_OR_RETURN(Glob glob, Glob::Parse(text));
    if (glob.IsName()) {
      found = OfOp(glob);
      if (found.empty()) found = OfEnd(name);
      return found.empty() ? OfLayer(name) : std::move(found);
    }
    found = Where([&](const Node&, llvm::StringRef, llvm::StringRef whole) {
      return AnyEnd(whole, [&](llvm::StringRef end) { return glob.Fits(end); });
    });
    return found.empty() ? OfOp(glob) : std::move(found);
  }

 private:
  // Adds the node's other names: a node of one trace has a longer name in another trace if its call
  // was inlined there.
  std::vector<NamedNode> WithOtherTraces(std::vector<NamedNode> found, llvm::StringRef name) const {
    std::set<int> begins;
    for (const NamedNode& node : found) begins.insert(node.begin);
    for (NamedNode& node : OfEnd(name))
      if (!begins.contains(node.begin)) found.push_back(std::move(node));
    llvm::stable_sort(found,
                      [](const NamedNode& x, const NamedNode& y) { return x.begin < y.begin; });
    return found;
  }

  using Key = std::pair<int, std::string>;

  std::vector<NamedNode> Collect(bool only_begins, NodesIn nodes) const {
    std::map<Key, std::string> ops;
    for (size_t i = 0; i < timeline_.stages.size(); ++i) {
      const TimelineStage& stage = timeline_.stages[i];
      bool is_seen = stage.before >= 0 && timeline_.stages[stage.before].module == stage.module;
      int begin = BeginOf(timeline_, static_cast<int>(i));
      bool is_asked = begins_.empty() || begins_.contains(begin);
      if (is_seen || !is_asked || (only_begins && stage.before >= 0)) continue;
      for (const Node& node : nodes(stage.module->main, ""))
        ops.try_emplace({begin, node.name().str()}, node.op().str());
      for (const auto& function : stage.module->functions) {
        for (const Node& node : nodes(function->body, function->name())) {
          std::string name = (function->name() + "/" + node.name()).str();
          ops.try_emplace({begin, std::move(name)}, node.op().str());
        }
      }
    }
    std::vector<NamedNode> found;
    found.reserve(ops.size());
    for (auto& [key, op] : ops) found.push_back({key.first, key.second, op});
    return found;
  }

  std::vector<NamedNode> Where(FitsNode fits, bool only_begins = false) const {
    return Collect(only_begins, [&](const Graph& graph, llvm::StringRef function) {
      std::vector<Node> nodes;
      std::string name = function.empty() ? "" : (function + "/").str();
      size_t size = name.size();
      for (Node node : graph.nodes()) {
        name.resize(size);
        name += node.name();
        if (fits(node, function, name)) nodes.push_back(node);
      }
      return nodes;
    });
  }

  std::vector<NamedNode> OfName(llvm::StringRef text) const {
    return Collect(/*only_begins=*/false, [&](const Graph& graph, llvm::StringRef function) {
      llvm::StringRef name = text;
      bool is_here = function.empty() || (name.consume_front(function) && name.consume_front("/"));
      Node node = is_here ? graph.Find(name) : Node();
      return node ? std::vector<Node>{node} : std::vector<Node>();
    });
  }

  std::vector<NamedNode> OfOp(const Glob& op) const {
    auto fits = [&](const Node& node, llvm::StringRef, llvm::StringRef) {
      return op.Fits(node.op());
    };
    std::vector<NamedNode> found = Where(fits, /*only_begins=*/true);
    return found.empty() ? Where(fits) : std::move(found);
  }

  std::vector<NamedNode> OfEnd(llvm::StringRef text) const {
    return Collect(/*only_begins=*/false, [&](const Graph& graph, llvm::StringRef function) {
      return InstancesOf(graph, function, text);
    });
  }

  std::vector<NamedNode> OfLayer(llvm::StringRef text) const {
    std::map<const Module*, LayerNames> layers;
    auto fits = [&](const Node& node, llvm::StringRef, llvm::StringRef) {
      const Module& module = node.graph().module();
      auto names = layers.find(&module);
      if (names == layers.end())
        names = layers.emplace(&module, LayerNames(LayersOf(module))).first;
      return EndsWithParts(names->second.Of(node), text);
    };
    return Where(fits, /*only_begins=*/true);
  }

  const Timeline& timeline_;
  std::set<int> begins_;
};

}  // namespace

int BeginOf(const Timeline& timeline, int stage) {
  while (timeline.stages[stage].before >= 0) stage = timeline.stages[stage].before;
  return stage;
}

Expected<std::vector<NamedNode>> FindNodes(const Timeline& timeline, llvm::StringRef text) {
  ASSIGN_OR_RETURN(std::vector<NamedNode> found, Search(timeline, {}).Find(text));
  auto [trace, node] = text.split('/');
  if (!found.empty() || node.empty()) return std::move(found);
  std::set<int> begins;
  std::string plain = PlainName(trace);
  for (size_t i = 0; i < timeline.stages.size(); ++i) {
    const TimelineStage& stage = timeline.stages[i];
    if (stage.before < 0 && llvm::is_contained(LineForms(stage.dump.line), plain))
      begins.insert(static_cast<int>(i));
  }
  if (begins.empty()) return std::move(found);
  return Search(timeline, std::move(begins)).Find(node);
}

}  // namespace grapnel
