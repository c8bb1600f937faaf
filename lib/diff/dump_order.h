// The order in which dumps were written, from a log or from what the files are called.
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
  // Stages of one line tell one graph's story; a line that came out of another (a partition, the
  // result of all of Grappler) names it.
  std::string line, from_line;
  std::string stage;  // "after model_pruner, iteration 0"
  // Of a loose one (lib/diff/dump_lines.h) `line` is a guess. `turn`: how often the name came
  // before; `when`: 0 before, 1 in, 2 after what the name says.
  bool is_loose = false;
  bool is_in_log = false;
  int turn = 0, when = 1;
};

// Every file that may hold a graph. `log` is TensorFlow's stderr or empty: files whose lines
// ("Dumped Graph to") it has come in its order. Without it:
//   NAME.NNNN.GROUP.TAG              by number; a partition's after those of the graph it is of. A
//                                    function that TensorFlow instantiates again has another line
//                                    for each instance.
//   after_MetaOptimizer_..._ID_K     a run is part of the line whose before_graph_optimization it
//                                    starts from, and follows it; see lib/diff/meta_runs.h
//   any other name, .pb or .pbtxt    loose: after the others, until JoinLines has seen its graph
std::vector<DumpStage> OrderDumps(llvm::ArrayRef<std::string> files, llvm::StringRef log,
                                  ContentOf content);

// Whether two files are, by their names, dumps of one graph at two stages of one run, so that a
// node is the one of its name in both. Dumps of Grappler's passes do not say whose they are: those
// count where at least half of the nodes of one graph are in the other.
bool AreStagesOfOneRun(llvm::StringRef path_a, const Module& a, llvm::StringRef path_b,
                       const Module& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_ORDER_H_
