// A diff for people.
#ifndef GRAPNEL_LIB_DIFF_DIFF_TEXT_H_
#define GRAPNEL_LIB_DIFF_DIFF_TEXT_H_

#include "lib/diff/diff.h"
#include "lib/diff/python_functions.h"
#include "lib/diff/renames.h"
#include "lib/diff/statistics.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct DiffTextOptions {
  bool color = false;
  bool all = false;  // every change, and values in full
  // If set, functions are grouped by Python function (ChangesByPythonFunction).
  llvm::ArrayRef<PythonFunctionChanges> functions = {};
};

// One line a change, under its scope, whose own line counts all that changed in it:
//   block_1/  1 removed, 2 changed
//     - bias (BiasAdd)  reads conv, b; read by relu
//     ~ conv (Conv2D)  strides: [1,1,1,1] -> [1,2,2,1]
// Of changes that are alike only the first few are shown, and the rest counted. Ends with the sums.
void WriteDiffText(const Diff& diff, const DiffTextOptions& options, llvm::raw_ostream& os);

// Scopes under new names, the six of most nodes or all:
//   renamed                nodes
//   stem     -> entry_conv     9
void WriteRenames(llvm::ArrayRef<Rename> renames, bool all, llvm::raw_ostream& os);

// Counts of fates and of shared changes: "14 merged, 1 pruned, 6 calls opened (170 nodes), 254
// placed on cpu:0". Empty where names did not decide.
std::string DiffRemark(const Diff& diff);

// "5 removed, 1 added, 2 changed, 1 replaced, 90 the same".
std::string DiffSummary(const Diff& diff);

// Nodes, constants, FLOPs and the ops whose number differs, of both graphs.
void WriteStatistics(const DiffStatistics& statistics, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_TEXT_H_
