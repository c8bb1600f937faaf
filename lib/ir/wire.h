// Reads protobuf's wire format in place, so that a graph of gigabytes opens without a copy, and
// writes it.
#ifndef GRAPNEL_LIB_IR_WIRE_H_
#define GRAPNEL_LIB_IR_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class WireType : uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

// Walks the fields of one message. Never reads outside `bytes`; a malformed field ends the walk
// with failed() true.
//   WireReader reader(bytes);
//   while (reader.Next()) switch (reader.field()) { case 1: name = reader.bytes(); ... }
class WireReader {
 public:
  explicit WireReader(llvm::StringRef bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Advances to the next field; false at the end or at a malformed field.
  bool Next() {
    if (at_ == end_) return false;
    field_begin_ = at_;
    uint64_t tag;
    if (!Varint(&tag) || (tag >> 3) == 0 || (tag >> 3) > 0x1FFFFFFF) return Fail();
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    switch (type_) {
      case WireType::kVarint:
        return Varint(&number_) || Fail();
      case WireType::kFixed64:
        if (end_ - at_ < 8) return Fail();
        std::memcpy(&number_, at_, 8);
        at_ += 8;
        return true;
      case WireType::kFixed32: {
        if (end_ - at_ < 4) return Fail();
        uint32_t number;
        std::memcpy(&number, at_, 4);
        number_ = number;
        at_ += 4;
        return true;
      }
      case WireType::kBytes: {
        uint64_t size;
        if (!Varint(&size) || size > static_cast<uint64_t>(end_ - at_)) return Fail();
        bytes_ = {at_, static_cast<size_t>(size)};
        at_ += size;
        return true;
      }
      default:
        return Fail();  // groups are in no TensorFlow message
    }
  }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool Is(uint32_t field, WireType type) const { return field_ == field && type_ == type; }
  uint64_t number() const { return number_; }  // the value of a varint or fixed field
  float number_as_float() const {
    uint32_t bits = static_cast<uint32_t>(number_);
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  llvm::StringRef bytes() const { return bytes_; }  // the contents of a kBytes field
  llvm::StringRef whole_field() const {             // tag included
    return {field_begin_, static_cast<size_t>(at_ - field_begin_)};
  }
  size_t offset() const { return at_ - begin_; }
  bool failed() const { return failed_; }

  // Reads one varint from the current position. Callers also use it for the numbers of a packed
  // list.
  bool Varint(uint64_t* value) {
    if (at_ < end_ && static_cast<uint8_t>(*at_) < 0x80) {  // the common case
      *value = static_cast<uint8_t>(*at_++);
      return true;
    }
    return LongVarint(value);
  }
  bool AtEnd() const { return at_ == end_; }

 private:
  bool LongVarint(uint64_t* value) {
    uint64_t result = 0;
    for (int shift = 0; shift < 64 && at_ < end_; shift += 7) {
      uint8_t byte = static_cast<uint8_t>(*at_++);
      result |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        *value = result;
        return true;
      }
    }
    return false;
  }
  bool Fail() {
    failed_ = true;
    at_ = end_;
    return false;
  }
  const char *begin_, *at_, *end_, *field_begin_ = nullptr;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t number_ = 0;
  llvm::StringRef bytes_;
  bool failed_ = false;
};

constexpr size_t kMaxVarint = 10;
// Writes a varint at `at`; returns the position after it.
inline char* PutVarint(char* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}
inline size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}
inline uint64_t TagOf(uint32_t field, WireType type) {
  return static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type);
}

inline void AppendVarint(std::string* out, uint64_t value) {
  char text[kMaxVarint];
  out->append(text, PutVarint(text, value));
}
inline void AppendTag(std::string* out, uint32_t field, WireType type) {
  AppendVarint(out, TagOf(field, type));
}
// Appends the tag and length of a bytes field; the caller appends its `size` bytes.
inline void AppendBytesHead(std::string* out, uint32_t field, size_t size) {
  char text[2 * kMaxVarint];
  out->append(text, PutVarint(PutVarint(text, TagOf(field, WireType::kBytes)), size));
}
// Appends `size` bytes to `out` for the caller to write, and returns where they begin. Cheaper than
// several appends.
inline char* Extend(std::string* out, size_t size) {
  size_t before = out->size();
  out->resize(before + size);
  return out->data() + before;
}
inline char* PutBytes(char* at, llvm::StringRef bytes) {
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}
inline void AppendBytesField(std::string* out, uint32_t field, llvm::StringRef bytes) {
  uint64_t tag = TagOf(field, WireType::kBytes);
  char* at = Extend(out, VarintSize(tag) + VarintSize(bytes.size()) + bytes.size());
  PutBytes(PutVarint(PutVarint(at, tag), bytes.size()), bytes);
}
inline void AppendVarintField(std::string* out, uint32_t field, uint64_t value) {
  AppendTag(out, field, WireType::kVarint);
  AppendVarint(out, value);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_WIRE_H_
