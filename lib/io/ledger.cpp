#include "lib/io/ledger.h"

#include <array>

#include "lib/support/json.h"

namespace grapnel {
namespace {

constexpr std::array<bool, 256> kIsBase64 = [] {
  std::array<bool, 256> table{};
  for (int c = 0; c < 256; ++c)
    table[c] = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               c == '+' || c == '/' || c == '=';
  return table;
}();

// True for the items of a JSON array of one or more texts in base64.
bool AreTextsInBase64(llvm::StringRef items) {
  while (items.consume_front("\"")) {
    size_t size = items.find('"');
    if (size == llvm::StringRef::npos) return false;
    for (char c : items.take_front(size))
      if (!kIsBase64[static_cast<unsigned char>(c)]) return false;
    items = items.drop_front(size + 1);
    if (items.empty()) return true;
    if (!items.consume_front(",")) return false;
  }
  return false;
}

// Returns an entry without its NodeDefs, in `shorter`, or as it is. In JSON, what begins the list
// cannot be part of a text.
llvm::StringRef WithoutNodeDefs(llvm::StringRef entry, std::string* shorter) {
  constexpr llvm::StringLiteral kBegin = ",\"node_defs\":[";
  size_t begin = entry.find(kBegin), end = entry.find(']', begin);
  if (begin == llvm::StringRef::npos || end == llvm::StringRef::npos ||
      !AreTextsInBase64(entry.slice(begin + kBegin.size(), end)))
    return entry;
  *shorter = entry.take_front(begin);
  *shorter += entry.drop_front(end + 1);
  return *shorter;
}

}  // namespace

Error ForEachLedgerEntry(llvm::StringRef jsonl,
                         llvm::function_ref<void(int, const llvm::json::Object&)> visit) {
  std::string shorter;
  for (int number = 1; !jsonl.empty(); ++number) {
    auto [line, rest] = jsonl.split('\n');
    jsonl = rest;
    if (line.trim().empty()) continue;
    auto value = ParseJson(WithoutNodeDefs(line, &shorter));
    if (!value) {  // the error is to name the place in the whole line
      llvm::consumeError(value.takeError());
      value = ParseJson(line);
    }
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
