// What TensorFlow's last pass does to If and Case: it opens their branches as regions of the node,
// and makes functions of them again.
#ifndef GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_
#define GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_

#include "lib/pass/editor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// A conditional's arguments come in the order in which its branches first read them, each tensor
// once, and none that no branch reads. Who waits for an argument reads the first tensor of the node
// that gives it. Where they did so already its functions stay; else each
// branch gets one of its own, f_tfg_region_specialized_NODE_NUMBER, whose arguments and nodes are
// called as TensorFlow calls them. `ranks_of` gives the order of a body's nodes, as Editor::ranks
// does.
void OrderBranchArguments(Editor& edit,
                          llvm::function_ref<llvm::ArrayRef<uint32_t>(const Function&)> ranks_of);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BRANCH_ARGUMENTS_H_
