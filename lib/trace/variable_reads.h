// Finds variables that ops read, also through the functions that they call. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_VARIABLE_READS_H_
#define GRAPNEL_LIB_TRACE_VARIABLE_READS_H_

#include "lib/ir/module.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// True for an op that reads a variable or rows of it; input 0 is the handle.
bool ReadsVariable(const Node& node);

// Finds the dtype that a function reads from a variable. Use an object for one question: a function
// that was searched is not searched again, because functions may call themselves.
class VariableReads {
 public:
  explicit VariableReads(const Module& module) : module_(module) {}

  // Returns the dtype that `function` reads from the variable whose handle is argument `arg`;
  // DT_INVALID if it does not read the variable.
  DataType InFunction(const Function& function, size_t arg);
  // The same for the functions that `call`, such as a PartitionedCall, If or While, calls. Input
  // `slot` is the handle.
  DataType InCallees(const Node& call, size_t slot);

 private:
  DataType Below(const Graph& body, NodeId handle);

  const Module& module_;
  llvm::DenseSet<std::pair<const Function*, size_t>> seen_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_VARIABLE_READS_H_
