// Freezes a graph: replaces variables with constants.
#ifndef GRAPNEL_LIB_FUNCTION_FREEZE_H_
#define GRAPNEL_LIB_FUNCTION_FREEZE_H_

#include "lib/ir/literal.h"
#include "lib/ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Returns the value of a variable (see IsVariable) of the main graph. Errors name the variable.
using VariableValue = llvm::function_ref<Expected<Literal>(const Node& variable)>;

// Turns every variable of the main graph into a Const with the same name. Readers of a variable's
// handle then take the value: reads, gathers and shapes become ops on values; a test whether it is
// initialized becomes the constant true; loops, branches and calls pass the value on, also in the
// functions that they call, whose arguments change their dtypes. Nodes keep their names; a
// ResourceGather gets a new constant, NAME/axis. Runs before the passes, so the ledger of rewrites
// does not record it. Errors name the variable, and in most cases a node, such as one that writes
// the variable or uses its handle where no value can be used. After an error the module must not be
// used. Linear in the module and the values.
Error FreezeVariables(Module& module, VariableValue value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_FREEZE_H_
