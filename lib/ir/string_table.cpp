#include "lib/ir/string_table.h"

#include <cstring>

namespace grapnel {
namespace {

// Multiply-xor over eight bytes at a time: names are short and the table is hot while a graph is
// read.
uint32_t HashOf(llvm::StringRef text) {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ text.size();
  const char* p = text.data();
  size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDull;
    hash ^= hash >> 32;
  }
  if (left) {
    uint64_t word = 0;
    std::memcpy(&word, p, left);
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDull;
    hash ^= hash >> 32;
  }
  hash *= 0xC4CEB9FE1A85EC53ull;
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

StringTable::StringTable() {
  slots_.assign(64, kNoString);
  Intern("");  // kEmptyString
}

size_t StringTable::Slot(llvm::StringRef text, uint32_t hash) const {
  size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    StringId id = slots_[slot];
    if (id == kNoString) return slot;
    const Entry& entry = entries_[id];
    if (entry.hash == hash && llvm::StringRef(entry.data, entry.size) == text) return slot;
  }
}

void StringTable::Grow(size_t slots) {
  slots_.assign(slots, kNoString);
  size_t mask = slots - 1;
  for (StringId id = 0; id < entries_.size(); ++id) {
    size_t slot = entries_[id].hash & mask;
    while (slots_[slot] != kNoString) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

void StringTable::Reserve(size_t strings) {
  entries_.reserve(strings);
  size_t slots = slots_.size();
  while (slots < 2 * strings) slots *= 2;
  if (slots > slots_.size()) Grow(slots);
}

StringId StringTable::Add(llvm::StringRef text, bool copy) {
  uint32_t hash = HashOf(text);
  size_t slot = Slot(text, hash);
  if (slots_[slot] != kNoString) return slots_[slot];
  if (2 * (entries_.size() + 1) > slots_.size()) {
    Grow(2 * slots_.size());
    slot = Slot(text, hash);
  }
  if (copy && !text.empty()) {
    char* bytes = static_cast<char*>(copies_.Allocate(text.size(), 1));
    std::memcpy(bytes, text.data(), text.size());
    text = {bytes, text.size()};
  }
  StringId id = entries_.size();
  entries_.push_back({text.data(), static_cast<uint32_t>(text.size()), hash});
  slots_[slot] = id;
  return id;
}

StringId StringTable::Find(llvm::StringRef text) const { return slots_[Slot(text, HashOf(text))]; }

}  // namespace grapnel
