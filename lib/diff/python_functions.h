// Groups the changes of a diff by Python function. A library names traces by numbers that differ
// between processes, and has a forward and a backward function for many of them. A user who
// compares two libraries wants to know what changed in train_step, not in
// __inference_train_step_221.
#ifndef GRAPNEL_LIB_DIFF_PYTHON_FUNCTIONS_H_
#define GRAPNEL_LIB_DIFF_PYTHON_FUNCTIONS_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/library/function_library.h"

namespace grapnel {

struct ChangeCounts {
  size_t removed = 0, added = 0, changed = 0, replaced = 0, same = 0;  // nodes; replaced: groups
  bool Any() const { return removed + added + changed + replaced > 0; }
};

// A function of the library of either graph.
struct FunctionChanges {
  std::string a, b;  // empty: only the other graph has it
  FunctionRole role = FunctionRole::kPlain;
  std::optional<int64_t> number_a, number_b;  // of the traces
  ChangeCounts counts;
  bool is_changed = false;  // its signature or attributes differ
  bool Same() const { return !counts.Any() && !is_changed && !a.empty() && !b.empty(); }
};

// One Python function, or the parts of one op: a row of the library (lib/library).
struct PythonFunctionChanges {
  std::string name;                        // "train_step"
  FunctionRole role;                       // kTrace for all that Python traced as functions
  std::vector<FunctionChanges> functions;  // traces of A by number, then what is made of them
  ChangeCounts counts;                     // of all of them
  // True if the heading says more than the name of its one function.
  bool HasTraces() const { return functions.size() > 1 || role == FunctionRole::kTrace; }
  // "train_step (trace 221 -> 245, 430 only in A)".
  std::string Title() const;
};

// Returns the rows of A in the library's order, each with its counterparts of B, then rows that
// only B has. `diff` compares `a` with `b`. Linear.
std::vector<PythonFunctionChanges> ChangesByPythonFunction(const Diff& diff, const Module& a,
                                                           const Module& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_PYTHON_FUNCTIONS_H_
