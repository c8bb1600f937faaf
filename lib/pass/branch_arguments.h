// Imitates the last pass of TensorFlow on If and Case: it converts their branches to regions of the
// node, and back to functions.
#ifndef GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_
#define GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_

#include "lib/pass/editor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Reorders a conditional's arguments to the order in which its branches first read them, each
// tensor once, without those that no branch reads. A node that waits for an argument counts as
// reading the first tensor of the node outside that makes the argument. If the order is already
// right, the functions stay; else each branch gets a new function,
// f_tfg_region_specialized_NODE_NUMBER, whose arguments and nodes have TensorFlow's names.
// `ranks_of` returns the order of a body's nodes, as Editor::ranks does.
void OrderBranchArguments(Editor& edit,
                          llvm::function_ref<llvm::ArrayRef<uint32_t>(const Function&)> ranks_of);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_
