// A job: the variables and constants of two models beside each other.
#ifndef GRAPNEL_LIB_JOB_MODEL_VALUES_H_
#define GRAPNEL_LIB_JOB_MODEL_VALUES_H_

#include "lib/diff/value_diff.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

// DiffValues of both, with their checkpoints opened. `diff` is of the graphs as they were opened.
Expected<ValueReport> CompareModelValues(const OpenedGraph& a, const OpenedGraph& b,
                                         const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MODEL_VALUES_H_
