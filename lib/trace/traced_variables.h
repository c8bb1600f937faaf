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

// A ReadVariableOp that will be named after the op that takes it; if no op does, it is named in the
// scope where it was read.
struct PendingRead {
  TraceBody* body;
  NodeId node;
  std::string scope;
};

// Pending reads, in creation order; each is found by its node.
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

// Names the pending reads among the inputs of a new op, in its scope and with its line.
void NamePendingReads(TraceState& state, llvm::ArrayRef<Value> inputs, const SourceLocation& where);
// Name the pending read of `value`, or all remaining reads, in the scopes where they were read. For
// left operands of operators, and for results.
void NameReadHere(TraceState& state, const Value& value);
void NameOtherReads(TraceState& state);
// If CaptureVariables was called, replaces the handles of variables with placeholders.
void FinishVariables(TraceState& state);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TRACED_VARIABLES_H_
