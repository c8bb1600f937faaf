// Graphs made up from a seed, out of the ops that the rules know: for differential tests.
#ifndef GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_H_
#define GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

struct RandomGraph {
  std::unique_ptr<Module> module;
  std::vector<std::string> fetches;
  // Largest magnitude that a fetched value, or anything that it is computed from, can have: the
  // scale of its rounding errors.
  std::vector<double> magnitudes;
};

// The same for the same seed. Every value is finite for placeholders in [-2, 2], and none hangs on
// a rounding error (no comparison or truncation of a computed float).
RandomGraph MakeRandomGraph(uint64_t seed);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_H_
