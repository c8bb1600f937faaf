// Orders dumps whose names do not tell which graph they are of: TensorFlow's passes name most of
// theirs after themselves, with a number when the name is repeated. Their contents decide.
#ifndef GRAPNEL_LIB_DIFF_DUMP_LINES_H_
#define GRAPNEL_LIB_DIFF_DUMP_LINES_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/diff/dump_order.h"
#include "lib/ir/module.h"

namespace grapnel {

// Parses a file name alone into a stage: "before_X_2.pbtxt", "X_after.pb",
// "GRAPHplacer_input.pbtxt". `line` is the part of the name shared with other dumps of the graph.
// nullopt: the name is not one of a graph's file.
std::optional<DumpStage> LooseDump(llvm::StringRef file);

// Returns how late the runtime writes the stage, from a function's first graph to the graphs that
// devices run: a larger number is later. nullopt: not a stage of the runtime.
std::optional<int> MomentOf(llvm::StringRef stage);

// True if a line is of an op that ran by itself. Those come first: they compute arguments of
// functions.
bool IsOfOneOp(llvm::StringRef line);

// Sorts consecutive loose stages by turn, and within a turn by the runtime's order.
void SortLoose(std::vector<DumpStage>* stages);

// Assigns each loose stage to the line of the most similar graph, if any is similar enough, and
// puts stages missing from the log where the runtime would have written them. `modules` holds each
// stage's graph, null if it cannot be read. Returns the stages' order. Cost: linear in nodes, and
// in loose stages times stages.
std::vector<size_t> JoinLines(std::vector<DumpStage>* stages,
                              llvm::ArrayRef<std::shared_ptr<const Module>> modules);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_LINES_H_
