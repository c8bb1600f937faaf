// Reads ledgers of graph rewrites (ledger.jsonl), described in docs/guide/optimizing.md.
#ifndef GRAPNEL_LIB_IO_LEDGER_H_
#define GRAPNEL_LIB_IO_LEDGER_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// An entry of a ledger: an object whose values are texts, numbers and lists of texts. Of an entry
// that is written as grapnel writes it, refers to the ledger's own bytes: a ledger has as many
// entries as rewrites, and parsing JSON would take most of the time for reading it.
class LedgerEntry {
 public:
  // Reads a line. Errors: it is not JSON, or not an entry.
  static Expected<LedgerEntry> Parse(llvm::StringRef line);

  // Each returns the value of a field; "", nullopt or an empty list if the entry lacks it.
  std::string Text(llvm::StringRef key) const;
  std::optional<int64_t> Integer(llvm::StringRef key) const;
  std::vector<std::string> Names(llvm::StringRef key) const;

 private:
  struct Field {
    llvm::StringRef key;
    enum { kText, kInteger, kNames } kind;
    llvm::StringRef text;
    int64_t integer = 0;
    size_t first = 0, count = 0;  // in names_
  };
  bool ReadPlain(llvm::StringRef line);
  const Field* Find(llvm::StringRef key) const;

  llvm::SmallVector<Field, 16> fields_;
  llvm::SmallVector<llvm::StringRef, 8> names_;
  std::optional<llvm::json::Value> json_;  // an entry that is written in another way
};

// Calls a visitor for each entry with its line number, from 1. Errors name the malformed line.
Error ForEachLedgerEntry(llvm::StringRef jsonl,
                         llvm::function_ref<void(int line, const LedgerEntry&)> visit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LEDGER_H_
