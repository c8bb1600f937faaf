// Values of variables in a session by name, and checkpoints of all of them.
#ifndef GRAPNEL_LIB_JOB_SESSION_VALUES_H_
#define GRAPNEL_LIB_JOB_SESSION_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/exec/session.h"
#include "lib/ir/module.h"
#include "lib/trace/variable.h"

namespace grapnel {

// "float[2,3]", "float".
std::string TypeAndShape(DataType dtype, const Shape& shape);

// An empty tensor: it has none, or there is no such variable.
Tensor ValueOfVariable(const Session& session, llvm::StringRef container, llvm::StringRef name);
// Errors: the value is of another dtype or shape than the variable.
Error SetVariable(Session& session, const VariableInfo& variable, const Tensor& value);
// Initial values, of those variables that have no value yet.
Error SetInitialValues(Session& session, llvm::ArrayRef<VariableInfo> variables);
// The variables of the main graph that have handles (VarHandleOp), in its order, and those that are
// nodes themselves (VariableV2); no initial values.
std::vector<VariableInfo> VariablesOfGraph(const Graph& main);

// Writes the variables under their names, and `step` under kStepKey, so that
// tf.train.load_checkpoint reads them. Whenever the process is ended, a checkpoint of that prefix
// is whole. Errors: a variable has no value.
inline constexpr llvm::StringLiteral kStepKey = "grapnel/step";
Error WriteCheckpoint(const Session& session, llvm::ArrayRef<VariableInfo> variables, int64_t step,
                      llvm::StringRef prefix);
// Reads them back; gives the step. A checkpoint of another model changes nothing, and is an error
// that names what one has and the other lacks; so is a checkpoint without a step.
Expected<int64_t> ReadCheckpoint(Session& session, llvm::ArrayRef<VariableInfo> variables,
                                 llvm::StringRef prefix);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_SESSION_VALUES_H_
