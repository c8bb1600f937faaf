// A job: compares the variables and constants of two models.
#ifndef GRAPNEL_LIB_JOB_MODEL_VALUES_H_
#define GRAPNEL_LIB_JOB_MODEL_VALUES_H_

#include "lib/diff/value_diff.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// Opens the checkpoints of both models and returns DiffValues of the models. `diff` is the diff of
// the unmodified graphs.
Expected<ValueReport> CompareModelValues(const OpenedGraph& a, const OpenedGraph& b,
                                         const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MODEL_VALUES_H_
