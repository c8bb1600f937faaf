// index.json of a folder of dumps: which files are whose, of all runs that dumped there.
#ifndef GRAPNEL_LIB_PASS_DUMP_INDEX_H_
#define GRAPNEL_LIB_PASS_DUMP_INDEX_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// The first run is told at the top, as if it were alone: "graph", "files", "stages". Those after it
// are objects alike under "later", with the names of their "ledger" and "timings". One that has not
// come to its end has "complete": false and no stages; its files begin with its "graph".
struct DumpRun {
  std::string name;  // which its files begin with: no other run's do
  std::string ledger = "ledger.jsonl", timings = "timings.json";
  bool is_first = true;
};

// The runs of a parsed index.json. Errors: it is none.
Expected<std::vector<const llvm::json::Object*>> RunsOf(const llvm::json::Value& index);

// A name for the dumps of `graph` in `folder` that nobody has, `graph` itself or with a number, put
// down in index.json at once, so that processes side by side have one each. Errors: an index.json
// that is none, which is left alone; one that cannot be written.
Expected<DumpRun> ClaimDumpRun(llvm::StringRef folder, llvm::StringRef graph);

// Puts what a run did in the place of its claim. `write` gives the attributes after "graph".
Error FinishDumpRun(llvm::StringRef folder, const DumpRun& run,
                    llvm::function_ref<void(llvm::json::OStream&)> write);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_DUMP_INDEX_H_
