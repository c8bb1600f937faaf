// Generated feed values, chosen so that a wrong rewrite changes the result on some of them.
#ifndef GRAPNEL_LIB_CHECK_TRIALS_H_
#define GRAPNEL_LIB_CHECK_TRIALS_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/module.h"

namespace grapnel {

struct FedValue {
  std::string tensor;  // "x" or "x:0"
  Tensor value;
};

// How to generate values.
struct MadeUp {
  int64_t open_size = 2;  // the size used for an unknown dimension
  // Negate the generated numbers, so that two trials cover both signs of each element. Integers and
  // strings have a flag of their own, since many are indices.
  bool negative = false, negative_integers = false;
  // If set, every fourth float is, in turn, a NaN, an infinity, its negative, -0 or a number that
  // overflows in most sums and products, starting with this one of them.
  std::optional<int> first_not_finite = std::nullopt;
};

// Returns `given`, then values for every Placeholder that it lacks, in the order of the graph. The
// same name, dtype and shape give the same value. Floats are in (-2, 2) and never 0, integers in
// [0, 4), strings are short numbers; an unknown rank becomes a scalar. Errors: resources and
// variants.
Expected<std::vector<FedValue>> CompleteFeeds(const Graph& graph, std::vector<FedValue> given,
                                              const MadeUp& how = {});

// A set of feeds on which to try a graph.
struct Trial {
  std::string name;             // "odd open sizes"; "" for ordinary values
  std::vector<MadeUp> choices;  // the first on which the unchanged graph runs is used
  bool is_extra = false;        // skipped silently if the graph does not run on it
  bool varies_sizes = false;    // its purpose is to vary open sizes
};

// Returns trials with open sizes as an even number, as 1, as an odd number and as 0, and with
// values of either sign; only those that change the feeds beside `given`.
std::vector<Trial> TrialsOf(const Graph& graph, const std::vector<FedValue>& given);
// Returns trials with values that are not finite, or overflow. TensorFlow's own rewrites change
// their results too.
std::vector<Trial> WildTrialsOf(const Graph& graph, const std::vector<FedValue>& given);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_TRIALS_H_
