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

// How values are made up.
struct MadeUp {
  int64_t open_size = 2;  // the size used for an unknown dimension
  // Negate the generated numbers, so that two trials cover both signs of each element. Integers and
  // strings have a flag of their own, since many are indices.
  bool negative = false, negative_integers = false;
  // Set: every fourth float is, in turn, a NaN, an infinity, its negative, -0 or a number that most
  // sums and products overflow with, from this one of them on.
  std::optional<int> first_not_finite = std::nullopt;
};

// Values for every Placeholder that `given` leaves out, after it in the order of the graph: the
// same for the same name, dtype and shape. Floats lie in (-2, 2) and are never 0, integers in [0,
// 4), strings are short numbers; of an unknown rank a scalar. Errors: resources and variants.
Expected<std::vector<FedValue>> CompleteFeeds(const Graph& graph, std::vector<FedValue> given,
                                              const MadeUp& how = {});

// What a graph is tried on.
struct Trial {
  std::string name;             // "odd open sizes"; "" of values that are like any others
  std::vector<MadeUp> choices;  // the first on which the graph runs as it is
  bool is_extra = false;        // left out in silence where the graph does not run on it
  bool varies_sizes = false;    // it is what open sizes are that matters
};

// Open sizes as an even number, as 1, as an odd number and as 0; values of either sign. Each where
// it makes a difference to what is fed beside `given`.
std::vector<Trial> TrialsOf(const Graph& graph, const std::vector<FedValue>& given);
// Values that are not finite, or overflow: on those TensorFlow's own rewrites give others, too.
std::vector<Trial> WildTrialsOf(const Graph& graph, const std::vector<FedValue>& given);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_TRIALS_H_
