// Pairs the variables of two models. For lib/diff/value_diff.cpp.
#ifndef GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
#define GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_

#include <utility>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/saved_variables.h"

namespace grapnel {

// The variables of one model that are compared.
struct VariableSide {
  const GraphInFile* graph;
  std::vector<SavedVariable> variables;  // with their objects' names and their values' shapes
};

// Returns pairs of indices in the two lists, in A's order; each variable is in at most one pair,
// and both variables of a pair have one shape. First pairs variables that nodes of one name read at
// the same input of a body; then those with the same object names, and those of one name, at least
// within its layer. If layers were numbered and the numbers may have changed, matched nodes in
// `diff` that read them at the same input count first, then names. The saver's reads do not count,
// nor does the order in which a function captures variables.
std::vector<std::pair<size_t, size_t>> PairVariables(const VariableSide& a, const VariableSide& b,
                                                     const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
