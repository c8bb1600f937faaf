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

// Returns "float[2,3]", or "float" for an unknown shape.
std::string TypeAndShape(DataType dtype, const Shape& shape);

// Returns the variable's value; an empty tensor if there is no such variable, or it has no value.
Tensor ValueOfVariable(const Session& session, llvm::StringRef container, llvm::StringRef name);
// Assigns a value. Errors: the value has another dtype or shape than the variable.
Error SetVariable(Session& session, const VariableInfo& variable, const Tensor& value);
// Sets the initial values of those variables that have no value yet.
Error SetInitialValues(Session& session, llvm::ArrayRef<VariableInfo> variables);
// Returns the main graph's variables with handles (VarHandleOp), in graph order, and its reference
// variables (VariableV2); without initial values.
std::vector<VariableInfo> VariablesOfGraph(const Graph& main);

// Writes the variables under their names, and `step` under kStepKey, so that
// tf.train.load_checkpoint can read them. Whenever the process is killed, the checkpoint with that
// prefix is complete: the old or the new one. Errors: a variable has no value.
inline constexpr llvm::StringLiteral kStepKey = "grapnel/step";
Error WriteCheckpoint(const Session& session, llvm::ArrayRef<VariableInfo> variables, int64_t step,
                      llvm::StringRef prefix);
// Reads a checkpoint into the session's variables; returns the step. Errors, which leave the
// session unchanged: a checkpoint of another model (lists the differences); a checkpoint without a
// step.
Expected<int64_t> ReadCheckpoint(Session& session, llvm::ArrayRef<VariableInfo> variables,
                                 llvm::StringRef prefix);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SESSION_VALUES_H_
