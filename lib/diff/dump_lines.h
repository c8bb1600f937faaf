// Dumps whose names do not say whose story they are part of: TensorFlow's passes name most of
// theirs after themselves, with a number when the name comes again. What is in them tells.
#ifndef GRAPNEL_LIB_DIFF_DUMP_LINES_H_
#define GRAPNEL_LIB_DIFF_DUMP_LINES_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/diff/dump_order.h"
#include "lib/ir/module.h"

namespace grapnel {

// The stage that a file would be by its name alone: "before_X_2.pbtxt", "X_after.pb",
// "GRAPHplacer_input.pbtxt". `line` is what its name shares with others of the same graph. nullopt:
// no name of a graph's file.
std::optional<DumpStage> LooseDump(llvm::StringRef file);

// How far the runtime is when it writes the stage, from a function's first graph to what its
// devices run: a larger number is later. nullopt: the stage is none of the runtime's.
std::optional<int> MomentOf(llvm::StringRef stage);

// Whether a line is of an op that ran by itself: those make what functions are called with, and
// come first.
bool IsOfOneOp(llvm::StringRef line);

// Sorts loose stages that come after one another: by turn, and within it as the runtime goes.
void SortLoose(std::vector<DumpStage>* stages);

// Gives each loose stage the line of the graph that it is most like, if any is like it, and puts
// those that the log does not have where the runtime would have written them. `modules` holds what
// each stage is, null where it cannot be read. Returns the stages' order. Cost: linear in nodes,
// and in loose stages times stages.
std::vector<size_t> JoinLines(std::vector<DumpStage>* stages,
                              llvm::ArrayRef<std::shared_ptr<const Module>> modules);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DUMP_LINES_H_
