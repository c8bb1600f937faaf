// A serialized message of any size into which other messages can be merged. For
// lib/io/chunked_message.cpp.
#ifndef GRAPNEL_LIB_IO_EDITABLE_MESSAGE_H_
#define GRAPNEL_LIB_IO_EDITABLE_MESSAGE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/ir/wire.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Fields of the entries of a map.
enum : uint32_t { kMapKey = 1, kMapValue = 2 };

// Works on field numbers only, so it loses no field; fields that are not accessed keep their bytes.
// Points into the bytes that the caller passes, which must outlive the EditableMessage.
class EditableMessage {
 public:
  // Appends serialized fields after the existing ones: numbers are replaced, lists and messages
  // grow, as protobuf merges.
  void Append(llvm::StringRef fields) { unread_.push_back(fields); }
  // Replaces the whole content, of a string or a message, by `bytes`.
  void Replace(llvm::StringRef bytes);

  // Returns the message or string in a singular field, which is created if missing.
  EditableMessage& Only(uint32_t field);
  // Returns the element at `index` of a repeated field. `index` may be the end of the list, where
  // an element is added; null beyond the end.
  EditableMessage* At(uint32_t field, uint64_t index);
  // Returns the value of a map entry, which is created if missing. `key` is the entry's key field
  // with its tag, as AppendBytesField(1, ...) or AppendVarintField(1, ...) write it.
  EditableMessage& ValueOf(uint32_t field, llvm::StringRef key);

  // Returns the total size in bytes; must be called again after a change.
  uint64_t Measure();
  // Appends the message to `out`. Requires a call of Measure() after the last change. Recurses into
  // accessed submessages.
  void Write(std::string* out) const;

 private:
  struct Field {
    uint32_t number = 0;
    llvm::StringRef raw;  // the original bytes with tag; not used once `message` is set
    std::unique_ptr<EditableMessage> message;
  };

  void Read();
  size_t Add(uint32_t number);
  EditableMessage& Edit(size_t place);

  std::vector<llvm::StringRef> unread_;  // after `fields_`
  std::vector<Field> fields_;
  llvm::DenseMap<uint32_t, std::vector<size_t>> places_;    // index in `fields_`, for bytes fields
  llvm::DenseMap<uint32_t, llvm::StringMap<size_t>> keys_;  // by key, for accessed maps
  uint64_t size_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EDITABLE_MESSAGE_H_
