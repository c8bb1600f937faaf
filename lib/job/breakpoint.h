// Where a debugged run is to stop.
#ifndef GRAPNEL_LIB_JOB_BREAKPOINT_H_
#define GRAPNEL_LIB_JOB_BREAKPOINT_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/support/glob.h"
#include "lib/watch/tensor_expression.h"

namespace grapnel {

// As a person types it, any part of it:
//
//   NODE                 before a node whose name fits the glob; in a function it is the node's
//                        name alone, or FUNCTION/NODE
//   FILE:LINE            before each node that was made in that line of the program
//   op:GLOB              before nodes of these ops
//   func:GLOB            before the first node of a call of these functions
//   iteration N          only in that iteration of the innermost loop, from 0
//   if FILTER            after a node, when one of its outputs is so: has_inf_or_nan, has_nan,
//                        has_inf, changed (other than the last time)
//   if EXPRESSION        after a node, when it is true (lib/watch/tensor_expression.h). `_` stands
//                        for each output; so does `x` where no node is called x. Without `_` and
//                        without a place: after the nodes that make its tensors
//
// Of a filter, or an expression that compares or calls, by itself "if" may be left out.
class Breakpoint {
 public:
  // Errors: a name (no glob) that nothing has, with the nearest; a condition that cannot be read.
  // `lines`: what FILE:LINE is looked up in. `stack_to_come`: where nodes are yet to come, the
  // stack of one that has, by which FILE:LINE finds it; what nothing has yet is no error then.
  using StackLookup = std::function<LineTable::Stack(const Node&)>;
  static Expected<Breakpoint> Parse(llvm::StringRef text, const Module& module,
                                    const LineTable& lines = {}, StackLookup stack_to_come = {});

  const std::string& text() const { return text_; }
  bool has_condition() const { return !filter_.empty() || condition_; }

  // Whether node and iteration are those that are meant; of one with a condition, whether it is to
  // be asked there. `begins_call`: it is the first node of its function's call.
  bool IsAt(const Node& node, int64_t iteration, bool begins_call) const;
  // Whether the condition holds of an output. `before`: its value of the last time; none: the
  // first. A tensor that has no answer (no numbers, no elements, another not made yet) is none.
  bool Holds(const Tensor& output, const Tensor& before, const TensorExpression::Lookup& lookup);

  int number = 0;  // as people name it
  int64_t hits = 0;
  int64_t unanswered = 0;  // tensors without an answer
  std::string problem;     // of the first of them

 private:
  Error ParsePlace(llvm::StringRef place, const Module& module, const LineTable& lines);
  Error ParseCondition(llvm::StringRef condition, const Module& module);
  bool IsStandIn(llvm::StringRef name) const { return name == "_" || (x_is_any_ && name == "x"); }

  enum class Place : uint8_t { kAny, kNode, kOp, kFunction, kTensors };

  std::string text_;
  Place place_ = Place::kAny;
  std::optional<Glob> glob_;
  std::string function_;                                 // of FUNCTION/NODE, whose node glob_ is
  std::vector<std::pair<const Graph*, NodeId>> makers_;  // of kTensors
  StackLookup stack_to_come_;
  std::optional<SourcePlace> awaited_line_;
  std::vector<std::string> awaited_;  // of kTensors that wait: nodes, NODE or FUNCTION/NODE
  std::optional<int64_t> iteration_;
  std::string filter_;
  std::optional<TensorExpression> condition_;
  bool x_is_any_ = false;
};

// The filters by name, sorted.
std::vector<std::string> TensorFilterNames();
// Whether a filter of TensorFilterNames() holds of a tensor.
bool FilterHolds(llvm::StringRef filter, const Tensor& tensor, const Tensor& before);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_BREAKPOINT_H_
