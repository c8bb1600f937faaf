#include "lib/io/ledger.h"

#include "lib/support/json.h"

namespace grapnel {

Error ForEachLedgerEntry(llvm::StringRef jsonl,
                         llvm::function_ref<void(int, const llvm::json::Object&)> visit) {
  for (int number = 1; !jsonl.empty(); ++number) {
    auto [line, rest] = jsonl.split('\n');
    jsonl = rest;
    if (line.trim().empty()) continue;
    auto value = ParseJson(line);
    if (!value) return Annotate("line " + llvm::Twine(number), value.takeError());
    const llvm::json::Object* entry = value->getAsObject();
    if (!entry || !entry->getString("rule"))
      return MakeError("line {0}: not a ledger entry: an object with a string 'rule' was expected",
                       number);
    visit(number, *entry);
  }
  return Error::success();
}

std::vector<std::string> LedgerNames(const llvm::json::Object& entry, llvm::StringRef key) {
  std::vector<std::string> names;
  if (const llvm::json::Array* array = entry.getArray(key)) {
    for (const llvm::json::Value& value : *array) {
      if (auto text = value.getAsString()) names.push_back(text->str());
    }
  }
  return names;
}

}  // namespace grapnel
