#include "lib/policy/change_cause.h"

#include <deque>
#include <map>
#include <set>

#include "lib/io/saved_variables.h"
#include "lib/ir/node_types.h"
#include "lib/job/model_values.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::string OpsOf(llvm::ArrayRef<NodeEntry> nodes) {
  auto op = [](const NodeEntry& node) { return node.node.op().str(); };
  return llvm::join(llvm::map_range(nodes, op), " + ");
}

// The changes of a diff by the node of the second graph that they concern.
class Changes {
 public:
  explicit Changes(const ServedGraphs& graphs) : main_(graphs.now->module().main) {
    AddValues(graphs);
    for (const MatchedPair& pair : graphs.diff.matched)
      for (const Change& change : pair.changes) AddChange(pair.b.node, change);
    for (const GroupEntry& group : graphs.diff.groups) {
      for (const NodeEntry& node : group.b)
        Add(node.node, Sentence("'{0}' is made of {1}, and was {2}", node.node.name(),
                                OpsOf(group.b), OpsOf(group.a)));
    }
    for (const NodeEntry& node : graphs.diff.added)
      Add(node.node, Sentence("'{0}' ({1}) is new", node.node.name(), node.node.op()));
  }

  // Returns the change of the nearest node; "" if there is none.
  std::string Nearest(std::deque<NodeId> todo) const {
    std::set<NodeId> seen(todo.begin(), todo.end());
    std::string other_input;
    while (!todo.empty()) {
      Node node = main_.node(todo.front());
      todo.pop_front();
      if (auto found = changes_.find(node.id()); found != changes_.end()) return found->second;
      if (auto found = inputs_.find(node.id()); found != inputs_.end() && other_input.empty())
        other_input = found->second;
      for (const Port& port : node.inputs())
        if (port.node != kNoNode && seen.insert(port.node).second) todo.push_back(port.node);
    }
    return other_input;
  }

 private:
  void Add(const Node& node, const std::string& text) {
    if (&node.graph() == &main_) changes_.try_emplace(node.id(), text);
  }

  void AddChange(const Node& node, const Change& change) {
    if (&node.graph() != &main_ || change.what == "control inputs") return;
    auto text = [](const std::string& value) { return value.empty() ? "not there" : value; };
    if (llvm::StringRef(change.what).starts_with("input ")) {
      // A node that is gone is known only from its reader.
      inputs_.try_emplace(node.id(),
                          Sentence("'{0}' reads '{1}', and read '{2}'", node.name(),
                                   llvm::StringRef(change.after), llvm::StringRef(change.before)));
      return;
    }
    Add(node, Sentence("{0} of '{1}' was {2} and is {3}", change.what, node.name(),
                       text(change.before), text(change.after)));
  }

  void AddValues(const ServedGraphs& graphs) {
    auto report = CompareModelValues(*graphs.before, *graphs.now, graphs.diff);
    if (!report) return llvm::consumeError(report.takeError());
    std::set<std::string> differ;
    for (const ValueDiff& value : report->different)
      if (!value.a.empty() && !value.b.empty()) differ.insert(value.b);
    for (const Node& node : main_.nodes()) {
      std::string name = IsVariable(node) ? NameOfVariable(node) : node.name().str();
      bool holds = IsVariable(node) || node.op() == "Const";
      if (holds && differ.count(name))
        Add(node, Sentence("the values of the {0} '{1}' differ",
                           IsVariable(node) ? "variable" : "constant", llvm::StringRef(name)));
    }
  }

  const Graph& main_;
  std::map<NodeId, std::string> changes_, inputs_;
};

}  // namespace

std::string CauseOf(const ServedGraphs& graphs, llvm::StringRef node) {
  const Graph& main = graphs.now->module().main;
  std::deque<NodeId> from;
  if (Node found = FindServed(graphs, node)) {
    from.push_back(found.id());
  } else {
    for (const Node& end : main.nodes())
      if (end.uses().empty()) from.push_back(end.id());
  }
  return Changes(graphs).Nearest(std::move(from));
}

}  // namespace grapnel
