// By how much the variables and constants of two models differ.
#ifndef GRAPNEL_LIB_DIFF_VALUE_DIFF_H_
#define GRAPNEL_LIB_DIFF_VALUE_DIFF_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/bundle.h"
#include "lib/io/open.h"
#include "lib/ir/literal.h"

namespace grapnel {

// Of two tensors of one dtype and shape.
struct ValueDistance {
  int64_t elements = 0, differing = 0;
  // Of numbers (of complex ones the real parts): the largest difference, and the length of the
  // difference over that of the first. Where either is NaN or infinite and they are not alike, the
  // largest is infinite. Strings have neither.
  double largest = 0, relative = 0;
  int64_t not_finite_a = 0, not_finite_b = 0;
};
ValueDistance DistanceOf(const Literal& a, const Literal& b);

struct ValueDiff {
  std::string a, b;  // what the variable or constant is called; empty: only the other has it
  std::string type;  // "float[3,3,8,16]", of A; where they differ "float[8] -> float[16]"
  ValueDistance distance;
  std::string problem;  // why no values were compared
};

struct ValueReport {
  // Whether a model has variables and comes without values of any: then none was compared.
  bool lacks_a = false, lacks_b = false;
  size_t compared = 0, same = 0;
  std::vector<ValueDiff> different;  // the relative difference largest first
  bool Same() const { return different.empty() && !lacks_a && !lacks_b; }
};

// A model and where its variables are; without a bundle it has constants alone.
struct ValueSide {
  const GraphInFile* graph;
  Bundle* bundle;
};

// Variables that both models have (lib/diff/variable_pairs.h), those of one model alone (which are
// different), and constants whose values `diff` says are changed, without those of the saver, which
// describe the file. Errors: a checkpoint that cannot be read, or
// is none of the model's. Reads all values once.
Expected<ValueReport> DiffValues(const ValueSide& a, const ValueSide& b, const Diff& diff);

// "A comes without the values of its variables"; empty: both have them.
std::string WhyNotCompared(const ValueReport& report, llvm::StringRef a = "A",
                           llvm::StringRef b = "B");

// A table of at most `limit` lines, and a line that counts.
void WriteValueReport(const ValueReport& report, size_t limit, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_VALUE_DIFF_H_
