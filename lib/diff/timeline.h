// A folder of dumps in the order of the run.
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
      module;                   // that of `before` where the file is byte for byte the same
  int before = -1;              // the stage it is compared with; -1: it begins a trace
  size_t nodes = 0, edges = 0;  // of the main graph, as Grappler's log counts them
  size_t library_nodes = 0, library_edges = 0;  // of all functions
  Diff diff;  // from `before` to this one; empty where the module is the same
};

struct Timeline {
  std::vector<TimelineStage> stages;
  std::vector<std::string> skipped;   // "file: why": files that cannot be read as graphs
  std::vector<std::string> problems;  // in graphs that were read: "file: node 'x': ..."
};

// A dump of a folder with its graph.
struct OrderedDump {
  DumpStage dump;
  std::shared_ptr<const Module> module;  // null: unreadable; equal files share one
  std::string problem;                   // why it cannot be read
};

// Reads every dump in `folder`, ordered; `log` as in OrderDumps. Errors: no such folder.
Expected<std::vector<OrderedDump>> ReadDumps(llvm::StringRef folder, llvm::StringRef log,
                                             ThreadPool& pool);

// Reads the dumps in `folder` and compares each with the one before it; `log` as in OrderDumps.
// With a `function`, reads only its stages, as StageNames::StoryOf finds them. Errors: no such
// folder, no dump in it, no such function.
Expected<Timeline> ReadTimeline(llvm::StringRef folder, llvm::StringRef log, ThreadPool& pool,
                                llvm::StringRef function = {});

// Adds a stage and compares it with the stage `before` (-1: with none).
void AddStage(DumpStage dump, std::shared_ptr<const Module> module, int before, Timeline* timeline);

struct LifeEvent {
  int stage;
  std::string text;  // "fused with conv bias into relu (_FusedConv2D)"
};

// Returns one node's life: where it first occurs, changes, is renamed, replaced or removed. Empty
// if no stage has it. Follows it through new names, into the node it was fused into or merged with,
// and into each copy when calls of its function are inlined; events under another name give that
// name.
std::vector<LifeEvent> LifeOf(const Timeline& timeline, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_H_
