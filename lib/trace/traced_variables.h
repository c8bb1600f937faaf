// What a Tracer keeps of variables. Private to lib/trace.
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
  NodeId handle = kNoNode;  // of the main graph
  Value eager_handle;       // in eager mode
  int epoch = 0;            // the function that made it last
};

// A ReadVariableOp that the op that takes it will name; left alone, it is named in the scope where
// it was read.
struct PendingRead {
  TraceBody* body;
  NodeId node;
  std::string scope;
};

// In the order made; each is found by its node.
class PendingReads {
 public:
  bool empty() const { return places_.empty(); }
  void Add(PendingRead read);
  // The one of that node, which is pending no more; nothing: there is none.
  std::optional<PendingRead> Take(TraceBody* body, NodeId node);
  std::vector<PendingRead> TakeAll();

 private:
  std::vector<PendingRead> reads_;  // those that were taken too, until none is left
  llvm::DenseMap<std::pair<TraceBody*, NodeId>, size_t> places_;
};

struct TracedVariables {
  void Add(std::unique_ptr<TracedVariable> variable);
  TracedVariable* Find(llvm::StringRef name, llvm::StringRef container) const;

  std::vector<std::unique_ptr<TracedVariable>> all;  // in the order made; Add adds to them
  llvm::StringMap<TracedVariable*> by_name;          // container, a zero byte, name
  PendingReads pending;
  int epoch = 0;  // counts functions of a model: each may name the same variables
  bool captures = false;
  bool is_model = false;  // calls of the main graph are each a run of its own: no order among them
};

// Names the reads among the inputs of an op that is being made, in its scope; they are of its line.
void NamePendingReads(TraceState& state, llvm::ArrayRef<Value> inputs, const SourceLocation& where);
// Names one, or all that are left, in the scopes where they were read: left sides of operators and
// results.
void NameReadHere(TraceState& state, const Value& value);
void NameOtherReads(TraceState& state);
// SourceLocation CaptureVariables asked for it, handles become placeholders.
void FinishVariables(TraceState& state);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TRACED_VARIABLES_H_
