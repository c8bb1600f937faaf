// Reads and writes the variables of a session by name, and checkpoints of all of them.
#ifndef GRAPNEL_LIB_JOB_SESSION_VALUES_H_
#define GRAPNEL_LIB_JOB_SESSION_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/exec/session.h"
#include "lib/ir/module.h"
#include "lib/trace/variable.h"

namespace grapnel {

// Returns "float[2,3]", or "float" for a scalar.
std::string TypeAndShape(DataType dtype, const Shape& shape);

// Returns the variable's value; an empty tensor if there is no such variable, or it has no value.
Tensor ValueOfVariable(const Session& session, llvm::StringRef container, llvm::StringRef name);
// Assigns a value. Errors: the value has another dtype or shape than the variable; another resource
// has the variable's name.
Error SetVariable(Session& session, const VariableInfo& variable, const Tensor& value);
// Sets the initial values of those variables that have no value yet.
Error SetInitialValues(Session& session, llvm::ArrayRef<VariableInfo> variables);
// Returns the main graph's variables in graph order, each only once: those with handles
// (VarHandleOp) and reference variables (Variable, VariableV2). Their initial values are not set.
std::vector<VariableInfo> VariablesOfGraph(const Graph& main);

// The key of the training step in a checkpoint.
inline constexpr llvm::StringLiteral kStepKey = "grapnel/step";
// Writes the variables under their names, and `step` under kStepKey, so that
// tf.train.load_checkpoint can read them. Whenever the process is killed, the checkpoint with that
// prefix is complete: the old or the new one. Errors: a variable has no value; a file cannot be
// written.
Error WriteCheckpoint(const Session& session, llvm::ArrayRef<VariableInfo> variables, int64_t step,
                      llvm::StringRef prefix);
// Reads a checkpoint into the session's variables; returns the step. Errors, which leave the
// session unchanged: an unreadable checkpoint; a checkpoint of another model (lists the
// differences); a checkpoint without a step.
Expected<int64_t> ReadCheckpoint(Session& session, llvm::ArrayRef<VariableInfo> variables,
                                 llvm::StringRef prefix);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SESSION_VALUES_H_
