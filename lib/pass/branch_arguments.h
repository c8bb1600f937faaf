// Imitates what TensorFlow's last pass does to If and Case nodes: it converts their branches from
// functions to MLIR regions of the node, and back, which reorders and renames the functions'
// arguments.
#ifndef GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_
#define GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_

#include "lib/pass/editor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Reorders the arguments of each If and Case to the order in which the branches first read them:
// each tensor appears once, and a tensor that no branch reads is dropped. A node in a branch that
// waits for an argument counts as a reader of output 0 of the node, outside the branch, that
// produces the argument. If the order is already right, the branch functions stay; otherwise each
// branch gets a new function, f_tfg_region_specialized_NODE_NUMBER, whose arguments and nodes have
// TensorFlow's names. Leaves a node unchanged if a branch is not in the library or does not have
// one argument of a fixed dtype for each input. `ranks_of` returns the order of a function's nodes,
// as Editor::ranks does.
void OrderBranchArguments(Editor& edit,
                          llvm::function_ref<llvm::ArrayRef<uint32_t>(const Function&)> ranks_of);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_
