// Pairs the variables of two models. For lib/diff/value_diff.cpp.
#ifndef GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
#define GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_

#include <utility>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/saved_variables.h"

namespace grapnel {

// The variables of one model.
struct VariableSide {
  const GraphInFile* graph;
  std::vector<SavedVariable> variables;  // with names of objects and shapes of values
};

// Returns pairs of indices in the two lists, in A's order; each variable is in at most one pair,
// and both variables of a pair have the same shape. First pairs variables that nodes of the same
// name read at the same input; then those with the same path of object names, and those of the same
// name, at least within the layer. If layers are numbered and the numbers may have changed, prefers
// variables that nodes matched in `diff` read at the same input to those of the same name. Ignores
// reads by the saver, and the order in which a function captures variables.
std::vector<std::pair<size_t, size_t>> PairVariables(const VariableSide& a, const VariableSide& b,
                                                     const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
