#include "lib/render/loop_variables.h"

#include <optional>

#include "lib/ir/attr.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/module.h"
#include "lib/render/labels.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

// Returns the name of a node without the scope around the loop.
llvm::StringRef NameBeside(const Node& node, const Node& loop) {
  llvm::StringRef name = node.name(), around = loop.name();
  around = around.take_front(around.rfind('/') + 1);
  if (around.size() < name.size()) name.consume_front(around);
  return name;
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
    if (name.starts_with("placeholder") && first) name = NameBeside(first, loop);
    names_[index] = Printable(name);
  }
}

std::string LoopVariables::Of(const Node& end) const {
  if (!IsArgument(end) && !(is_body_ && IsResult(end))) return "";
  int64_t index = end.GetInt("index", -1);
  return index >= 0 && index < static_cast<int64_t>(names_.size()) ? names_[index] : "";
}

}  // namespace grapnel
