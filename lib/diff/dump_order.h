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
  // The name of the stage's line: the stages of the same graph have the same `line`. If the line's
  // graph was derived from that of another line (it is a partition, or the result of all Grappler
  // passes), `from_line` names the other line.
  std::string line, from_line;
  std::string stage;  // "after model_pruner, iteration 0"
  // For a loose stage (lib/diff/dump_lines.h) `line` is a guess. `turn`: how many earlier files
  // have this file's name, apart from the number in it; `when`: 0 if the dump is from before the
  // pass in its name, 2 from after, 1 if the name does not say.
  bool is_loose = false;
  bool is_in_log = false;
  int turn = 0, when = 1;
};

// Returns a stage for every file that may contain a graph. `log` is TensorFlow's stderr or empty.
// Files that the log mentions ("Dumped Graph to") come in the log's order. Other files:
//   NAME.NNNN.GROUP.TAG              by number; the stages of a partition come after those of the
//                                    whole graph. Each instance of a function has its own line.
//   after_MetaOptimizer_..._ID_K     a run belongs to the line whose before_graph_optimization it
//                                    starts from, directly after it; see lib/diff/meta_runs.h
//   any other name, .pb or .pbtxt    loose: after the others, until JoinLines has read its graph
std::vector<DumpStage> OrderDumps(llvm::ArrayRef<std::string> files, llvm::StringRef log,
                                  ContentOf content);

// True if the names of two files in one directory are those of dumps of the same graph at two
// stages of one run, so that a name means the same node in both. The names of dumps of Grappler's
// passes do not say which graph it is: such dumps count if at least half of the smaller graph's
// nodes have their names in the other graph.
bool AreStagesOfOneRun(llvm::StringRef path_a, const Module& a, llvm::StringRef path_b,
                       const Module& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_ORDER_H_
