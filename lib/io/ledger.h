// Reads ledgers of graph rewrites (ledger.jsonl), described in docs/guide/optimizing.md.
#ifndef GRAPNEL_LIB_IO_LEDGER_H_
#define GRAPNEL_LIB_IO_LEDGER_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Calls a visitor for each entry with its line number, from 1. The entries lack their NodeDefs, of
// which a ledger mostly consists. Errors name the malformed line.
Error ForEachLedgerEntry(llvm::StringRef jsonl,
                         llvm::function_ref<void(int line, const llvm::json::Object&)> visit);

// Returns the list of names under `key` in a ledger entry; empty if the entry has no such list.
std::vector<std::string> LedgerNames(const llvm::json::Object& entry, llvm::StringRef key);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LEDGER_H_
