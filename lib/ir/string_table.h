// Names as numbers: each distinct string once, compared as an integer.
#ifndef GRAPNEL_LIB_IR_STRING_TABLE_H_
#define GRAPNEL_LIB_IR_STRING_TABLE_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

namespace grapnel {

using StringId = uint32_t;
constexpr StringId kEmptyString = 0;
constexpr StringId kNoString = ~StringId{0};

// 24 bytes a string beside the string itself. Not thread-safe while strings are added.
class StringTable {
 public:
  StringTable();
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  // The number of `text`, which is copied when new.
  StringId Intern(llvm::StringRef text) { return Add(text, /*copy=*/true); }
  // The same without the copy: `text` must live as long as the table.
  StringId InternBorrowed(llvm::StringRef text) { return Add(text, /*copy=*/false); }
  // kNoString when it was never interned.
  StringId Find(llvm::StringRef text) const;

  llvm::StringRef Get(StringId id) const { return {entries_[id].data, entries_[id].size}; }
  size_t size() const { return entries_.size(); }
  void Reserve(size_t strings);

 private:
  struct Entry {
    const char* data;
    uint32_t size;
    uint32_t hash;
  };
  StringId Add(llvm::StringRef text, bool copy);
  size_t Slot(llvm::StringRef text,
              uint32_t hash) const;  // where it is, or the empty slot where it belongs
  void Grow(size_t slots);

  std::vector<Entry> entries_;
  std::vector<StringId> slots_;  // open addressing, a power of two, at most half full
  llvm::BumpPtrAllocator copies_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_STRING_TABLE_H_
