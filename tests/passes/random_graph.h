// Random graphs made from a seed, of ops that the rules know: for differential tests.
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
  // The largest magnitude of a fetched value and of all values that it is computed from: the scale
  // of its rounding errors.
  std::vector<double> magnitudes;
};

// Deterministic in the seed. Every value is finite for placeholders in [-2, 2], and none depends on
// a rounding error (no comparison or truncation of a computed float).
RandomGraph MakeRandomGraph(uint64_t seed);

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_PASSES_RANDOM_GRAPH_H_
