#include "lib/watch/expression_place.h"

#include "lib/ir/find.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::optional<Port> FindIn(const Graph& body, const Function* function, llvm::StringRef name) {
  if (auto port = FindTensorIfThere(body, name); port && !port->IsControl()) return port;
  if (function && name.consume_front(function->name()) && name.consume_front("/")) {
    if (auto port = FindTensorIfThere(body, name); port && !port->IsControl()) return port;
  }
  return std::nullopt;
}

std::optional<ExpressionPlace> AllIn(const Graph& body, const Function* function,
                                     llvm::ArrayRef<std::string> names) {
  ExpressionPlace place;
  place.body = &body;
  for (const std::string& name : names) {
    auto port = FindIn(body, function, name);
    if (!port) return std::nullopt;
    place.ports.push_back(*port);
  }
  return place;
}

// Explains why no body has all the names: returns the error for the first unknown name, or for
// names in different bodies.
Error WhyNowhere(const Module& module, llvm::ArrayRef<std::string> names) {
  std::vector<std::string> where;
  for (const std::string& name : names) {
    if (FindIn(module.main, nullptr, name)) {
      where.push_back("'" + name + "' in the main graph");
      continue;
    }
    auto has_it = llvm::find_if(module.functions, [&](const auto& f) {
      return FindIn(f->body, f.get(), name).has_value();
    });
    if (has_it != module.functions.end()) {
      where.push_back("'" + name + "' in function '" + (*has_it)->name().str() + "'");
      continue;
    }
    // If the node exists, report that it lacks this output.
    auto node = FindNode(module, name);
    if (!node) {
      llvm::consumeError(node.takeError());
      return NotFound("tensor", name, [&](NameSink take) { VisitNodeNames(module, take); });
    }
    const Function* function = FunctionOf(node->graph());
    llvm::StringRef rest = name;
    if (function && rest.consume_front(function->name())) rest.consume_front("/");
    auto port = FindTensor(node->graph(), rest);
    if (!port) return port.takeError();
    return MakeError("node '{0}' has no outputs", node->name());
  }
  return MakeError("{0}: all tensors of an expression must be in the main graph or in one function",
                   llvm::join(where, ", "));
}

// True for an Enter and for nodes that depend on one without an Exit in between.
bool IsInLoop(const Graph& body, NodeId id) {
  llvm::DenseSet<NodeId> seen = {id};
  llvm::SmallVector<NodeId, 16> waiting = {id};
  while (!waiting.empty()) {
    Node node = body.node(waiting.pop_back_val());
    llvm::StringRef op = node.op();
    if (op == "Enter" || op == "RefEnter") return true;
    if (op == "Exit" || op == "RefExit") continue;
    for (Port port : node.inputs()) {
      if (port.node != kNoNode && seen.insert(port.node).second) waiting.push_back(port.node);
    }
  }
  return false;
}

}  // namespace

Expected<ExpressionPlace> PlaceOf(const TensorExpression& expression, const Module& module,
                                  const std::function<std::string(llvm::StringRef)>& key) {
  std::vector<std::string> names = expression.Tensors(), tensors = names;
  if (names.empty())
    return MakeError("the expression names no tensor: name at least one, as in x:0");
  for (std::string& tensor : tensors) {
    if (key) tensor = key(tensor);
  }
  std::optional<ExpressionPlace> place = AllIn(module.main, nullptr, tensors);
  std::vector<std::string> functions;
  if (!place) {
    for (const auto& function : module.functions) {
      auto found = AllIn(function->body, function.get(), tensors);
      if (!found) continue;
      functions.push_back(function->name().str());
      place = std::move(found);
    }
  }
  if (!place) return WhyNowhere(module, tensors);
  if (functions.size() > 1)
    return MakeError("'{0}' is in {1} functions: name one, as in {2}/{0}", names[0],
                     functions.size(), functions[0]);
  place->names = std::move(names);
  for (Port port : place->ports) place->is_in_loop |= IsInLoop(*place->body, port.node);
  return std::move(*place);
}

Error CaretError(llvm::StringRef typed, size_t column, Error error) {
  // Remove "column N: " from the error, since the caret shows the column.
  std::string text = TextOf(std::move(error));
  llvm::StringRef what = text;
  if (HasPrefix(what, "column ")) what = what.drop_front(what.find(": ") + 2);
  return MakeError("{0}\n    {1}\n    {2}^", what, typed,
                   std::string(std::min(column, typed.size()), ' '));
}

}  // namespace grapnel
