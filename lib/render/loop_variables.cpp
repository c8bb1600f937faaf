#include "lib/render/loop_variables.h"

#include <algorithm>
#include <optional>

#include "lib/ir/attr.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/module.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

// Returns the scope around a node, "lstm/" for "lstm/while"; empty if there is none.
llvm::StringRef Around(const Node& node) {
  return node.name().take_front(node.name().rfind('/') + 1);
}

// Returns the name of a node without the scope around the loop.
llvm::StringRef NameBeside(const Node& node, const Node& loop) {
  llvm::StringRef name = node.name(), around = Around(loop);
  if (around.size() < name.size()) name.consume_front(around);
  return name;
}

// True if TensorFlow made the name of an argument: by a count, or of the name of a tensor around
// the loop that the body reads ("lstm_max").
bool IsMadeUp(llvm::StringRef argument, const Node& loop) {
  std::string around = Around(loop).lower();
  std::replace(around.begin(), around.end(), '/', '_');
  return argument.starts_with("placeholder") ||
         (!around.empty() && argument.lower().find(around) != std::string::npos);
}

}  // namespace

LoopVariables::LoopVariables(const Graph& graph, const Node& loop) {
  if (!loop) return;
  const Function* function = FunctionOf(graph);
  std::optional<AttrView> body = loop.Attr("body");
  is_body_ = function && body && body->AsFuncName() == function->name();
  const std::string prefix = PrefixOfEnds(graph);
  names_.resize(loop.num_inputs());
  for (Node node : graph.nodes()) {
    int64_t index = IsArgument(node) ? node.GetInt("index") : -1;
    if (index < 0 || index >= loop.num_inputs()) continue;
    llvm::StringRef name = NameOfEnd(node.name(), prefix);
    Node first = loop.input_node(static_cast<int>(index));
    if (first && IsMadeUp(name, loop)) name = NameBeside(first, loop);
    names_[index] = Printable(name);
  }
}

std::string LoopVariables::Of(const Node& end) const {
  if (!IsArgument(end) && !(is_body_ && IsResult(end))) return "";
  int64_t index = end.GetInt("index", -1);
  return index >= 0 && index < static_cast<int64_t>(names_.size()) ? names_[index] : "";
}

}  // namespace grapnel
