// Interned strings: each distinct string is stored once and compared as an integer.
#ifndef GRAPNEL_LIB_IR_STRING_TABLE_H_
#define GRAPNEL_LIB_IR_STRING_TABLE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/MathExtras.h"

namespace grapnel {

using StringId = uint32_t;
constexpr StringId kEmptyString = 0;
constexpr StringId kNoString = ~StringId{0};

// Takes some 30 to 60 bytes for each string besides its text. Thread-safe; lookups take no lock. If
// several threads add strings, the ids depend on timing, so no result may depend on the order of
// ids.
class GRAPNEL_PUBLIC StringTable {
 public:
  StringTable();
  ~StringTable();
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  // Returns the id of `text`; a new text is copied.
  StringId Intern(llvm::StringRef text) { return Add(text, /*copy=*/true); }
  // Like Intern, but without a copy: `text` must live as long as the table.
  StringId InternBorrowed(llvm::StringRef text) { return Add(text, /*copy=*/false); }
  // Returns the id of `text`; kNoString if the string was never interned.
  StringId Find(llvm::StringRef text) const;

  // Returns the hash of a string. For a loop that looks up many strings: passing a string's hash to
  // Prefetch() some time before its lookup spares the lookup the wait for memory.
  static uint32_t HashOf(llvm::StringRef text);
  void Prefetch(uint32_t hash) const {
    const Slots& slots = *slots_.load(std::memory_order_acquire);
    __builtin_prefetch(&slots.taken[hash & slots.mask]);
  }
  StringId InternBorrowed(llvm::StringRef text, uint32_t hash) {
    return AddHashed(text, hash, /*copy=*/false);
  }

  llvm::StringRef Get(StringId id) const {
    const Entry& entry = At(id);
    return {entry.data, entry.size};
  }
  size_t size() const { return size_.load(std::memory_order_acquire); }
  void Reserve(size_t strings);

 private:
  struct Entry {
    const char* data;
    uint32_t size;
  };
  // A hash table with open addressing; its size is a power of two, and at most three quarters of it
  // are used. A slot has the string's hash in the upper half and its id in the lower, so texts are
  // compared only if the whole hash is equal. Once a larger table has replaced it, it stays
  // allocated for threads that still read it.
  struct Slots {
    explicit Slots(size_t count);
    size_t mask;
    std::unique_ptr<std::atomic<uint64_t>[]> taken;
  };
  static constexpr uint64_t kFree = ~uint64_t{0};

  // The entries are in blocks and never move: block b has room for kFirstBlock << b entries.
  static constexpr uint32_t kFirstBlockBits = 8, kFirstBlock = 1u << kFirstBlockBits;
  static constexpr uint32_t kBlocks = 32 - kFirstBlockBits;
  const Entry& At(StringId id) const {
    uint64_t place = uint64_t{id} + kFirstBlock;
    unsigned bits = llvm::Log2_64(place);
    return blocks_[bits - kFirstBlockBits].load(std::memory_order_acquire)[place ^ (1ull << bits)];
  }
  StringId Add(llvm::StringRef text, bool copy);
  StringId AddHashed(llvm::StringRef text, uint32_t hash, bool copy);
  // Returns the slot of the string, or the free slot where the string belongs.
  size_t SlotOf(const Slots& slots, llvm::StringRef text, uint32_t hash) const;
  const Slots* Grow(size_t count);
  Entry& NewEntry(StringId id);

  std::array<std::atomic<Entry*>, kBlocks> blocks_{};
  std::atomic<uint32_t> size_{0};
  std::atomic<const Slots*> slots_{nullptr};
  std::mutex adding_;  // guards the fields below, and changes of the fields above
  std::vector<std::unique_ptr<Slots>> all_slots_;
  llvm::BumpPtrAllocator copies_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_STRING_TABLE_H_
