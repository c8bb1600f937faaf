// Writes a diff as text.
#ifndef GRAPNEL_LIB_DIFF_DIFF_TEXT_H_
#define GRAPNEL_LIB_DIFF_DIFF_TEXT_H_

#include "lib/diff/diff.h"
#include "lib/diff/python_functions.h"
#include "lib/diff/renames.h"
#include "lib/diff/statistics.h"
#include "lib/ir/short_names.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct DiffTextOptions {
  bool color = false;
  bool all = false;  // every change, and values in full
  // If not empty, functions are grouped by Python function (see ChangesByPythonFunction).
  llvm::ArrayRef<PythonFunctionChanges> functions = {};
  const ShortNames* names = nullptr;  // shortens long names; null: names are printed in full
};

// Writes a line for each change, under its scope; the scope's line counts all changes in it:
//   block_1/  1 removed, 2 changed
//     - bias (BiasAdd)  reads conv, b; read by relu
//     ~ conv (Conv2D)  strides: [1,1,1,1] -> [1,2,2,1]
// Unless `all` is set, writes one line for a scope with a single change, and usually for one with
// only removals or only additions; shows only the first few of similar changes, and ends with the
// number of the rest. Also lists the inlined calls and Diff::counted.
void WriteDiffText(const Diff& diff, const DiffTextOptions& options, llvm::raw_ostream& os);

// Writes the renamed scopes and nodes: the six entries with the most nodes, or all:
//   renamed                nodes
//   stem     -> entry_conv     9
void WriteRenames(llvm::ArrayRef<Rename> renames, bool all, llvm::raw_ostream& os);

// Counts how nodes of the main graph were removed, the fused nodes, the nodes of the main graph
// whose op changed, the inlined calls, and Diff::counted: "14 merged, 1 pruned, 6 calls inlined
// (170 nodes), 254 placed on cpu:0".
std::string DiffRemark(const Diff& diff);

// Returns "5 removed, 1 added, 2 changed, 1 replaced, 90 the same", followed by the remark if nodes
// were matched by name, or "the same: 90 nodes".
std::string DiffSummary(const Diff& diff);

// Writes, for both graphs, the numbers of nodes and functions, the bytes of constants, the FLOPs if
// counted, and the counts of the ops whose number differs.
void WriteStatistics(const DiffStatistics& statistics, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_TEXT_H_
