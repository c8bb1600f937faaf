// Compares the values of variables and constants of two models.
#ifndef GRAPNEL_LIB_DIFF_VALUE_DIFF_H_
#define GRAPNEL_LIB_DIFF_VALUE_DIFF_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/open.h"
#include "lib/ir/literal.h"

namespace grapnel {

// The distance between two tensors of the same dtype and shape.
struct ValueDistance {
  int64_t elements = 0, differing = 0;
  // For numbers that are not complex: the largest difference, and the norm of the difference
  // relative to that of the first tensor (infinite if the first is all zeros). If an element is NaN
  // or infinite and the other tensor's element is not the same, `largest` is infinite. 0 for
  // strings and complex numbers.
  double largest = 0, relative = 0;
  int64_t not_finite_a = 0, not_finite_b = 0;
};
ValueDistance DistanceOf(const Literal& a, const Literal& b);

struct ValueDiff {
  std::string a, b;  // names of the variable or constant; empty: only the other model has it
  std::string type;  // "float[3,3,8,16]"; where they differ "float[8] -> float[16]"
  ValueDistance distance;
  std::string problem;  // why no values were compared
  Node in_b = {};       // the variable or constant in B; none if only A has it
  // The name of the variable in the program, if that is another one: "dense1/kernel".
  std::string name = {};
};
// Returns "3 of 12 elements differ, by up to 0.25", or the problem.
std::string DistanceText(const ValueDiff& one);

struct ValueReport {
  // True if a model has variables but no values for them; then no variable is compared.
  bool lacks_a = false, lacks_b = false;
  size_t compared = 0, same = 0;
  std::vector<ValueDiff> different;  // largest relative difference first
  bool Same() const { return different.empty() && !lacks_a && !lacks_b; }
};

// A model and the checkpoint of its variables (VariableValues::Open).
struct ValueSide {
  const GraphInFile* graph;
  llvm::StringRef checkpoint;
};

// Compares the variables that both models have (lib/diff/variable_pairs.h), and constants of the
// same rank whose values `diff` lists as changed. A variable that only one model has counts as
// different. Skips the saver's constants, which describe the checkpoint file. Errors: a checkpoint
// that cannot be read or does not belong to the model; a matched constant whose value was left out
// of the graph. Reads the compared values once.
Expected<ValueReport> DiffValues(const ValueSide& a, const ValueSide& b, const Diff& diff);

// Returns "A comes without the values of its variables"; empty if no values are missing.
std::string WhyNotCompared(const ValueReport& report, llvm::StringRef a = "A",
                           llvm::StringRef b = "B");

// Returns the variables and constants of B whose values differ.
std::vector<Node> DifferentInB(const ValueReport& report);

// Returns "values: 3 differ, 5 the same".
std::string ValuesSummary(const ValueReport& report);

// Writes a table of at most `limit` differences; lines for variables whose type changed, and for
// variables that could not be compared; and a line with the counts.
void WriteValueReport(const ValueReport& report, size_t limit, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_VALUE_DIFF_H_
