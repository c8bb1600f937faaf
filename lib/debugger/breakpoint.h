// Breakpoints of a debugged run.
#ifndef GRAPNEL_LIB_DEBUGGER_BREAKPOINT_H_
#define GRAPNEL_LIB_DEBUGGER_BREAKPOINT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/ir/node_selection.h"
#include "lib/support/glob.h"
#include "lib/watch/tensor_expression.h"

namespace grapnel {

// A breakpoint as the user types it. Each part is optional:
//
//   NODE                 before a node whose name matches the glob; nodes in functions match by
//                        their own name, or by FUNCTION/NODE; also a layer, a scope, or another
//                        name that NameResolver takes (lib/job/name_resolver.h)
//   FILE:LINE            before each node that was created at that source line
//   op:GLOB              before nodes with these ops
//   func:GLOB            before the first node of a call of these functions; with an iteration,
//                        also before its first node in a loop of theirs
//   iteration N          only in that iteration of the innermost loop, from 0
//   if FILTER            after a node, if one of its outputs passes the filter: has_inf_or_nan,
//                        has_nan, has_inf, changed (differs from the last time)
//   if EXPRESSION        after a node, if the expression is true (lib/watch/tensor_expression.h).
//                        `_` stands for each output; so does `x` if no node is named x. Without `_`
//                        and without a place: after the nodes that produce its tensors
//
// A filter alone, or an expression alone that compares or calls, needs no "if".
class Breakpoint {
 public:
  // Errors: a text that cannot be parsed; a name or glob that matches nothing; a condition that
  // names no tensor. FILE:LINE is looked up in `lines`. `stack_to_come`: for programs whose nodes
  // are created during the run, returns the stack of such a node, so that FILE:LINE can match it
  // later; an unknown name is then not an error.
  using StackLookup = std::function<LineTable::Stack(const Node&)>;
  // `find`: looks up layers and other names; empty: there are none.
  using NodeFinder = std::function<Expected<NodeSelection>(llvm::StringRef)>;
  static Expected<Breakpoint> Parse(llvm::StringRef text, const Module& module,
                                    const LineTable& lines = {}, StackLookup stack_to_come = {},
                                    const NodeFinder& find = {});

  const std::string& text() const { return text_; }
  bool has_condition() const { return !filter_.empty() || condition_; }

  // Says of what a node is the first one: of the run or its function's call, or of an iteration of
  // an Enter/Exit loop.
  enum class Begins : uint8_t { kNothing, kCall, kIteration };
  // True if the node and iteration match; for a breakpoint with a condition, whether to evaluate
  // the condition there.
  bool IsAt(const Node& node, int64_t iteration, Begins begins) const;
  // True if the condition holds for an output. `before`: the output's value when the node ran last;
  // empty if there is none or it was dropped. If the condition cannot be evaluated (the tensor is
  // not numeric or has no elements, or another tensor is not computed yet), returns false.
  bool Holds(const Tensor& output, const Tensor& before, const TensorExpression::Lookup& lookup);

  int number = 0;  // the number that the user sees
  int64_t hits = 0;
  int64_t unanswered = 0;  // tensors on which the condition could not be evaluated
  std::string problem;     // the reason, for the first of these tensors

 private:
  Error ParsePlace(llvm::StringRef place, const Module& module, const LineTable& lines,
                   const NodeFinder& find);
  Error ParseCondition(llvm::StringRef condition, const Module& module);
  bool IsStandIn(llvm::StringRef name) const { return name == "_" || (x_is_any_ && name == "x"); }

  enum class Place : uint8_t { kAny, kNode, kOp, kFunction, kTensors };

  std::string text_;
  Place place_ = Place::kAny;
  std::optional<Glob> glob_;
  std::optional<NodeSelection> nodes_;                   // instead of glob_, for kNode
  std::string function_;                                 // FUNCTION of FUNCTION/NODE; glob_ matches
                                                         // NODE
  std::vector<std::pair<const Graph*, NodeId>> makers_;  // for kTensors
  StackLookup stack_to_come_;
  std::optional<SourcePlace> awaited_line_;
  std::vector<std::string> awaited_;  // for kTensors: nodes that do not exist yet, NODE or
                                      // FUNCTION/NODE
  std::optional<int64_t> iteration_;
  std::string filter_;
  std::optional<TensorExpression> condition_;
  bool x_is_any_ = false;
};

// Returns the names of all filters, sorted.
std::vector<std::string> TensorFilterNames();
// True if a filter of TensorFilterNames() holds for a tensor.
bool FilterHolds(llvm::StringRef filter, const Tensor& tensor, const Tensor& before);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_BREAKPOINT_H_
