// Puts the values of variables into a graph, as constants.
#ifndef GRAPNEL_LIB_FUNCTION_FREEZE_H_
#define GRAPNEL_LIB_FUNCTION_FREEZE_H_

#include "lib/ir/literal.h"
#include "lib/ir/module.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The value of a variable (VarHandleOp, VariableV2) of the main graph. Errors name the variable.
using VariableValue = llvm::function_ref<Expected<Literal>(const Node& variable)>;

// Every variable of the main graph becomes a Const of its name, and what reads it through its
// handle takes the value instead: reads, gathers and shapes become ops on values, and loops,
// branches and calls hand values on, in the functions that they call too, whose arguments change
// their dtypes. Nodes keep their names. Done before passes run, so no ledger speaks of it. Errors,
// after which the module must not be used: a variable is written, or its handle goes where no value
// can; each names variable and node. Linear in the module and the values.
Error FreezeVariables(Module& module, VariableValue value);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_FUNCTION_FREEZE_H_
