// index.json of a dump folder: lists which files belong to which of the runs that dumped there.
#ifndef GRAPNEL_LIB_PASS_DUMP_INDEX_H_
#define GRAPNEL_LIB_PASS_DUMP_INDEX_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// index.json describes the first run at the top level: "graph", "files", "stages". Later runs are
// objects of the same form in the array "later"; their "ledger" and "timings" give the names of
// these two files. An unfinished run has "complete": false and no stages; the names of its files
// begin with its "graph".
struct DumpRun {
  std::string name;  // the prefix of its dumps; unique among the runs
  std::string ledger = "ledger.jsonl", timings = "timings.json";
  bool is_first = true;
};

// Returns the runs in a parsed index.json. Errors: not an index.json.
Expected<std::vector<const llvm::json::Object*>> RunsOf(const llvm::json::Value& index);

// Reserves an unused name for the dumps of `graph` in `folder`: `graph` itself, or `graph` with a
// number. Writes the name to index.json immediately, so that concurrent processes get different
// names. Errors: such as an invalid index.json, which stays unchanged.
Expected<DumpRun> ClaimDumpRun(llvm::StringRef folder, llvm::StringRef graph);

// Replaces a run's reservation in index.json with its record. `write` writes the attributes of the
// record that follow "graph".
Error FinishDumpRun(llvm::StringRef folder, const DumpRun& run,
                    llvm::function_ref<void(llvm::json::OStream&)> write);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_DUMP_INDEX_H_
