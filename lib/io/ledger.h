// The lines of a ledger of rewrites (ledger.jsonl), as docs/dumps.md has them.
#ifndef GRAPNEL_LIB_IO_LEDGER_H_
#define GRAPNEL_LIB_IO_LEDGER_H_

#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Visits each entry with the number of its line, from 1. Errors name the line that is none.
Error ForEachLedgerEntry(llvm::StringRef jsonl,
                         llvm::function_ref<void(int line, const llvm::json::Object&)> visit);

// The names that an entry lists under `key`; none where it has no such list.
std::vector<std::string> LedgerNames(const llvm::json::Object& entry, llvm::StringRef key);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LEDGER_H_
