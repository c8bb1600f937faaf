// tf.case: runs the first branch whose predicate is true. Tracer::Case is tf.switch_case.
#ifndef GRAPNEL_LIB_TRACE_PREDICATE_CASE_H_
#define GRAPNEL_LIB_TRACE_PREDICATE_CASE_H_

#include <functional>
#include <utility>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

using BranchFn = std::function<Values()>;
using PredicateBranch = std::pair<Value, BranchFn>;  // the predicate: a bool scalar

// Branches return the same number of values, of the same dtypes. If no predicate is true,
// `otherwise` runs; if `otherwise` is empty, the run fails. With `exclusive`, the run also fails if
// more than one predicate is true; without `otherwise`, the last predicate does not count there, as
// in TensorFlow.
//
//   PredicateCase(t,
//                 {{x < 0.0f, [&] { return Values{-x}; }}, {x > 1.0f, [&] { return Values{x}; }}},
//                 [&] { return Values{x * x}; })[0]
GRAPNEL_PUBLIC Values PredicateCase(Tracer& t, const std::vector<PredicateBranch>& branches,
                                    const BranchFn& otherwise = {}, bool exclusive = false,
                                    SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_PREDICATE_CASE_H_
