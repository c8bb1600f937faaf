// Finds the graphs of dumps whose names do not say which graph they are from ("loose" stages).
// TensorFlow names most dumps of passes after the pass, with a number when the name is repeated.
// The contents of a dump decide which line (the sequence of stages of one graph) it belongs to.
#ifndef GRAPNEL_LIB_DIFF_DUMP_LINES_H_
#define GRAPNEL_LIB_DIFF_DUMP_LINES_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/diff/dump_order.h"
#include "lib/ir/module.h"

namespace grapnel {

// Parses the name of a file that may be a loose stage: "before_X_2.pbtxt", "X_after.pb",
// "GRAPHplacer_input.pbtxt". `line` is the part of the name that other dumps of the graph share.
// nullopt if a graph's file cannot have this name.
std::optional<DumpStage> LooseDump(llvm::StringRef file);

// Returns the stage's rank in the order in which the runtime writes stages, from a function's first
// graph to the graphs that devices run: a larger number is later. nullopt if the runtime does not
// write such a stage.
std::optional<int> MomentOf(llvm::StringRef stage);

// True if the line (the stages of one graph) is that of an op executed eagerly. Such lines come
// first, since eager ops compute the arguments of functions.
bool IsOfOneOp(llvm::StringRef line);

// Sorts loose stages by `turn` (how often the file name occurred before), and those with equal
// `turn` by the order in which the runtime writes stages.
void SortLoose(std::vector<DumpStage>* stages);

// Adds each readable loose stage to the line that its name gives or, without one, to that of the
// most similar graph, if any is similar enough, and moves the loose stages that the log does not
// mention to where the runtime would have written them.
// `modules` has the graph of each stage, null if it cannot be read. Returns the order of the
// stages. Cost: linear in nodes, and in loose stages times stages.
std::vector<size_t> JoinLines(std::vector<DumpStage>* stages,
                              llvm::ArrayRef<std::shared_ptr<const Module>> modules);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_LINES_H_
