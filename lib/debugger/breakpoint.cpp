#include "lib/debugger/breakpoint.h"

#include <cstring>

#include "lib/ir/find.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/source.h"
#include "lib/support/text.h"
#include "lib/watch/health.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsSame(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.HoldsObjects()) return a.buffer() == b.buffer();
  if (a.dtype() == proto::DT_STRING) {
    const std::string* text = a.data<std::string>();
    return std::equal(text, text + a.num_elements(), b.data<std::string>());
  }
  return std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0;
}

// True if the text contains a character of an expression: "(", "<", ">" or "=". A "<lambda>" does
// not count, since TensorFlow puts it in the names of functions.
bool IsExpression(llvm::StringRef text) {
  if (HasPrefix(text, "op:") || HasPrefix(text, "func:")) return false;
  std::string rest = text.str();
  for (size_t at; (at = rest.find("<lambda>")) != std::string::npos;) rest.erase(at, 8);
  return llvm::StringRef(rest).find_first_of("(<>=") != llvm::StringRef::npos;
}

bool IsNode(const Module& module, llvm::StringRef text) {
  auto node = FindNode(module, text);
  if (!node) llvm::consumeError(node.takeError());
  return static_cast<bool>(node);
}

// Returns the nodes that the code at `place` created itself or, if there are none, the nodes
// created in functions that it called.
std::vector<Node> NodesAtLine(const SourcePlace& place, const Module& module,
                              const LineTable& lines) {
  std::vector<Node> nodes = lines.NodesAt(place, module), own;
  for (const Node& node : nodes) {
    if (auto line = lines.LineOf(node); line && place.Has(*line)) own.push_back(node);
  }
  return own.empty() ? nodes : own;
}

// Splits the text at " if " or " where " into place and condition; a filter alone is a condition
// too.
std::pair<llvm::StringRef, llvm::StringRef> Split(llvm::StringRef text) {
  if (text.consume_front("if ") || text.consume_front("where ")) return {"", text.trim()};
  for (llvm::StringRef word : {" if ", " where "}) {
    size_t at = text.find(word);
    if (at != llvm::StringRef::npos)
      return {text.take_front(at).trim(), text.drop_front(at + word.size()).trim()};
  }
  if (IsExpression(text)) return {"", text};
  llvm::StringRef first = text.split(' ').first;
  if (!llvm::is_contained(TensorFilterNames(), first)) return {text, ""};
  return {text.drop_front(first.size()).trim(), first};
}

}  // namespace

std::vector<std::string> TensorFilterNames() {
  return {"changed", "has_inf", "has_inf_or_nan", "has_nan"};
}

bool FilterHolds(llvm::StringRef filter, const Tensor& tensor, const Tensor& before) {
  if (!tensor) return false;
  if (filter == "changed") return before && !IsSame(tensor, before);
  Health health = HealthOf(tensor);
  if (filter == "has_nan") return health.nan > 0;
  if (filter == "has_inf") return health.neg_inf > 0 || health.pos_inf > 0;
  return health.IsBad();
}

Expected<Breakpoint> Breakpoint::Parse(llvm::StringRef text, const Module& module,
                                       const LineTable& lines, StackLookup stack_to_come,
                                       const NodeFinder& find) {
  Breakpoint made;
  made.stack_to_come_ = std::move(stack_to_come);
  made.text_ = text.trim().str();
  // Checks this before Split(), since a node's name may contain a '>'.
  bool is_node = IsNode(module, made.text_);
  auto [place, condition] =
      is_node ? std::pair(llvm::StringRef(made.text_), llvm::StringRef()) : Split(made.text_);
  size_t at = HasPrefix(place, "iteration ") ? 0 : place.find(" iteration ");
  if (at != llvm::StringRef::npos) {
    llvm::StringRef number = place.substr(place.find("iteration ", at) + 10).trim();
    int64_t iteration = 0;
    if (number.getAsInteger(10, iteration) || iteration < 0)
      return MakeError("iteration '{0}': an integer of 0 or more was expected", number);
    made.iteration_ = iteration;
    place = place.take_front(at).trim();
  }
  if (place.empty() && condition.empty() && !made.iteration_)
    return MakeError(
        "a node, FILE:LINE, op:OP, func:FUNCTION, iteration N, a filter or an expression was "
        "expected");
  RETURN_IF_ERROR(made.ParsePlace(place, module, lines, find));
  RETURN_IF_ERROR(made.ParseCondition(condition, module));
  return made;
}

Error Breakpoint::ParsePlace(llvm::StringRef place, const Module& module, const LineTable& lines,
                             const NodeFinder& find) {
  if (place.empty()) return Error::success();
  if (place.contains(' ')) return MakeError("'{0}': one name or pattern was expected", place);
  bool is_op = place.consume_front("op:"), is_function = !is_op && place.consume_front("func:");
  place_ = is_op ? Place::kOp : is_function ? Place::kFunction : Place::kNode;
  ASSIGN_OR_RETURN(glob_, Glob::Parse(place));
  if (stack_to_come_) {
    SourcePlace line = SourcePlace::Parse(place);
    if (place_ == Place::kNode && line.line > 0) awaited_line_ = line;
    return Error::success();
  }
  std::vector<llvm::StringRef> names;
  auto add_ops = [&](const Graph& graph) {
    for (const Node& node : graph.nodes()) names.push_back(node.op());
  };
  if (is_op) {
    add_ops(module.main);
    for (const auto& function : module.functions) add_ops(function->body);
    llvm::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  } else if (is_function) {
    for (const auto& function : module.functions) names.push_back(function->name());
  } else {
    auto node = FindNode(module, place);
    if (node) {
      const Function* function = FunctionOf(node->graph());
      if (!function) return Error::success();
      function_ = function->name().str();
      ASSIGN_OR_RETURN(glob_, Glob::Parse(node->name()));
      return Error::success();
    }
    llvm::consumeError(node.takeError());
    auto fits = [&](const Graph& graph) {
      for (const Node& node : graph.nodes()) {
        if (glob_->Fits(node.name())) return true;
      }
      return false;
    };
    bool is_there = fits(module.main) || llvm::any_of(module.functions, [&](const auto& function) {
                      return fits(function->body);
                    });
    // "FUNCTION/GLOB".
    auto [function, name] = place.split('/');
    if (!is_there && !name.empty() && module.FindFunction(function)) {
      function_ = function.str();
      ASSIGN_OR_RETURN(glob_, Glob::Parse(name));
      is_there = fits(module.FindFunction(function)->body);
    }
    if (is_there) return Error::success();
    SourcePlace line = SourcePlace::Parse(place);
    if (line.line > 0 && !lines.empty()) {
      for (const Node& made : NodesAtLine(line, module, lines))
        makers_.push_back({&made.graph(), made.id()});
      place_ = Place::kTensors;
      if (!makers_.empty()) return Error::success();
      return NodesOfLine(lines, module, place).takeError();
    }
    if (find) {
      ASSIGN_OR_RETURN(NodeSelection found, find(place));
      if (!found.nodes().empty()) {
        nodes_ = std::move(found);
        return Error::success();
      }
    }
    if (glob_->IsName()) {
      auto nodes = [&](NameSink take) { VisitNodeNames(module, take); };
      std::string near = DidYouMean(place, [&](NameSink take) {
        nodes(take);
        for (const std::string& filter : TensorFilterNames()) take(filter);
      });
      // In a small graph, DidYouMean() lists all nodes.
      if (near.empty()) near = DidYouMean(place, nodes);
      return MakeError("node '{0}' not found{1}", place, near);
    }
    return MakeError("no node matches '{0}'", place);
  }
  if (llvm::any_of(names, [&](llvm::StringRef name) { return glob_->Fits(name); }))
    return Error::success();
  llvm::StringRef kind = is_op ? "op" : "function";
  if (!glob_->IsName()) return MakeError("no {0} matches '{1}'", kind, place);
  return NotFound(kind, place, llvm::ArrayRef(names), is_op ? " in the graph" : "");
}

Error Breakpoint::ParseCondition(llvm::StringRef condition, const Module& module) {
  if (condition.empty()) return Error::success();
  if (llvm::is_contained(TensorFilterNames(), condition)) {
    filter_ = condition.str();
    return Error::success();
  }
  // "has_inf_or_nam" is a misspelled filter rather than a tensor.
  if (HasPrefix(condition, "has_") && !condition.contains('('))
    return NotFound("filter", condition, TensorFilterNames());
  ASSIGN_OR_RETURN(condition_, TensorExpression::Parse(condition));
  std::vector<std::string> tensors = condition_->Tensors();
  x_is_any_ = llvm::is_contained(tensors, "x") && !llvm::is_contained(tensors, "_") &&
              !FindTensorIfThere(module.main, "x");
  bool has_stand_in = false;
  for (const std::string& name : tensors) {
    if (IsStandIn(name)) {
      has_stand_in = true;
      continue;
    }
    if (stack_to_come_) {
      awaited_.push_back(ReadTensorName(name).node.str());
      continue;
    }
    auto maker = FindNode(module, name);
    if (maker) {
      makers_.push_back({&maker->graph(), maker->id()});
      continue;
    }
    std::string problem = TextOf(maker.takeError());
    size_t before = makers_.size();
    for (const auto& function : module.functions) {
      if (auto port = FindTensorIfThere(function->body, name))
        makers_.push_back({&function->body, port->node});
    }
    if (makers_.size() == before) return MakeError("{0}", problem);
  }
  if (!has_stand_in && makers_.empty() && awaited_.empty())
    return MakeError("'{0}' names no tensor: `_` stands for each output of a node", condition);
  if (place_ == Place::kAny && !has_stand_in) place_ = Place::kTensors;
  return Error::success();
}

bool Breakpoint::IsAt(const Node& node, int64_t iteration, Begins begins) const {
  if (iteration_ && *iteration_ != iteration) return false;
  const Function* function = nullptr;
  switch (place_) {
    case Place::kAny:
      // "iteration 3" alone stops at the iteration's first node.
      return has_condition() || begins != Begins::kNothing;
    case Place::kOp:
      return glob_->Fits(node.op());
    case Place::kFunction:
      function = FunctionOf(node.graph());
      if (!function || !glob_->Fits(function->name())) return false;
      return has_condition() || begins == Begins::kCall ||
             (iteration_ && begins == Begins::kIteration);
    case Place::kTensors:
      return llvm::is_contained(makers_, std::pair(&node.graph(), node.id())) ||
             llvm::any_of(awaited_, [&](const std::string& name) {
               return node.name() == name || NameWithFunction(node) == name;
             });
    case Place::kNode:
      if (nodes_) return nodes_->Has(node);
      if (stack_to_come_ && glob_->Fits(NameWithFunction(node))) return true;
      if (awaited_line_ && llvm::any_of(stack_to_come_(node), [&](const SourceFrame& frame) {
            return awaited_line_->Has(frame);
          }))
        return true;
      if (!glob_->Fits(node.name())) return false;
      if (function_.empty()) return true;
      function = FunctionOf(node.graph());
      return function && function->name() == function_;
  }
  return false;
}

bool Breakpoint::Holds(const Tensor& output, const Tensor& before,
                       const TensorExpression::Lookup& lookup) {
  if (!filter_.empty()) return FilterHolds(filter_, output, before);
  auto holds = condition_->IsTrue([&](llvm::StringRef name) -> Expected<Tensor> {
    if (IsStandIn(name)) return output;
    return lookup(name);
  });
  if (holds) return *holds;
  std::string why = TextOf(holds.takeError());
  if (unanswered++ == 0) problem = std::move(why);
  return false;
}

}  // namespace grapnel
