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

// Pairs of places in the two lists, in A's order; each variable is in one pair at most, and those
// of a pair have one shape. Variables are the same that nodes of one name read at the same input of
// a body; then those to which the same names of objects lead, and those of one name, in its layer
// at least. Where layers were numbered and may have been numbered anew, nodes count that `diff`
// matches and that read them at the same input; names have the last word. What the saver does with
// variables says nothing, nor does the order in which a function captures them.
std::vector<std::pair<size_t, size_t>> PairVariables(const VariableSide& a, const VariableSide& b,
                                                     const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_VARIABLE_PAIRS_H_
