// Groups the changes of a diff by Python function. The name of a trace contains a number that
// differs between processes, and many Python functions have a forward and a backward function
// besides the trace. A user who compares two libraries wants to know what changed in train_step,
// not in __inference_train_step_221.
#ifndef GRAPNEL_LIB_DIFF_PYTHON_FUNCTIONS_H_
#define GRAPNEL_LIB_DIFF_PYTHON_FUNCTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/library/function_library.h"

namespace grapnel {

struct ChangeCounts {
  // Numbers of nodes; `replaced` counts groups.
  size_t removed = 0, added = 0, changed = 0, replaced = 0, same = 0;
  bool Any() const { return removed + added + changed + replaced > 0; }
};

// A function in the library of either graph.
struct FunctionChanges {
  std::string a, b;  // names; empty: only the other graph has the function
  FunctionRole role = FunctionRole::kPlain;
  std::optional<int64_t> number_a, number_b;  // the numbers of the traces
  ChangeCounts counts;
  bool is_changed = false;  // attributes, control outputs or (if compared) names differ
  bool Same() const { return !counts.Any() && !is_changed && !a.empty() && !b.empty(); }
};

// A row of the function library (lib/library): one Python function with all its traces, or all
// functions that are the same part of an op, such as the bodies of a While.
struct PythonFunctionChanges {
  std::string name;                        // "train_step"
  FunctionRole role;                       // kTrace includes forward and backward functions
  std::vector<FunctionChanges> functions;  // A's in the library's order, then those only in B
  ChangeCounts counts;                     // of all these functions
  // True if the title says more than the name of the row's only function.
  bool HasTraces() const { return functions.size() > 1 || role == FunctionRole::kTrace; }
  // Returns "train_step (trace 221 -> 245, 430 only in A)".
  std::string Title() const;
};

// Returns the rows of A in the library's order, each with its counterparts in B, then rows that
// only B has. `diff` must be the comparison of `a` with `b`. Linear.
std::vector<PythonFunctionChanges> ChangesByPythonFunction(const Diff& diff, const Module& a,
                                                           const Module& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_PYTHON_FUNCTIONS_H_
