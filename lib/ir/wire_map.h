// Entries of protobuf's maps: messages of a key (field 1) and a value (field 2), both bytes.
#ifndef GRAPNEL_LIB_IR_WIRE_MAP_H_
#define GRAPNEL_LIB_IR_WIRE_MAP_H_

#include <string>
#include <utility>

#include "lib/ir/wire.h"

namespace grapnel {

// Key and value of a serialized entry, views of it; of a field that is there twice the last.
inline std::pair<llvm::StringRef, llvm::StringRef> ReadMapEntry(llvm::StringRef entry) {
  llvm::StringRef key, value;
  WireReader reader(entry);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) key = reader.bytes();
    if (reader.Is(2, WireType::kBytes)) value = reader.bytes();
  }
  return {key, value};
}

// An entry of the map `field` up to its value's bytes, which are to follow.
inline void AppendMapEntryHead(std::string* out, uint32_t field, llvm::StringRef key,
                               llvm::StringRef value) {
  std::string head;
  AppendBytesField(&head, 1, key);
  AppendTag(&head, 2, WireType::kBytes);
  AppendVarint(&head, value.size());
  AppendTag(out, field, WireType::kBytes);
  AppendVarint(out, head.size() + value.size());
  *out += head;
}

inline void AppendMapEntry(std::string* out, uint32_t field, llvm::StringRef key,
                           llvm::StringRef value) {
  AppendMapEntryHead(out, field, key, value);
  out->append(value.data(), value.size());
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_WIRE_MAP_H_
