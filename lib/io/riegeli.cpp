#include "lib/io/riegeli.h"

#include <highwayhash/c_bindings.h>

#include <algorithm>

#include "lib/io/riegeli_transposed.h"
#include "lib/support/memory.h"
#include "lib/support/text.h"
#include "llvm/Support/Endian.h"

namespace grapnel {
namespace {

using llvm::support::endian::read64le;

constexpr uint64_t kBlock = 1 << 16, kBlockHeader = 24, kUsable = kBlock - kBlockHeader;
constexpr uint64_t kGroupHeader = 40;
constexpr uint64_t kLongestVarint = 10;
constexpr llvm::StringRef kRiegeliSignature("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f", 8);
enum GroupType : char { kSimple = 'r', kTransposed = 't' };

uint64_t Hash(llvm::StringRef bytes) {
  alignas(32) static const HHKey kKey = {0x2f696c6567656952, 0x0a7364726f636572, 0x2f696c6567656952,
                                         0x0a7364726f636572};
  return HighwayHash64(kKey, bytes.data(), bytes.size());
}

// True if a group may begin at this position: at the start of a block, or at least one byte after
// the block's header.
bool MayBegin(uint64_t position) {
  uint64_t in_block = position % kBlock;
  return in_block == 0 || in_block > kBlockHeader;
}

// Returns the file position where a group ends that begins at `begin` and has `size` bytes,
// counting also the block headers that interrupt it.
uint64_t PositionAfter(uint64_t begin, uint64_t size) {
  uint64_t headers = (size + (begin + kUsable - 1) % kBlock) / kUsable;
  return begin + size + headers * kBlockHeader;
}

uint64_t NextBeginning(uint64_t position) {
  uint64_t left = kBlock - 1 - (position + kBlock - 1) % kBlock;
  return position + (left >= kUsable ? left - (kUsable - 1) : 0);
}

}  // namespace

bool IsRiegeli(llvm::StringRef head) { return HasPrefix(head, kRiegeliSignature); }

// While records are merged, both the records and the merged message are in memory, so records may
// take only half of the free memory.
RiegeliFile::RiegeliFile(std::shared_ptr<const FileBytes> file)
    : file_(std::move(file)), room_(AvailableMemory() / 2) {}

Expected<RiegeliFile> RiegeliFile::Open(std::shared_ptr<const FileBytes> file) {
  RiegeliFile riegeli(std::move(file));
  uint64_t size = riegeli.file_->bytes().size(), at = 0;
  bool any = false;
  while (at < size) {
    Group group;
    if (Error error = riegeli.ReadHeader(at, &group)) {
      uint64_t next = riegeli.NextGroup(at);
      riegeli.problems_.push_back(TextOf(std::move(error)) +
                                  (next < size ? "; the next records are at " + std::to_string(next)
                                               : "; nothing after that is read"));
      at = next;
      continue;
    }
    any = true;
    if (group.num_records > 0 && (group.type == kSimple || group.type == kTransposed))
      riegeli.groups_.push_back(group);
    at = group.end;
  }
  if (!any) return MakeError("no group of its records can be read");
  return riegeli;
}

// Copies the next `size` bytes of a group to `out`, skipping block headers, and advances
// `*position`; false if the file ends earlier.
bool RiegeliFile::Copy(uint64_t* position, uint64_t size, std::string* out) const {
  llvm::StringRef bytes = file_->bytes();
  while (size > 0) {
    if (*position % kBlock == 0) *position += kBlockHeader;
    uint64_t part = std::min(size, kBlock - *position % kBlock);
    if (*position > bytes.size() || part > bytes.size() - *position) return false;
    out->append(bytes.data() + *position, part);
    *position += part;
    size -= part;
  }
  return true;
}

Error RiegeliFile::ReadHeader(uint64_t begin, Group* group) const {
  std::string header;
  uint64_t at = begin, file_size = file_->bytes().size();
  if (!MayBegin(begin) || !Copy(&at, kGroupHeader, &header))
    return MakeError("no records can begin at {0}, or the file ends in the middle of their header",
                     begin);
  auto number = [&](int i) { return read64le(header.data() + 8 * i); };
  if (Hash(llvm::StringRef(header).drop_front(8)) != number(0))
    return MakeError("the header of the records at {0} is damaged (its hash differs)", begin);
  group->begin = begin;
  group->data_size = number(1);
  group->data_hash = number(2);
  group->type = static_cast<char>(number(3) & 0xff);
  group->num_records = number(3) >> 8;
  group->decoded_size = number(4);
  bool is_there = group->data_size <= file_size && group->num_records <= file_size &&
                  PositionAfter(begin, kGroupHeader + group->data_size) <= file_size;
  if (!is_there)
    return MakeError("the file is too short for the size or the number of the records at {0}",
                     begin);
  group->end = std::max(PositionAfter(begin, kGroupHeader + group->data_size),
                        NextBeginning(begin + group->num_records));
  return Error::success();
}

// Returns the position of the next group after a damaged one, from the next intact block header;
// the size of the file if there is none.
uint64_t RiegeliFile::NextGroup(uint64_t damaged) const {
  llvm::StringRef bytes = file_->bytes();
  for (uint64_t block = (damaged / kBlock + 1) * kBlock; block + kBlockHeader <= bytes.size();
       block += kBlock) {
    llvm::StringRef header = bytes.substr(block, kBlockHeader);
    if (Hash(header.drop_front(8)) != read64le(header.data())) continue;
    uint64_t previous = read64le(header.data() + 8), next = read64le(header.data() + 16);
    if (previous == 0) return block;
    if (next > 0 && next < bytes.size() - block && MayBegin(block + next)) return block + next;
  }
  return bytes.size();
}

Expected<llvm::StringRef> RiegeliFile::Read(uint64_t position) {
  auto after = llvm::upper_bound(groups_, position,
                                 [](uint64_t at, const Group& group) { return at < group.begin; });
  if (after == groups_.begin() ||
      position - std::prev(after)->begin >= std::prev(after)->num_records)
    return MakeError("no record begins at {0}", position);
  const Group& group = *std::prev(after);
  auto known = expanded_.find(group.begin);
  if (known == expanded_.end()) {
    Expected<Expanded> expanded = Expand(group);
    if (!expanded) {
      return Annotate("the records at " + std::to_string(group.begin), expanded.takeError());
    }
    room_ -= std::min<uint64_t>(room_, expanded->bytes.size());
    known = expanded_.emplace(group.begin, std::move(*expanded)).first;
  }
  const std::vector<size_t>& ends = known->second.ends;
  uint64_t index = position - group.begin;
  size_t start = index == 0 ? 0 : ends[index - 1];
  return llvm::StringRef(known->second.bytes)
      .drop_front(known->second.begin)
      .slice(start, ends[index]);
}

Expected<RiegeliFile::Expanded> RiegeliFile::Expand(const Group& group) {
  if (group.decoded_size > room_) {
    return MakeError("the records claim to take {0}, and only {1} of memory are left for them",
                     HumanBytes(group.decoded_size), HumanBytes(room_));
  }
  std::string data;
  data.reserve(group.data_size);
  uint64_t at = PositionAfter(group.begin, kGroupHeader);
  if (!Copy(&at, group.data_size, &data)) return MakeError("the data is cut off");
  if (Hash(data) != group.data_hash) return MakeError("the data is damaged (its hash differs)");
  if (group.type == kSimple) return ExpandSimple(group, std::move(data));
  Expanded expanded;
  ASSIGN_OR_RETURN(expanded.bytes, ReadTransposed(data, group.num_records, group.decoded_size,
                                                  room_, &expanded.ends));
  return expanded;
}

Expected<RiegeliFile::Expanded> RiegeliFile::ExpandSimple(const Group& group, std::string data) {
  ByteReader reader(data);
  llvm::StringRef type, packed_sizes;
  uint64_t size;
  if (!reader.Bytes(1, &type) || !reader.Varint(&size) || !reader.Bytes(size, &packed_sizes))
    return MakeError("the data ends before the sizes of the records do");
  auto compression = static_cast<Compression>(type[0]);
  Expanded expanded;
  ASSIGN_OR_RETURN(std::string sizes,
                   Unpack(compression, packed_sizes, group.num_records * kLongestVarint));
  if (compression == Compression::kNone) {
    expanded.begin = data.size() - reader.rest().size();
    expanded.bytes = std::move(data);
  } else {
    ASSIGN_OR_RETURN(expanded.bytes, Unpack(compression, reader.rest(), group.decoded_size));
  }
  uint64_t end = 0, all = expanded.bytes.size() - expanded.begin;
  ByteReader size_reader(sizes);
  for (uint64_t i = 0; i < group.num_records; ++i) {
    if (!size_reader.Varint(&size) || size > all - end)
      return MakeError("record {0} lies outside of the data, or its size cannot be read", i);
    expanded.ends.push_back(end += size);
  }
  if (end != group.decoded_size || end != all || !size_reader.rest().empty())
    return MakeError(
        "the sizes of the records do not add up to the size in the header, or of the data");
  return expanded;
}

}  // namespace grapnel
