#include "lib/io/riegeli_transposed.h"

#include <algorithm>
#include <iterator>

#include "lib/ir/wire.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Tags below 8 are not those of fields: they mark states that write something else, or nothing.
// Values as in MessageId of Riegeli's transpose_internal.h.
enum State : uint32_t { kNoOp = 0, kNonProto = 1, kStartOfSubmessage = 2, kStartOfMessage = 3 };
// In place of a field's wire type in a tag, marks the end of a submessage. With the wire type of a
// bytes field instead, it is the tag of the field that contains the submessage.
constexpr uint32_t kEndOfSubmessage = 6;
// The subtype of a varint field. Below kVarintInline, the value is in a buffer and takes subtype +
// 1 bytes; from kVarintInline on, the value itself is subtype - kVarintInline.
constexpr uint8_t kVarintInline = 10, kVarintInlineMax = kVarintInline + 0x7f;
// The most states that Run visits per byte. Only a few states without output lie between two with
// output, so valid data stays below this.
constexpr uint64_t kStepsForAByte = 64;

WireType WireTypeOf(uint32_t tag) { return static_cast<WireType>(tag & 7); }

bool IsTag(uint32_t tag) { return tag >= 8 && (tag & 7) <= 5; }

struct FieldNode {
  uint32_t tag = 0;       // the tag of a field, or a State
  uint8_t subtype = 0;    // for a varint; see kVarintInline
  bool ends = false;      // true: the end of the submessage in this field
  bool implicit = false;  // true: `next` follows without reading a transition
  uint32_t next = 0;
  ByteReader* buffer = nullptr;  // the values of the field; null: the state reads no value

  bool HasBuffer() const {
    if (tag == kNonProto) return true;
    if (!IsTag(tag) || ends) return false;
    WireType type = WireTypeOf(tag);
    return type == WireType::kVarint ? subtype < kVarintInline
                                     : type != WireType::kStartGroup && type != WireType::kEndGroup;
  }
};

class TransposedReader {
 public:
  TransposedReader(uint64_t num_records, uint64_t size, uint64_t room, std::vector<size_t>* ends)
      : num_records_(num_records), size_(size), room_(room), ends_(*ends) {}

  Expected<std::string> Read(llvm::StringRef data) {
    ByteReader reader(data);
    llvm::StringRef type, packed;
    uint64_t header_size;
    if (!reader.Bytes(1, &type) || !reader.Varint(&header_size) ||
        !reader.Bytes(header_size, &packed))
      return MakeError("the data ends before its header does");
    compression_ = static_cast<Compression>(type[0]);
    ASSIGN_OR_RETURN(std::string header, Unpack(compression_, packed, room_));
    ByteReader header_reader(header);
    RETURN_IF_ERROR(ReadBuffers(header_reader, reader));
    RETURN_IF_ERROR(ReadStates(header_reader));
    ASSIGN_OR_RETURN(std::string transitions, Unpack(compression_, reader.rest(), room_));
    RETURN_IF_ERROR(Run(transitions));
    return Finish();
  }

 private:
  Error Damaged(const char* what) { return MakeError("the header has no valid {0}", what); }

  // Reads the buffers that hold the fields' values. They are stored in buckets: each bucket holds
  // consecutive buffers and is decompressed as a whole.
  Error ReadBuffers(ByteReader& header, ByteReader& data) {
    uint32_t num_buckets, num_buffers;
    if (!header.Varint32(&num_buckets) || !header.Varint32(&num_buffers))
      return Damaged("number of buffers");
    uint64_t room = room_;
    for (uint32_t i = 0; i < num_buckets; ++i) {
      uint64_t size;
      llvm::StringRef packed;
      if (!header.Varint(&size) || !data.Bytes(size, &packed)) return Damaged("bucket of values");
      ASSIGN_OR_RETURN(std::string bucket, Unpack(compression_, packed, room));
      room -= bucket.size();
      buckets_.push_back(std::make_unique<std::string>(std::move(bucket)));
    }
    if (num_buckets == 0 && num_buffers > 0) return Damaged("bucket of values");
    if (num_buffers > header.rest().size()) return Damaged("sizes of the buffers");
    buffers_.reserve(num_buffers);
    size_t bucket = 0;
    ByteReader rest(buckets_.empty() ? llvm::StringRef() : *buckets_[0]);
    for (uint32_t i = 0; i < num_buffers; ++i) {
      uint64_t size;
      llvm::StringRef bytes;
      if (!header.Varint(&size) || !rest.Bytes(size, &bytes))
        return Damaged("sizes of the buffers");
      buffers_.emplace_back(bytes);
      while (rest.rest().empty() && bucket + 1 < buckets_.size())
        rest = ByteReader(*buckets_[++bucket]);
    }
    return Error::success();
  }

  Error ReadStates(ByteReader& header) {
    uint32_t count;
    if (!header.Varint32(&count) || count > header.rest().size()) return Damaged("states");
    nodes_.resize(count);
    uint64_t num_subtypes = 0;
    for (FieldNode& node : nodes_) {
      if (!header.Varint32(&node.tag)) return Damaged("tags of the states");
      node.ends = node.tag >= 8 && (node.tag & 7) == kEndOfSubmessage;
      if (node.ends) node.tag -= kEndOfSubmessage - static_cast<uint32_t>(WireType::kBytes);
      if (node.tag > kStartOfMessage && !IsTag(node.tag)) return Damaged("tags of the states");
      num_subtypes += IsVarint(node);
    }
    for (FieldNode& node : nodes_) {
      if (!header.Varint32(&node.next)) return Damaged("next states");
      node.implicit = node.next >= count;
      if (node.implicit) node.next -= count;
      if (node.next >= count) return Damaged("next states");
    }
    llvm::StringRef subtypes;
    if (!header.Bytes(num_subtypes, &subtypes)) return Damaged("subtypes");
    for (FieldNode& node : nodes_) {
      if (IsVarint(node)) {
        node.subtype = static_cast<uint8_t>(subtypes.front());
        subtypes = subtypes.drop_front();
        if (node.subtype > kVarintInlineMax) return Damaged("subtypes");
      }
      if (!node.HasBuffer()) continue;
      uint32_t buffer;
      if (!header.Varint32(&buffer) || buffer >= buffers_.size())
        return Damaged("buffers of the states");
      node.buffer = &buffers_[buffer];
    }
    if (!header.Varint32(&first_) || first_ >= count) return Damaged("first state");
    return HasImplicitLoop() ? Damaged("way out of a loop of states") : Error::success();
  }

  static bool IsVarint(const FieldNode& node) {
    return IsTag(node.tag) && !node.ends && WireTypeOf(node.tag) == WireType::kVarint;
  }

  bool HasImplicitLoop() const {
    std::vector<uint32_t> seen(nodes_.size(), 0);
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t at = i; seen[at] == 0;) {
        seen[at] = i + 1;
        if (!nodes_[at].implicit) break;
        at = nodes_[at].next;
        if (seen[at] == i + 1) return true;
      }
    }
    return false;
  }

  // Visits the states and writes the field of each. A byte of `transitions` leads to a state up to
  // 63 after the `next` of the current state, and says after how many further steps (up to 3) the
  // next byte is read. Steps to the `next` of an implicit state need no byte and do not count.
  Error Run(llvm::StringRef transitions) {
    uint64_t steps = (size_ + num_records_ + transitions.size() + 1) * kStepsForAByte;
    size_t at = first_;
    int straight_on = nodes_[at].implicit ? 1 : 0;
    for (;;) {
      if (steps-- == 0)
        return MakeError("the records are damaged: their fields do not end within the stated size");
      RETURN_IF_ERROR(Give(nodes_[at]));
      at = nodes_[at].next;
      if (straight_on > 0) {
        straight_on -= nodes_[at].implicit ? 0 : 1;
        continue;
      }
      if (transitions.empty()) return Error::success();
      auto byte = static_cast<uint8_t>(transitions.front());
      transitions = transitions.drop_front();
      at += byte >> 2;
      if (at >= nodes_.size())
        return MakeError("a transition leads to a state that does not exist");
      straight_on = (byte & 3) + (nodes_[at].implicit ? 1 : 0);
    }
  }

  Error Give(const FieldNode& node) {
    if (node.tag == kNoOp) return Error::success();
    if (node.tag == kStartOfMessage) return EndRecord();
    if (node.tag == kStartOfSubmessage) return StartSubmessage();
    if (node.tag == kNonProto) return GiveNonProto(node);
    if (node.ends) {
      open_.push_back({reversed_.size(), node.tag});
      return Error::success();
    }
    std::string field;
    AppendVarint(&field, node.tag);
    RETURN_IF_ERROR(AppendValue(node, &field));
    return Put(field);
  }

  Error AppendValue(const FieldNode& node, std::string* field) {
    llvm::StringRef value;
    switch (WireTypeOf(node.tag)) {
      case WireType::kVarint:
        if (node.subtype >= kVarintInline) {
          field->push_back(static_cast<char>(node.subtype - kVarintInline));
          return Error::success();
        }
        if (!node.buffer->Bytes(node.subtype + 1, &value)) return EndOfValues();
        for (char byte : value.drop_back()) field->push_back(static_cast<char>(byte | 0x80));
        field->push_back(value.back());
        return Error::success();
      case WireType::kFixed32:
      case WireType::kFixed64:
        if (!node.buffer->Bytes(WireTypeOf(node.tag) == WireType::kFixed32 ? 4 : 8, &value))
          return EndOfValues();
        *field += value;
        return Error::success();
      case WireType::kBytes: {
        uint32_t size;
        if (!node.buffer->Varint32(&size) || !node.buffer->Bytes(size, &value))
          return EndOfValues();
        AppendVarint(field, size);
        *field += value;
        return Error::success();
      }
      default:
        return Error::success();  // a group consists only of its tag
    }
  }

  // Writes a record that is not a protobuf message. Its bytes are in the state's own buffer, its
  // length in the last buffer, which all such records share.
  Error GiveNonProto(const FieldNode& node) {
    uint32_t size;
    llvm::StringRef record;
    if (!buffers_.back().Varint32(&size) || !node.buffer->Bytes(size, &record))
      return EndOfValues();
    RETURN_IF_ERROR(Put(record));
    return EndRecord();
  }

  Error StartSubmessage() {
    if (open_.empty()) return MakeError("a message in the records has no end");
    auto [end, tag] = open_.back();
    open_.pop_back();
    std::string head;
    AppendVarint(&head, tag);
    AppendVarint(&head, reversed_.size() - end);
    return Put(head);
  }

  Error EndRecord() {
    if (!open_.empty()) return MakeError("a message in the records has no beginning");
    if (ends_.size() == num_records_)
      return MakeError("there are more records than the header says");
    ends_.push_back(reversed_.size());
    return Error::success();
  }

  Error EndOfValues() { return MakeError("the value of a field, or a record, is cut off"); }

  Error Put(llvm::StringRef bytes) {
    if (bytes.size() > size_ - reversed_.size())
      return MakeError("the records take more bytes than the header says");
    reversed_.append(std::make_reverse_iterator(bytes.end()),
                     std::make_reverse_iterator(bytes.begin()));
    return Error::success();
  }

  Expected<std::string> Finish() {
    bool is_whole = open_.empty() && ends_.size() == num_records_ && reversed_.size() == size_ &&
                    (ends_.empty() ? size_ == 0 : ends_.back() == size_);
    if (!is_whole)
      return MakeError(
          "the number or the sizes of the records differ from those in the header, or a message "
          "has no beginning");
    std::reverse(reversed_.begin(), reversed_.end());
    // `ends_` has the beginnings of the records, counted from the end of the output and from the
    // last record to the first. Converts them to ends, counted from the start.
    for (size_t& end : ends_) end = size_ - end;
    std::reverse(ends_.begin(), ends_.end());
    for (size_t i = 0; i < ends_.size(); ++i)
      ends_[i] = i + 1 < ends_.size() ? ends_[i + 1] : size_;
    return std::move(reversed_);
  }

  struct Open {
    size_t end;  // the end of the submessage in `reversed_`
    uint32_t tag;
  };

  uint64_t num_records_, size_, room_;
  std::vector<size_t>& ends_;
  Compression compression_ = Compression::kNone;
  std::vector<std::unique_ptr<std::string>> buckets_;
  std::vector<ByteReader> buffers_;
  std::vector<FieldNode> nodes_;
  uint32_t first_ = 0;
  std::vector<Open> open_;
  std::string reversed_;
};

}  // namespace

bool ByteReader::Varint(uint64_t* value) {
  WireReader reader(rest_);
  if (!reader.Varint(value)) return false;
  rest_ = rest_.drop_front(reader.offset());
  return true;
}

bool ByteReader::Varint32(uint32_t* value) {
  uint64_t wide;
  if (!Varint(&wide) || wide > UINT32_MAX) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool ByteReader::Bytes(uint64_t size, llvm::StringRef* bytes) {
  if (size > rest_.size()) return false;
  *bytes = rest_.take_front(size);
  rest_ = rest_.drop_front(size);
  return true;
}

Expected<std::string> Unpack(Compression compression, llvm::StringRef packed, uint64_t room) {
  uint64_t size = packed.size();
  ByteReader reader(packed);
  if (compression != Compression::kNone && !reader.Varint(&size))
    return MakeError("a part of the records has no size");
  if (size > room) {
    return MakeError("a part of the records takes {0}, at most {1} were expected", HumanBytes(size),
                     HumanBytes(room));
  }
  return Decompress(compression, reader.rest(), size);
}

Expected<std::string> ReadTransposed(llvm::StringRef data, uint64_t num_records, uint64_t size,
                                     uint64_t room, std::vector<size_t>* ends) {
  return TransposedReader(num_records, size, room, ends).Read(data);
}

}  // namespace grapnel
