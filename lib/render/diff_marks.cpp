#include "lib/render/diff_marks.h"

#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/render/labels.h"
#include "lib/render/selection.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the path of the scope around a node or scope; "" for the outermost scope.
llvm::StringRef ScopeAround(llvm::StringRef path) {
  return path.contains('/') ? path.substr(0, path.rfind('/')) : "";
}

}  // namespace

class DiffMarks::Maker {
 public:
  explicit Maker(DiffMarks* marks) : marks_(*marks), graph_(marks->graph_) {
    const Module& module = *graph_.module;
    AddBody(module.main, "");
    for (const auto& function : module.functions) AddBody(function->body, function->name());
  }

  void Run() {
    for (const Graph* body : bodies_) {
      for (Node node : body->nodes()) {
        if (!Differs(node)) continue;
        if (UseOf(node) == NodeUse::kFolded) Spread(node);
        MarkCallers(*body);
      }
    }
    for (const Graph* body : bodies_) AddScopes(*body);
  }

 private:
  static Key KeyOf(const Node& node) { return {&node.graph(), node.id()}; }
  bool Differs(const Node& node) const {
    return graph_.status.count(KeyOf(node)) || graph_.other_values.count(KeyOf(node));
  }

  void AddBody(const Graph& body, llvm::StringRef function) {
    bodies_.push_back(&body);
    uses_[&body] = Fold(body, {}, FoldOptions()).uses;
    functions_[&body] = function;
    for (Node node : body.nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (const Function* callee : CalleesOf(node)) callers_[&callee->body].push_back(node);
    }
  }

  static std::vector<const Function*> CalleesOf(const Node& node) {
    std::vector<const Function*> callees;
    for (llvm::StringRef name : CalledFunctions(node)) {
      if (const Function* callee = node.graph().module().FindFunction(name))
        callees.push_back(callee);
    }
    return callees;
  }

  // Adds `source` to Within() of the nodes in whose boxes it is drawn: those that read it or, if it
  // is passed to functions, nodes in these functions.
  void Spread(const Node& source) {
    std::set<Key> seen = {KeyOf(source)};
    std::vector<Node> stack = {source};
    auto visit = [&](const Node& node) {
      if (seen.insert(KeyOf(node)).second) stack.push_back(node);
    };
    while (!stack.empty()) {
      Node node = stack.back();
      stack.pop_back();
      for (const Use& use : node.uses()) {
        Node reader = node.graph().node(use.node);
        bool data = static_cast<int>(use.slot) < reader.num_inputs();
        NodeUse how = UseOf(reader);
        if (!data || how == NodeUse::kOutside) continue;
        if (how == NodeUse::kFolded) {
          visit(reader);
          continue;
        }
        Mark(reader, source);
        if (!MayCallFunctions(reader)) continue;
        for (const Function* callee : CalleesOf(reader)) {
          Node argument = ArgumentOf(*callee, reader, static_cast<int>(use.slot));
          if (!argument || argument.uses().empty()) continue;
          if (UseOf(argument) == NodeUse::kShown) Mark(argument, source);
          visit(argument);
        }
      }
    }
  }

  // Returns the argument of `callee` that receives an input of `call`. If and Case have an input
  // before those of their functions; the functions of datasets have arguments before those that the
  // node passes: the last inputs are the last arguments.
  static Node ArgumentOf(const Function& callee, const Node& call, int slot) {
    int count = static_cast<int>(callee.args.size()), at = slot - call.num_inputs() + count;
    return at < 0 || at >= count ? Node() : callee.body.node(callee.args[at]);
  }

  NodeUse UseOf(const Node& node) const { return uses_.at(&node.graph())[node.id()]; }

  void Mark(const Node& reader, const Node& source) {
    std::vector<Node>& within = marks_.within_[KeyOf(reader)];
    if (!llvm::is_contained(within, source)) within.push_back(source);
  }

  void MarkCallers(const Graph& body) {
    if (!marked_.insert(&body).second) return;
    std::vector<const Graph*> stack = {&body};
    while (!stack.empty()) {
      const Graph* callee = stack.back();
      stack.pop_back();
      for (const Node& caller : callers_[callee]) {
        marks_.calls_.insert(KeyOf(caller));
        if (marked_.insert(&caller.graph()).second) stack.push_back(&caller.graph());
      }
    }
  }

  // True for a function that saves or restores variables: it has every variable, but no layer that
  // reads it.
  bool IsSaver(const Graph& body) const {
    if (functions_.at(&body).empty()) return false;
    for (Node node : body.nodes()) {
      if (node.op() == "SaveV2" || node.op() == "RestoreV2") return true;
    }
    return false;
  }

  void AddScopes(const Graph& body) {
    if (IsSaver(body)) return;
    for (Node node : body.nodes()) {
      // Ops that only read, save, restore or update a variable are not layers.
      bool is_state = GroupOf(node.op()) == OpGroup::kState;
      bool differs = Differs(node) || (marks_.within_.count(KeyOf(node)) && !is_state);
      if (marks_.HasOtherValues(node)) continue;  // the marked box of the layer says it
      if (UseOf(node) == NodeUse::kShown && differs)
        marks_.scopes_.insert({functions_[&body].str(), ScopeAround(node.name()).str()});
    }
  }

  DiffMarks& marks_;
  const UnionGraph& graph_;
  std::vector<const Graph*> bodies_;
  std::map<const Graph*, std::vector<NodeUse>> uses_;
  std::map<const Graph*, llvm::StringRef> functions_;  // "" for the main graph
  std::map<const Graph*, std::vector<Node>> callers_;
  std::set<const Graph*> marked_;  // bodies with a difference, or that call such bodies
};

DiffMarks::DiffMarks(const UnionGraph& graph) : graph_(graph) { Maker(this).Run(); }

NodeStatus DiffMarks::Of(const Node& node) const {
  Key key = {&node.graph(), node.id()};
  NodeStatus own = graph_.StatusOf(node);
  if (own != NodeStatus::kSame) return own;
  bool differs = graph_.other_values.count(key) || within_.count(key) || calls_.count(key);
  return differs ? NodeStatus::kChanged : NodeStatus::kSame;
}

bool DiffMarks::HasOtherValues(const Node& node) const {
  Key key = {&node.graph(), node.id()};
  if (graph_.StatusOf(node) != NodeStatus::kSame || calls_.count(key)) return false;
  auto is_same = [&](const Node& source) { return graph_.StatusOf(source) == NodeStatus::kSame; };
  llvm::ArrayRef<Node> within = Within(node);
  return (graph_.other_values.count(key) || !within.empty()) && llvm::all_of(within, is_same);
}

std::vector<std::string> DiffMarks::ScopesToOpen(size_t most) const {
  auto scopes = scopes_;
  auto depth = [](const auto& scope) {
    return scope.second.empty() ? 0 : 1 + llvm::count(scope.second, '/');
  };
  while (true) {
    scopes.erase({"", ""});  // always open
    if (scopes.size() <= most) break;
    auto deepest = *llvm::max_element(
        scopes, [&](const auto& a, const auto& b) { return depth(a) < depth(b); });
    if (depth(deepest) == 0) return {};
    std::set<std::pair<std::string, std::string>> around;
    for (const auto& [function, path] : scopes) {
      bool is_deepest = depth(std::pair(function, path)) == depth(deepest);
      around.insert({function, is_deepest ? ScopeAround(path).str() : path});
    }
    scopes = std::move(around);
  }
  std::vector<std::string> paths;
  paths.reserve(scopes.size());
  for (const auto& [function, path] : scopes) {
    const char* between = function.empty() || path.empty() ? "" : "/";
    paths.push_back((llvm::Twine(function) + between + path).str());
  }
  return paths;
}

llvm::ArrayRef<Node> DiffMarks::Within(const Node& node) const {
  auto found = within_.find({&node.graph(), node.id()});
  return found == within_.end() ? llvm::ArrayRef<Node>() : llvm::ArrayRef<Node>(found->second);
}

}  // namespace grapnel
