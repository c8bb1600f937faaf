// Entries of protobuf maps: messages with the key in field 1 and the value in field 2. Here both
// are bytes fields.
#ifndef GRAPNEL_LIB_IR_WIRE_MAP_H_
#define GRAPNEL_LIB_IR_WIRE_MAP_H_

#include <string>
#include <utility>

#include "lib/ir/wire.h"

namespace grapnel {

// Returns key and value of a serialized entry, as views; if a field occurs twice, its last value.
inline std::pair<llvm::StringRef, llvm::StringRef> ReadMapEntry(llvm::StringRef entry) {
  llvm::StringRef key, value;
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) key = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) value = reader.bytes();
  }
  return {key, value};
}

// Appends an entry of the map with field number `field`, up to the bytes of the value, which the
// caller appends.
inline void AppendMapEntryHead(std::string* out, uint32_t field, llvm::StringRef key,
                               llvm::StringRef value) {
  constexpr char kKey = 0x0A, kValue = 0x12;  // tags of the key and value fields
  size_t head = 2 + VarintSize(key.size()) + key.size() + VarintSize(value.size());
  uint64_t tag = TagOf(field, WireType::kBytes), size = head + value.size();
  char* at = Extend(out, VarintSize(tag) + VarintSize(size) + head);
  at = PutVarint(PutVarint(at, tag), size);
  *at++ = kKey;
  at = PutBytes(PutVarint(at, key.size()), key);
  *at++ = kValue;
  PutVarint(at, value.size());
}

inline void AppendMapEntry(std::string* out, uint32_t field, llvm::StringRef key,
                           llvm::StringRef value) {
  AppendMapEntryHead(out, field, key, value);
  out->append(value.data(), value.size());
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_WIRE_MAP_H_
