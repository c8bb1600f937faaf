// What a run of passes did, stage by stage: what a folder of dumps says beside the graphs.
#ifndef GRAPNEL_LIB_PASS_RUN_RECORD_H_
#define GRAPNEL_LIB_PASS_RUN_RECORD_H_

#include <string>
#include <vector>

#include "lib/pass/pass_manager.h"

namespace grapnel {

struct StageRecord {
  Stage stage;
  std::string dump;  // the file with the graph after it; empty where it changed nothing
  std::vector<Rewrite> rewrites;
};

struct RunRecord {
  std::vector<StageRecord> stages;  // in order, those that changed nothing too
  bool has_rewrites = false, has_times = false;
  std::vector<std::string> problems;  // "file: why" of what is there and cannot be read

  // The stage that ended with this dump; null: none is known to.
  const StageRecord* StageOf(llvm::StringRef dump) const;
};

// Reads index.json of `folder`, and the times and ledger of each run that dumped there, one run
// after the other. Without index.json, as TensorFlow's
// dumps are, the record is empty.
RunRecord ReadRunRecord(llvm::StringRef folder);

// What a ledger's lines say; their NodeDefs are left out. Errors name the line.
Expected<std::vector<Rewrite>> ParseLedger(llvm::StringRef jsonl);

// What a rule does, as its registration says; empty: there is no such rule.
std::string RuleHelp(llvm::StringRef pass, llvm::StringRef rule);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_RUN_RECORD_H_
