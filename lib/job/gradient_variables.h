// The variables of a model that gradients can be taken with respect to.
#ifndef GRAPNEL_LIB_JOB_GRADIENT_VARIABLES_H_
#define GRAPNEL_LIB_JOB_GRADIENT_VARIABLES_H_

#include <string>
#include <vector>

#include "lib/job/opened_graph.h"

namespace grapnel {

bool IsReal(DataType dtype);  // half, bfloat16, float or double

// Returns for each node of the main graph, by id, whether one of the tensors needs it.
std::vector<bool> NodesNeededBy(const Graph& main, llvm::ArrayRef<std::string> tensors);

struct GradientVariable {
  Node node;  // a VarHandleOp of the main graph
  // If it is needed, as the program names it ("dense/kernel"), unless several needed variables have
  // that name; otherwise the node's name, which may have a counter ("dense/kernel_1").
  std::string label;
  bool is_needed = false;  // one of the ys needs it
};

// Returns the floating-point resource variables: those that the ys need, then the others, each in
// the order of their nodes. The others of a SavedModel are those of other signatures, of an
// optimizer, and copies for the saver. `ys` are tensors of the main graph.
std::vector<GradientVariable> GradientVariables(const OpenedGraph& opened,
                                                llvm::ArrayRef<std::string> ys);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_GRADIENT_VARIABLES_H_
