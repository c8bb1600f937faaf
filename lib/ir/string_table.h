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

// Costs 32 bytes a string beside the string itself. Thread-safe; the ids of strings that several
// threads add depend on timing, so nothing may be ordered by id. Lookups take no lock.
class GRAPNEL_PUBLIC StringTable {
 public:
  StringTable();
  ~StringTable();
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  // Returns the id of `text`, and copies it if it is new.
  StringId Intern(llvm::StringRef text) { return Add(text, /*copy=*/true); }
  // Like Intern, but without a copy: `text` must live as long as the table.
  StringId InternBorrowed(llvm::StringRef text) { return Add(text, /*copy=*/false); }
  // Returns the id of `text`; kNoString if the string was never interned.
  StringId Find(llvm::StringRef text) const;

  // Returns the hash of a string. For lookups of many known names: the caller passes the hash to
  // Prefetch() ahead of time, so that the lookup does not wait for memory.
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
  // A hash table with open addressing; its size is a power of two, its load at most three quarters.
  // A slot holds a string's hash above its id, so that only strings with the same full hash are
  // compared. A table that was replaced by a larger one stays alive for concurrent readers.
  struct Slots {
    explicit Slots(size_t count);
    size_t mask;
    std::unique_ptr<std::atomic<uint64_t>[]> taken;
  };
  static constexpr uint64_t kFree = ~uint64_t{0};

  // Entries never move: block b has room for kFirstBlock << b of them.
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
