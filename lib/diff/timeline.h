// The dumps of a folder, in the order of the run.
#ifndef GRAPNEL_LIB_DIFF_TIMELINE_H_
#define GRAPNEL_LIB_DIFF_TIMELINE_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/diff/dump_order.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

struct TimelineStage {
  DumpStage dump;
  std::shared_ptr<const Module>
      module;                   // shared with `before` if the files are byte for byte equal
  int before = -1;              // the stage that it is compared with; -1: it begins a trace
  size_t nodes = 0, edges = 0;  // of the main graph, counted as in Grappler's log
  size_t library_nodes = 0, library_edges = 0;  // of all functions
  Diff diff;  // from `before` to this stage; empty for -1, or if both share the module
};

struct Timeline {
  std::vector<TimelineStage> stages;
  std::vector<std::string> skipped;   // "file: why": files that cannot be read as graphs
  std::vector<std::string> problems;  // in graphs that were read: "file: node 'x': ..."
};

// A dump in a folder, with its graph.
struct OrderedDump {
  DumpStage dump;
  std::shared_ptr<const Module> module;  // null: it cannot be read; equal files share one
  std::string problem;                   // why it cannot be read
};

// Reads every dump in `folder` and returns the dumps in order; `log` as in OrderDumps. Error: the
// folder cannot be read.
Expected<std::vector<OrderedDump>> ReadDumps(llvm::StringRef folder, llvm::StringRef log,
                                             ThreadPool& pool);

// Reads the dumps in `folder` and compares each with the previous stage of its graph; `log` as in
// OrderDumps. With a `function`, compares only the stages that StageNames::StoryOf returns for it.
// Errors: the folder cannot be read; no dump in it can be read; there is no such function.
Expected<Timeline> ReadTimeline(llvm::StringRef folder, llvm::StringRef log, ThreadPool& pool,
                                llvm::StringRef function = {});

// Adds a stage and compares it with the stage `before` (-1: with no stage).
void AddStage(DumpStage dump, std::shared_ptr<const Module> module, int before, Timeline* timeline);

struct LifeEvent {
  int stage;
  std::string text;  // "fused with conv bias into relu (_FusedConv2D)"
};

// Returns what happened to one node: where it first occurs, changes, is renamed, replaced or
// removed. Empty if no stage has the node. If the node is renamed, replaced by, fused or merged
// into another node, or copied because calls of its function are inlined, continues with the new
// names; the text of an event then begins with that name.
std::vector<LifeEvent> LifeOf(const Timeline& timeline, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_H_
