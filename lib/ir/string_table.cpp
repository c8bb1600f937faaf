#include "lib/ir/string_table.h"

#include <cstring>

#include "lib/support/hash.h"
#include "lib/support/memory.h"

namespace grapnel {
namespace {

static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));

size_t Home(uint64_t taken, size_t mask) { return (taken >> 32) & mask; }

}  // namespace

uint32_t StringTable::HashOf(llvm::StringRef text) {
  return static_cast<uint32_t>(HashBytes(text) >> 32);
}

StringTable::Slots::Slots(size_t count)
    : mask(count - 1), taken(std::make_unique_for_overwrite<std::atomic<uint64_t>[]>(count)) {
  UseHugePages(taken.get(), count * sizeof(uint64_t));
  std::memset(static_cast<void*>(taken.get()), 0xFF, count * sizeof(uint64_t));  // kFree
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
    uint64_t taken = slots.taken[slot].load(std::memory_order_acquire);
    if (taken == kFree) return slot;
    if (static_cast<uint32_t>(taken >> 32) == hash && Get(static_cast<StringId>(taken)) == text)
      return slot;
  }
}

const StringTable::Slots* StringTable::Grow(size_t count) {
  const Slots* before = slots_.load(std::memory_order_relaxed);
  all_slots_.push_back(std::make_unique<Slots>(count));
  Slots& slots = *all_slots_.back();
  for (size_t i = 0; before && i <= before->mask; ++i) {
    uint64_t taken = before->taken[i].load(std::memory_order_relaxed);
    if (taken == kFree) continue;
    size_t slot = Home(taken, slots.mask);
    while (slots.taken[slot].load(std::memory_order_relaxed) != kFree)
      slot = (slot + 1) & slots.mask;
    slots.taken[slot].store(taken, std::memory_order_relaxed);
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
  while (3 * slots < 4 * strings) slots *= 2;
  if (slots > now) Grow(slots);
}

StringId StringTable::Add(llvm::StringRef text, bool copy) {
  return AddHashed(text, HashOf(text), copy);
}

StringId StringTable::AddHashed(llvm::StringRef text, uint32_t hash, bool copy) {
  const Slots* seen = slots_.load(std::memory_order_acquire);
  size_t slot = SlotOf(*seen, text, hash);
  uint64_t taken = seen->taken[slot].load(std::memory_order_acquire);
  if (taken != kFree) return static_cast<StringId>(taken);
  std::lock_guard lock(adding_);
  const Slots* slots = slots_.load(std::memory_order_relaxed);
  StringId id = size_.load(std::memory_order_relaxed);
  if (4 * (size_t{id} + 1) > 3 * (slots->mask + 1)) slots = Grow(2 * (slots->mask + 1));
  // Since this thread looked, another thread may have added the string or made the table larger.
  if (slots != seen || slots->taken[slot].load(std::memory_order_relaxed) != kFree) {
    slot = SlotOf(*slots, text, hash);
    uint64_t added = slots->taken[slot].load(std::memory_order_relaxed);
    if (added != kFree) return static_cast<StringId>(added);
  }
  if (copy && !text.empty()) {
    char* bytes = static_cast<char*>(copies_.Allocate(text.size(), 1));
    std::memcpy(bytes, text.data(), text.size());
    text = {bytes, text.size()};
  }
  NewEntry(id) = {text.data(), static_cast<uint32_t>(text.size())};
  size_.store(id + 1, std::memory_order_release);
  slots->taken[slot].store(uint64_t{hash} << 32 | id, std::memory_order_release);
  return id;
}

StringId StringTable::Find(llvm::StringRef text) const {
  const Slots* slots = slots_.load(std::memory_order_acquire);
  // If the slot is free, it holds kFree, whose lower half is kNoString.
  return static_cast<StringId>(
      slots->taken[SlotOf(*slots, text, HashOf(text))].load(std::memory_order_acquire));
}

}  // namespace grapnel
