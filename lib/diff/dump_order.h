// Finds the order in which dumps were written, from a log or from the file names.
#ifndef GRAPNEL_LIB_DIFF_DUMP_ORDER_H_
#define GRAPNEL_LIB_DIFF_DUMP_ORDER_H_

#include <string>
#include <vector>

#include "lib/diff/meta_runs.h"
#include "lib/ir/module.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct DumpStage {
  std::string file;
  // Stages with one `line` are of one graph. A line derived from another (a partition, or the
  // result of all of Grappler) names that one in `from_line`.
  std::string line, from_line;
  std::string stage;  // "after model_pruner, iteration 0"
  // For a loose stage (lib/diff/dump_lines.h) `line` is a guess. `turn`: how often the name
  // occurred before; `when`: 0 before, 1 in, 2 after the pass that the name gives.
  bool is_loose = false;
  bool is_in_log = false;
  int turn = 0, when = 1;
};

// Returns a stage for every file that may hold a graph. `log` is TensorFlow's stderr or empty.
// Files that a line of it names ("Dumped Graph to") come in the log's order. Without a log:
//   NAME.NNNN.GROUP.TAG              by number; a partition's after those of the graph it is of. A
//                                    function that TensorFlow instantiates again has another line
//                                    for each instance.
// after_MetaOptimizer_..._ID_K     a run belongs to the line whose before_graph_optimization it
//                                    starts from, and follows it; see lib/diff/meta_runs.h
//   any other name, .pb or .pbtxt    loose: after the others, until JoinLines has read its graph
std::vector<DumpStage> OrderDumps(llvm::ArrayRef<std::string> files, llvm::StringRef log,
                                  ContentOf content);

// True if two files are, by their names, dumps of one graph at two stages of one run, so that names
// identify nodes in both. Names of dumps of Grappler's passes do not tell the graph: those count if
// one graph has at least half of the other's nodes.
bool AreStagesOfOneRun(llvm::StringRef path_a, const Module& a, llvm::StringRef path_b,
                       const Module& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_ORDER_H_
