// A Tracer's state for variables. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_TRACED_VARIABLES_H_
#define GRAPNEL_LIB_TRACE_TRACED_VARIABLES_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/trace/variable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

struct TracedVariable {
  VariableInfo info;
  NodeId handle = kNoNode;  // in the main graph
  Value eager_handle;       // in eager mode
  int epoch = 0;            // TracedVariables::epoch of the function that declared it last
};

// A ReadVariableOp whose name is not decided yet: it will be named after the op that takes it. If
// no op does, it is named in the scope where the variable was read.
struct PendingRead {
  TraceBody* body;
  NodeId node;
  std::string scope;
};

// The pending reads, in creation order; each can be found by its node.
class PendingReads {
 public:
  bool empty() const { return places_.empty(); }
  void Add(PendingRead read);
  // Removes and returns the pending read of that node, if there is one.
  std::optional<PendingRead> Take(TraceBody* body, NodeId node);
  std::vector<PendingRead> TakeAll();

 private:
  std::vector<PendingRead> reads_;  // includes taken reads until all are taken
  llvm::DenseMap<std::pair<TraceBody*, NodeId>, size_t> places_;
};

struct TracedVariables {
  void Add(std::unique_ptr<TracedVariable> variable);
  TracedVariable* Find(llvm::StringRef name, llvm::StringRef container) const;

  std::vector<std::unique_ptr<TracedVariable>> all;  // in creation order
  llvm::StringMap<TracedVariable*> by_name;          // key: container, a zero byte, name
  PendingReads pending;
  int epoch = 0;  // number of the model's current function: each may declare the same variables
  bool captures = false;
  bool is_model = false;  // each call of the main graph is a run of its own: calls are not ordered
};

// Names the pending reads among the inputs of a new op in the op's name scope, and gives them its
// line.
void NamePendingReads(TraceState& state, llvm::ArrayRef<Value> inputs, const SourceLocation& where);
// NameReadHere names the pending read of `value`, NameOtherReads all pending reads that are left,
// in the name scopes where the variables were read. NameReadHere is for operands of operators (the
// left one, or the right one beside a number), NameOtherReads for results: TensorFlow reads these
// variables before it opens the scope of the op that takes their values.
void NameReadHere(TraceState& state, const Value& value);
void NameOtherReads(TraceState& state);
// If CaptureVariables was called, replaces the handles of variables with placeholders.
void FinishVariables(TraceState& state);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TRACED_VARIABLES_H_
