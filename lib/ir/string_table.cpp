#include "lib/ir/string_table.h"

#include <cstring>

#include "lib/support/memory.h"

namespace grapnel {
namespace {

static_assert(sizeof(std::atomic<StringId>) == sizeof(StringId));

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

StringTable::Slots::Slots(size_t count)
    : mask(count - 1), ids(std::make_unique_for_overwrite<std::atomic<StringId>[]>(count)) {
  UseHugePages(ids.get(), count * sizeof(StringId));
  std::memset(static_cast<void*>(ids.get()), 0xFF, count * sizeof(StringId));  // kNoString
}

StringTable::StringTable() {
  Grow(64);
  Intern("");  // kEmptyString
}

StringTable::~StringTable() {
  for (std::atomic<Entry*>& block : blocks_) delete[] block.load(std::memory_order_relaxed);
}

size_t StringTable::SlotOf(const Slots& slots, llvm::StringRef text, uint32_t hash) const {
  for (size_t slot = hash & slots.mask;; slot = (slot + 1) & slots.mask) {
    StringId id = slots.ids[slot].load(std::memory_order_acquire);
    if (id == kNoString) return slot;
    const Entry& entry = At(id);
    if (entry.hash == hash && llvm::StringRef(entry.data, entry.size) == text) return slot;
  }
}

const StringTable::Slots* StringTable::Grow(size_t count) {
  all_slots_.push_back(std::make_unique<Slots>(count));
  Slots& slots = *all_slots_.back();
  for (StringId id = 0, end = size_.load(std::memory_order_relaxed); id < end; ++id) {
    size_t slot = At(id).hash & slots.mask;
    while (slots.ids[slot].load(std::memory_order_relaxed) != kNoString)
      slot = (slot + 1) & slots.mask;
    slots.ids[slot].store(id, std::memory_order_relaxed);
  }
  slots_.store(&slots, std::memory_order_release);
  return &slots;
}

StringTable::Entry& StringTable::NewEntry(StringId id) {
  uint64_t place = uint64_t{id} + kFirstBlock;
  unsigned bits = llvm::Log2_64(place);
  std::atomic<Entry*>& block = blocks_[bits - kFirstBlockBits];
  Entry* entries = block.load(std::memory_order_relaxed);
  if (!entries) {
    entries = new Entry[size_t{1} << bits];
    UseHugePages(entries, sizeof(Entry) << bits);
    block.store(entries, std::memory_order_release);
  }
  return entries[place ^ (1ull << bits)];
}

void StringTable::Reserve(size_t strings) {
  std::lock_guard lock(adding_);
  size_t now = slots_.load(std::memory_order_relaxed)->mask + 1, slots = now;
  while (slots < 2 * strings) slots *= 2;
  if (slots > now) Grow(slots);
}

StringId StringTable::Add(llvm::StringRef text, bool copy) {
  uint32_t hash = HashOf(text);
  const Slots* seen = slots_.load(std::memory_order_acquire);
  size_t slot = SlotOf(*seen, text, hash);
  StringId id = seen->ids[slot].load(std::memory_order_acquire);
  if (id != kNoString) return id;
  std::lock_guard lock(adding_);
  const Slots* slots = slots_.load(std::memory_order_relaxed);
  id = size_.load(std::memory_order_relaxed);
  if (2 * (size_t{id} + 1) > slots->mask + 1) slots = Grow(2 * (slots->mask + 1));
  // Another thread may have added it, or grown the table, since.
  if (slots != seen || slots->ids[slot].load(std::memory_order_relaxed) != kNoString) {
    slot = SlotOf(*slots, text, hash);
    StringId added = slots->ids[slot].load(std::memory_order_relaxed);
    if (added != kNoString) return added;
  }
  if (copy && !text.empty()) {
    char* bytes = static_cast<char*>(copies_.Allocate(text.size(), 1));
    std::memcpy(bytes, text.data(), text.size());
    text = {bytes, text.size()};
  }
  NewEntry(id) = {text.data(), static_cast<uint32_t>(text.size()), hash};
  size_.store(id + 1, std::memory_order_release);
  slots->ids[slot].store(id, std::memory_order_release);
  return id;
}

StringId StringTable::Find(llvm::StringRef text) const {
  const Slots* slots = slots_.load(std::memory_order_acquire);
  return slots->ids[SlotOf(*slots, text, HashOf(text))].load(std::memory_order_acquire);
}

}  // namespace grapnel
