#include "lib/io/ledger.h"

#include <array>

#include "lib/support/json.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The characters of a JSON text that stand for themselves, without those outside of ASCII.
constexpr std::array<bool, 256> kIsPlain = [] {
  std::array<bool, 256> table{};
  for (int c = ' '; c < 127; ++c) table[c] = c != '"' && c != '\\';
  return table;
}();

// Consumes a text in quotes.
bool TakeText(llvm::StringRef* json, llvm::StringRef* text) {
  if (!json->consume_front("\"")) return false;
  size_t size = 0;
  while (size < json->size() && kIsPlain[static_cast<unsigned char>((*json)[size])]) ++size;
  *text = json->take_front(size);
  *json = json->drop_front(size);
  return json->consume_front("\"");
}

// Consumes a number; one that JSON does not permit, such as 01, is not consumed as a whole.
bool TakeInteger(llvm::StringRef* json, int64_t* number) {
  constexpr size_t kMostDigits = 15;  // all such numbers are exact, whatever type they are kept in
  bool is_negative = json->consume_front("-");
  size_t size = std::min(json->find_first_not_of("0123456789"), json->size());
  if (size == 0 || size > kMostDigits || (size > 1 && json->front() == '0')) return false;
  if (json->take_front(size).getAsInteger(10, *number)) return false;
  if (is_negative) *number = -*number;
  *json = json->drop_front(size);
  return true;
}

}  // namespace

// Reads an object without blanks whose texts have no escapes. Returns false for another one.
bool LedgerEntry::ReadPlain(llvm::StringRef line) {
  if (!line.consume_front("{")) return false;
  do {
    Field field;
    if (!TakeText(&line, &field.key) || !line.consume_front(":") || Find(field.key)) return false;
    if (line.starts_with("\"")) {
      field.kind = Field::kText;
      if (!TakeText(&line, &field.text)) return false;
    } else if (line.consume_front("[")) {
      field.kind = Field::kNames;
      field.first = names_.size();
      while (!line.consume_front("]")) {
        if (names_.size() > field.first && !line.consume_front(",")) return false;
        if (!TakeText(&line, &names_.emplace_back())) return false;
      }
      field.count = names_.size() - field.first;
    } else {
      field.kind = Field::kInteger;
      if (!TakeInteger(&line, &field.integer)) return false;
    }
    fields_.push_back(field);
  } while (line.consume_front(","));
  return line == "}";
}

const LedgerEntry::Field* LedgerEntry::Find(llvm::StringRef key) const {
  auto found = llvm::find_if(fields_, [&](const Field& field) { return field.key == key; });
  return found == fields_.end() ? nullptr : found;
}

Expected<LedgerEntry> LedgerEntry::Parse(llvm::StringRef line) {
  LedgerEntry entry;
  if (!entry.ReadPlain(line)) {
    ASSIGN_OR_RETURN(entry.json_, ParseJson(line));
  }
  const llvm::json::Object* object = entry.json_ ? entry.json_->getAsObject() : nullptr;
  const Field* rule = entry.Find("rule");
  bool has_rule =
      entry.json_ ? object && object->getString("rule") : rule && rule->kind == Field::kText;
  if (!has_rule)
    return MakeError("not a ledger entry: an object with a string 'rule' was expected");
  return entry;
}

std::string LedgerEntry::Text(llvm::StringRef key) const {
  if (json_) return json_->getAsObject()->getString(key).value_or("").str();
  const Field* field = Find(key);
  return field && field->kind == Field::kText ? field->text.str() : "";
}

std::optional<int64_t> LedgerEntry::Integer(llvm::StringRef key) const {
  if (json_) return json_->getAsObject()->getInteger(key);
  const Field* field = Find(key);
  if (!field || field->kind != Field::kInteger) return std::nullopt;
  return field->integer;
}

std::vector<std::string> LedgerEntry::Names(llvm::StringRef key) const {
  std::vector<std::string> names;
  if (json_) {
    if (const llvm::json::Array* array = json_->getAsObject()->getArray(key)) {
      for (const llvm::json::Value& value : *array) {
        if (auto text = value.getAsString()) names.push_back(text->str());
      }
    }
    return names;
  }
  const Field* field = Find(key);
  if (!field || field->kind != Field::kNames) return names;
  names.reserve(field->count);
  for (llvm::StringRef name : llvm::ArrayRef(names_).slice(field->first, field->count))
    names.push_back(name.str());
  return names;
}

Error ForEachLedgerEntry(llvm::StringRef jsonl,
                         llvm::function_ref<void(int, const LedgerEntry&)> visit) {
  for (int number = 1; !jsonl.empty(); ++number) {
    auto [line, rest] = jsonl.split('\n');
    jsonl = rest;
    if (line.trim().empty()) continue;
    auto entry = LedgerEntry::Parse(line);
    if (!entry) return Annotate("line " + llvm::Twine(number), entry.takeError());
    visit(number, *entry);
  }
  return Error::success();
}

}  // namespace grapnel
