// A serialized message that parts are put into, whatever its size: for lib/io/chunked_message.cpp.
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

// Knows fields by their numbers alone, so it loses none; what nobody asks for stays as it was
// written. Points into the bytes that it was given, which outlive it.
class EditableMessage {
 public:
  // Serialized fields that follow those that are there: numbers are replaced, lists and messages
  // grow, as protobuf merges.
  void Append(llvm::StringRef fields) { unread_.push_back(fields); }
  // Makes these bytes, of a string or a message, the only ones.
  void Replace(llvm::StringRef bytes);

  // The message or string in a field that is there once; made where it is not.
  EditableMessage& Only(uint32_t field);
  // The one at `index` of a list; made where that is the list's end, null behind it.
  EditableMessage* At(uint32_t field, uint64_t index);
  // The value of a map's entry; made where the map has none. `key` is the field of the key, with
  // its tag, as AppendBytesField(1, ...) or AppendVarintField(1, ...) write it.
  EditableMessage& ValueOf(uint32_t field, llvm::StringRef key);

  // Bytes of the whole; to be asked again after a change.
  uint64_t Measure();
  // Appends it to `out`; Measure() was called since the last change. Recurses into what was asked
  // for.
  void Write(std::string* out) const;

 private:
  struct Field {
    uint32_t number = 0;
    llvm::StringRef raw;  // as it was read, with its tag; empty: of `message`
    std::unique_ptr<EditableMessage> message;
  };

  void Read();
  size_t Add(uint32_t number);
  EditableMessage& Edit(size_t place);

  std::vector<llvm::StringRef> unread_;  // behind `fields_`
  std::vector<Field> fields_;
  llvm::DenseMap<uint32_t, std::vector<size_t>> places_;    // in `fields_`, of bytes fields
  llvm::DenseMap<uint32_t, llvm::StringMap<size_t>> keys_;  // of maps that were asked for
  uint64_t size_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_EDITABLE_MESSAGE_H_
