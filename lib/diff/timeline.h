// A folder of dumps as one ordered story.
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
  int before = -1;              // the stage it is compared with; -1: it begins a line
  size_t nodes = 0, edges = 0;  // of the main graph, as Grappler's log counts them
  size_t library_nodes = 0, library_edges = 0;  // of all functions
  Diff diff;  // from `before` to this one; empty where the module is the same
};

struct Timeline {
  std::vector<TimelineStage> stages;
  std::vector<std::string> skipped;   // "file: why": what is no graph that can be read
  std::vector<std::string> problems;  // of graphs that were read: "file: node 'x': ..."
};

// A dump of a folder, read, in its place in the order.
struct OrderedDump {
  DumpStage dump;
  std::shared_ptr<const Module> module;  // null: it cannot be read; that of an equal file, once
  std::string problem;                   // and why
};

// Every dump in `folder`; `log` as OrderDumps has it. Errors: no such folder.
Expected<std::vector<OrderedDump>> ReadDumps(llvm::StringRef folder, llvm::StringRef log,
                                             ThreadPool& pool);

// The dumps in `folder`, each compared with the one before it; `log` as OrderDumps has it. With a
// `function`, as StageNames::StoryOf has them, its stages alone. Errors: no such folder, no dump in
// it, no such function.
Expected<Timeline> ReadTimeline(llvm::StringRef folder, llvm::StringRef log, ThreadPool& pool,
                                llvm::StringRef function = {});

// Adds a stage, compared with the stage `before` (-1: with none).
void AddStage(DumpStage dump, std::shared_ptr<const Module> module, int before, Timeline* timeline);

struct LifeEvent {
  int stage;
  std::string text;  // "fused with conv bias into relu (_FusedConv2D)"
};

// One node's life: where it is first seen, changes, gets another name, is replaced or goes. Empty
// when no stage has it. Follows it through new names, into what it was fused into or merged with,
// and into each copy where calls of its function were opened; of another name the text says which.
std::vector<LifeEvent> LifeOf(const Timeline& timeline, llvm::StringRef node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_TIMELINE_H_
