// Generates values for feeds, chosen so that a wrong rewrite is likely to change an output.
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
  // negative: generated floats are negated and bools inverted. negative_integers: signed integers
  // and strings are negated; they have a flag of their own, since many of them are indices. So two
  // trials cover both signs of each element.
  bool negative = false, negative_integers = false;
  // If set, elements 0, 4, 8, ... of each float or complex tensor are, in turn, NaN, infinity,
  // -infinity, -0 and 3e38, which overflows in most sums and products of floats. The value of this
  // field is the index, from 0, of the one in that list that element 0 gets.
  std::optional<int> first_not_finite = std::nullopt;
};

// Returns `given`, followed by generated values for every other Placeholder and PlaceholderV2, in
// the order of the graph. For the same `how`, a value depends only on the placeholder's name, dtype
// and shape. Unless `how` says otherwise, floats are in [-127/64, 127/64] and never 0, integers in
// [0, 4), and strings are numbers below 100; a placeholder of unknown rank gets a scalar. Errors:
// the graph lacks the tensor of a given feed; a placeholder has a dtype of no fixed size, such as
// resource, or more than 2^30 elements.
Expected<std::vector<FedValue>> CompleteFeeds(const Graph& graph, std::vector<FedValue> given,
                                              const MadeUp& how = {});

// A set of feeds with which to run a graph.
struct Trial {
  std::string name;             // "odd open sizes"; "" for ordinary values
  std::vector<MadeUp> choices;  // the first one with which the unchanged graph runs is used
  // skipped silently if the unchanged graph does not run with it (ValueCheck accepts a failed
  // assertion)
  bool is_extra = false;
  bool varies_sizes = false;  // the purpose of the trial is to vary open sizes
};

// Returns trials in which the open sizes (sizes of unknown dimensions) are an even number, 1, an
// odd number and 0, and a trial with negated values. Omits trials that would not change the
// generated feeds.
std::vector<Trial> TrialsOf(const Graph& graph, const std::vector<FedValue>& given);
// Returns trials with values that are not finite, or that overflow. TensorFlow's own rewrites may
// change the outputs for such values too.
std::vector<Trial> WildTrialsOf(const Graph& graph, const std::vector<FedValue>& given);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_TRIALS_H_
