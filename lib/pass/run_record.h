// The record of runs of passes that a dump folder keeps besides the graphs: each stage (one pass
// over one body), its rewrites and its time.
#ifndef GRAPNEL_LIB_PASS_RUN_RECORD_H_
#define GRAPNEL_LIB_PASS_RUN_RECORD_H_

#include <string>
#include <vector>

#include "lib/pass/pass_manager.h"

namespace grapnel {

struct StageRecord {
  Stage stage;
  std::string dump;  // the file with the graph after the stage; empty if nothing changed
  std::vector<Rewrite> rewrites;
};

struct RunRecord {
  std::vector<StageRecord> stages;  // in order, including stages that changed nothing
  bool has_rewrites = false, has_times = false;
  std::vector<std::string> problems;  // "file: reason" for files that exist and cannot be read

  // Returns the stage after which this dump was written, or null if unknown.
  const StageRecord* StageOf(llvm::StringRef dump) const;
};

// Reads index.json of `folder`, and the times and ledger of each run that dumped there, one run
// after the other. Without index.json, as in TensorFlow's dumps, the record is empty.
RunRecord ReadRunRecord(llvm::StringRef folder);

// Parses the lines of a ledger, without their NodeDefs. Errors name the line.
Expected<std::vector<Rewrite>> ParseLedger(llvm::StringRef jsonl);

// The help text of a rule, from its registration; empty if there is no such rule.
std::string RuleHelp(llvm::StringRef pass, llvm::StringRef rule);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_RUN_RECORD_H_
