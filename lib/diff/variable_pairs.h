// Which variable of one model is which of another. For lib/diff/value_diff.cpp.
#ifndef GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
#define GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_

#include <utility>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/saved_variables.h"

namespace grapnel {

// The variables of one model that take part.
struct VariableSide {
  const GraphInFile* graph;
  std::vector<SavedVariable> variables;  // under their objects' names, with the shapes of values
};

// Pairs of places in the two lists, in A's order; each variable is in one pair at most, and those of
// a pair have one shape. Variables are the same that nodes which `diff` matches read at the same
// input, in the main graph or in a body; then those to which the same names of objects lead; then
// those of the same name, but for numbers and the model that a layer lies in. What the saver does
// with them says nothing, nor does the order in which a function captures them.
std::vector<std::pair<size_t, size_t>> PairVariables(const VariableSide& a, const VariableSide& b,
                                                     const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
