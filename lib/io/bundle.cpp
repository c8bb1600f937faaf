#include "lib/io/bundle.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "leveldb/env.h"
#include "leveldb/iterator.h"
#include "leveldb/options.h"
#include "leveldb/table.h"
#include "lib/io/record.h"
#include "lib/ir/wire.h"
#include "lib/proto/trackable_object_graph.pb.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kObjectGraphKey("_CHECKPOINTABLE_OBJECT_GRAPH");
constexpr uint64_t kTableMagic = 0xdb4775248b80fb57;
constexpr size_t kFooter = 48, kBlockTrailer = 5;
constexpr uint64_t kMaxBlock = 64 << 20;  // TensorFlow's blocks are 256 KiB

// Lets leveldb read the mapped index file. leveldb allocates the uncompressed size that a block
// states without checking it, so this class rejects a block compressed with Snappy that states more
// than kMaxBlock.
class MappedFile : public leveldb::RandomAccessFile {
 public:
  explicit MappedFile(llvm::StringRef bytes) : bytes_(bytes) {}

  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result, char*) const override {
    if (offset > bytes_.size() || n > bytes_.size() - offset) {
      return leveldb::Status::Corruption("a block lies outside the file");
    }
    llvm::StringRef block = bytes_.substr(offset, n);
    if (n > kBlockTrailer && block[n - kBlockTrailer] == leveldb::kSnappyCompression) {
      WireReader reader(block);
      uint64_t size;
      if (!reader.Varint(&size) || size > kMaxBlock)
        return leveldb::Status::Corruption(
            "a compressed block states no size, or one above 64 MiB");
    }
    *result = leveldb::Slice(block.data(), block.size());
    return leveldb::Status::OK();
  }

 private:
  llvm::StringRef bytes_;
};

// Checks the last bytes of a leveldb table: the positions of its two index blocks, padding, a magic
// number. leveldb does not check them.
Error CheckFooter(llvm::StringRef table) {
  if (table.size() < kFooter)
    return MakeError(
        "is not a checkpoint index, or is cut off: it is shorter than a table's footer");
  if (llvm::support::endian::read64le(table.end() - 8) != kTableMagic) {
    return MakeError(
        "is not a checkpoint index, or is cut off: it does not end in a table's magic number");
  }
  WireReader reader(table.take_back(kFooter));
  for (int i = 0; i < 2; ++i) {
    uint64_t offset, size, room = table.size() - kFooter;
    if (!reader.Varint(&offset) || !reader.Varint(&size) || offset > room || size > room - offset) {
      return MakeError(
          "is damaged: its footer cannot be read, or points outside the bytes before it");
    }
  }
  return Error::success();
}

Error ReadTable(llvm::StringRef bytes, std::map<std::string, std::string>* entries) {
  RETURN_IF_ERROR(CheckFooter(bytes));
  MappedFile file(bytes);
  leveldb::Options options;
  options.paranoid_checks = true;
  leveldb::Table* opened = nullptr;
  leveldb::Status status = leveldb::Table::Open(options, &file, bytes.size(), &opened);
  std::unique_ptr<leveldb::Table> table(opened);
  if (!status.ok()) return MakeError("is damaged: {0}", status.ToString());
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  read.fill_cache = false;
  std::unique_ptr<leveldb::Iterator> it(table->NewIterator(read));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    entries->emplace(it->key().ToString(), it->value().ToString());
  }
  if (!it->status().ok()) return MakeError("is damaged: {0}", it->status().ToString());
  return Error::success();
}

// Reads the strings of a string tensor. Format: [length as varint] for each string, [masked CRC of
// the lengths as 4-byte numbers], [bytes of each string]. `crc` becomes the checksum of all of
// this, in which each length counts as a number, not as a varint.
Expected<std::vector<std::string>> ReadStrings(llvm::StringRef bytes, int64_t count,
                                               uint32_t* crc) {
  // Each length takes at least a byte of the data, so this detects a wrong `count` before memory is
  // allocated for the lengths.
  if (count > static_cast<int64_t>(bytes.size()))
    return MakeError("the data is too short for {0} strings", count);
  WireReader reader(bytes);
  std::vector<uint64_t> lengths(count);
  for (uint64_t& length : lengths) {
    if (!reader.Varint(&length))
      return MakeError("the lengths of the tensor's strings cannot be read");
    char number[8];
    llvm::support::endian::write64le(number, length);
    *crc = Crc32c({number, length > UINT32_MAX ? size_t{8} : size_t{4}}, *crc);
  }
  llvm::StringRef rest = bytes.drop_front(reader.offset());
  if (rest.size() < 4) return MakeError("the tensor's strings are cut off");
  if (llvm::support::endian::read32le(rest.data()) != MaskCrc(*crc)) {
    return MakeError("the lengths of the tensor's strings have a wrong checksum");
  }
  *crc = Crc32c(rest.take_front(4), *crc);
  rest = rest.drop_front(4);
  std::vector<std::string> strings;
  strings.reserve(count);
  for (uint64_t length : lengths) {
    if (length > rest.size()) return MakeError("the tensor's strings are cut off");
    *crc = Crc32c(rest.take_front(length), *crc);
    strings.push_back(rest.take_front(length).str());
    rest = rest.drop_front(length);
  }
  return strings;
}

// The following functions write the keys of slices, in the order-preserving encoding of
// tensorflow/core/lib/strings/ordered_code.h.

void AppendOrderedNumber(std::string* out, uint64_t number) {
  std::string digits;
  for (; number; number >>= 8) digits.insert(digits.begin(), static_cast<char>(number & 0xFF));
  out->push_back(static_cast<char>(digits.size()));
  *out += digits;
}

void AppendOrderedString(std::string* out, llvm::StringRef text) {
  for (char c : text) {
    out->push_back(c);
    if (c == '\0') out->push_back('\xFF');
    if (c == '\xFF') out->push_back('\0');
  }
  out->append({'\0', '\1'});
}

// Appends a signed number in 1 to 10 bytes. The result begins with as many one bits as it has
// bytes. Then come the sign and the number, 7 bits per byte. For a negative number, all bits are
// flipped.
void AppendOrderedSigned(std::string* out, int64_t number) {
  uint64_t magnitude = number < 0 ? ~number : number;
  int bits = 0;
  while (bits < 64 && magnitude >> bits) ++bits;
  int length = bits / 7 + 1;
  char sign = number < 0 ? '\xFF' : '\0';
  char buffer[10] = {sign, sign};
  llvm::support::endian::write64be(buffer + 2, number);
  char* begin = buffer + sizeof buffer - length;
  for (int i = 0; i < length; ++i) begin[i / 8] = static_cast<char>(begin[i / 8] ^ (0x80 >> i % 8));
  out->append(begin, length);
}

using Extents = std::vector<std::pair<int64_t, int64_t>>;

// Returns the start and length of a slice in each dimension as its key has them: 0 and -1 for a
// whole dimension.
Extents ExtentsInKey(const proto::TensorSliceProto& slice) {
  Extents extents;
  for (const auto& extent : slice.extent()) {
    bool all =
        extent.has_length_hack_case() == proto::TensorSliceProto::Extent::HAS_LENGTH_HACK_NOT_SET;
    extents.emplace_back(all ? 0 : extent.start(), all ? -1 : extent.length());
  }
  return extents;
}

}  // namespace

std::string SliceKey(llvm::StringRef name, llvm::ArrayRef<std::pair<int64_t, int64_t>> extents) {
  std::string key;
  AppendOrderedNumber(&key, 0);
  AppendOrderedString(&key, name);
  AppendOrderedNumber(&key, extents.size());
  for (auto [start, length] : extents) {
    AppendOrderedSigned(&key, start);
    AppendOrderedSigned(&key, length);
  }
  return key;
}

std::string DataFileOf(llvm::StringRef prefix, int shard, int num_shards) {
  return llvm::formatv("{0}.data-{1,0+5}-of-{2,0+5}", prefix, shard, num_shards).str();
}

void RemoveDataFiles(llvm::StringRef prefix, int num_shards) {
  for (int i = 0; i < num_shards; ++i) {
    if (llvm::sys::fs::remove(DataFileOf(prefix, i, num_shards), /*IgnoreNonExisting=*/false))
      return;
  }
}

Expected<Bundle> Bundle::Open(llvm::StringRef prefix) {
  Bundle bundle;
  bundle.prefix_ = prefix.str();
  ASSIGN_OR_RETURN(bundle.index_, FileBytes::Open(bundle.prefix_ + ".index"));
  RETURN_IF_ERROR(bundle.ReadIndex());
  return bundle;
}

Expected<Bundle> Bundle::FromFiles(std::shared_ptr<const FileBytes> index,
                                   std::vector<std::shared_ptr<const FileBytes>> data) {
  Bundle bundle;
  bundle.prefix_ = index->name();
  bundle.index_ = std::move(index);
  for (size_t i = 0; i < data.size(); ++i) bundle.data_[static_cast<int>(i)] = data[i];
  RETURN_IF_ERROR(bundle.ReadIndex());
  return bundle;
}

Error Bundle::ReadIndex() {
  const std::string& name = index_->name();
  try {
    if (Error error = ReadTable(index_->bytes(), &entries_))
      return Annotate(name, std::move(error));
  } catch (const std::bad_alloc&) {  // leveldb allocates as much as a damaged block claims
    return MakeError("{0}: is damaged: a block states a size larger than memory", name);
  }
  auto header_bytes = entries_.find("");
  proto::BundleHeaderProto header;
  if (header_bytes == entries_.end() || !header.ParseFromString(header_bytes->second)) {
    return MakeError("{0}: is not a checkpoint index: it has no header that can be read", name);
  }
  if (header.endianness() != proto::BundleHeaderProto::LITTLE) {
    return MakeError("{0}: was written on a big-endian machine, which is not supported", name);
  }
  num_shards_ = header.num_shards();
  entries_.erase(header_bytes);
  return Error::success();
}

std::vector<llvm::StringRef> Bundle::names() const {
  std::vector<llvm::StringRef> names;
  for (const auto& [name, entry] : entries_) {
    if (name[0] != '\0') names.push_back(name);  // keys of slices start with NUL
  }
  return names;
}

Expected<proto::BundleEntryProto> Bundle::Find(llvm::StringRef name) const {
  auto it = entries_.find(name.str());
  if (it == entries_.end()) return MakeError("{0}: has no tensor '{1}'", index_->name(), name);
  proto::BundleEntryProto entry;
  if (!entry.ParseFromString(it->second)) {
    return MakeError("{0}: the entry of tensor '{1}' cannot be read", index_->name(), name);
  }
  return entry;
}

Expected<Bundle::Entry> Bundle::Describe(llvm::StringRef name) const {
  ASSIGN_OR_RETURN(proto::BundleEntryProto entry, Find(name));
  Entry result{entry.dtype(), Shape::FromProto(entry.shape()), entry.size(), entry.crc32c()};
  // If the tensor is in slices, only these have sizes and checksums.
  std::string checksums;
  for (const auto& slice : entry.slices()) {
    const Extents extents = ExtentsInKey(slice);
    auto part = Find(SliceKey(name, extents));
    if (!part) {  // Read() reports it
      llvm::consumeError(part.takeError());
      continue;
    }
    result.size += part->size();
    checksums += SliceKey("", extents) + std::to_string(part->crc32c());
  }
  if (!checksums.empty()) result.checksum = Crc32c(checksums);
  return result;
}

Expected<std::shared_ptr<const FileBytes>> Bundle::Data(int shard) {
  auto& file = data_[shard];
  if (!file) {
    if (shard < 0 || shard >= num_shards_) {
      return MakeError(
          "data file number {0}, counted from 0, does not exist: the index states that there are "
          "{1}",
          shard, num_shards_);
    }
    ASSIGN_OR_RETURN(file, FileBytes::Open(DataFileOf(prefix_, shard, num_shards_)));
  }
  return file;
}

Expected<Literal> Bundle::Read(llvm::StringRef name, bool check) {
  ASSIGN_OR_RETURN(proto::BundleEntryProto entry, Find(name));
  auto literal = entry.slices().empty() ? ReadEntry(entry, check) : ReadSlices(name, entry, check);
  if (!literal) {
    return Annotate(index_->name() + ": tensor '" + name.str() + "'", literal.takeError());
  }
  return literal;
}

Expected<Literal> Bundle::ReadEntry(const proto::BundleEntryProto& entry, bool check) {
  Shape shape = Shape::FromProto(entry.shape());
  std::optional<int64_t> count = shape.NumElements();
  if (!count)
    return MakeError("shape {0} is not fully known, or larger than memory", shape.ToString());
  ASSIGN_OR_RETURN(auto file, Data(entry.shard_id()));
  uint64_t file_size = file->bytes().size(), offset = entry.offset(), size = entry.size();
  if (offset > file_size || size > file_size - offset) {
    return MakeError("{0}: is cut off: bytes {1} to {2} were expected, the file has {3} bytes",
                     file->name(), entry.offset(), offset + size, file_size);
  }
  llvm::StringRef bytes = file->bytes().substr(offset, size);
  uint32_t crc = 0;
  if (entry.dtype() == proto::DT_STRING) {
    auto strings = ReadStrings(bytes, *count, &crc);
    if (!strings) return Annotate(file->name(), strings.takeError());
    if (check && MaskCrc(crc) != entry.crc32c())
      return MakeError("{0}: the checksum of the tensor's data is wrong", file->name());
    return Literal::MakeStrings(shape.dims(), std::move(*strings));
  }
  uint64_t element = DataTypeSize(entry.dtype()), expected;
  if (element == 0)
    return MakeError("a tensor of dtype {0} cannot be read from a checkpoint",
                     DataTypeName(entry.dtype()));
  if (__builtin_mul_overflow(element, static_cast<uint64_t>(*count), &expected) ||
      expected != size) {
    return MakeError("{0} bytes are stored, but {1}{2} needs another number of bytes", size,
                     DataTypeName(entry.dtype()), shape.ToString());
  }
  if (check && MaskCrc(Crc32c(bytes)) != entry.crc32c()) {
    return MakeError("{0}: the checksum of the tensor's data is wrong", file->name());
  }
  return Literal::Borrow(entry.dtype(), shape.dims(), bytes, file);
}

Expected<Literal> Bundle::ReadSlices(llvm::StringRef name, const proto::BundleEntryProto& entry,
                                     bool check) {
  Shape shape = Shape::FromProto(entry.shape());
  std::optional<int64_t> count = shape.NumElements();
  size_t element = DataTypeSize(entry.dtype());
  if (!count || element == 0) {
    return MakeError(
        "is stored in slices, which needs a fully known shape and elements of a fixed size, but "
        "has shape {0} and dtype {1}",
        shape.ToString(), DataTypeName(entry.dtype()));
  }
  llvm::ArrayRef<int64_t> dims = shape.dims();
  std::vector<std::pair<Extents, Literal>> parts;
  int64_t stored = 0;
  for (const auto& slice : entry.slices()) {
    Extents extents, key = ExtentsInKey(slice);
    for (auto [start, length] : key) {
      size_t d = extents.size();
      if (d >= dims.size())
        return MakeError("a slice has more dimensions than the tensor, of shape {0}",
                         shape.ToString());
      if (length == -1) length = dims[d];
      if (start < 0 || length < 0 || start > dims[d] || length > dims[d] - start) {
        return MakeError("a slice lies outside the tensor, of shape {0}", shape.ToString());
      }
      extents.emplace_back(start, length);
    }
    if (extents.size() != dims.size())
      return MakeError("a slice has fewer dimensions than the tensor, of shape {0}",
                       shape.ToString());
    std::string part_name = SliceKey(name, key);
    ASSIGN_OR_RETURN(proto::BundleEntryProto part, Find(part_name));
    ASSIGN_OR_RETURN(Literal literal, ReadEntry(part, check));
    Dims lengths;
    for (auto [start, length] : extents) lengths.push_back(length);
    std::optional<int64_t> part_count = NumElements(lengths);
    if (literal.dtype() != entry.dtype() || literal.num_elements() != part_count) {
      return MakeError("a slice holds {0}{1}, not the dtype or size of its place in the tensor",
                       DataTypeName(literal.dtype()), DimsText(literal.dims()));
    }
    stored += *part_count;
    parts.emplace_back(std::move(extents), std::move(literal));
  }
  // Keeps a shape that is wrongly stated as huge from taking memory below.
  if (stored < *count)
    return MakeError("the slices hold {0} of the tensor's {1} elements", stored, *count);
  std::string bytes(*count * element, '\0');
  std::vector<bool> is_stored(*count);  // slices that overlap may be enough and still leave a hole
  for (const auto& [extents, literal] : parts) {
    if (literal.num_elements() == 0) continue;
    // The elements of a row (along the last dimension) are contiguous both in the slice and in the
    // tensor.
    size_t rank = dims.size();
    size_t length = rank ? extents[rank - 1].second : 1, row = length * element;
    std::vector<int64_t> index(rank, 0);
    for (size_t from = 0; from < literal.bytes().size(); from += row) {
      int64_t to = 0;
      for (size_t d = 0; d < rank; ++d) to = to * dims[d] + extents[d].first + index[d];
      std::memcpy(&bytes[to * element], literal.bytes().data() + from, row);
      std::fill_n(is_stored.begin() + to, length, true);
      for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
        if (++index[d] < extents[d].second) break;
        index[d] = 0;
      }
    }
  }
  stored = llvm::count(is_stored, true);
  if (stored < *count)
    return MakeError("the slices hold {0} of the tensor's {1} elements", stored, *count);
  return Literal::Make(entry.dtype(), dims, bytes);
}

Expected<std::string> ObjectGraphOf(Bundle* bundle) {
  if (!bundle->Has(kObjectGraphKey)) return std::string();
  ASSIGN_OR_RETURN(Literal literal, bundle->Read(kObjectGraphKey));
  if (literal.dtype() != proto::DT_STRING || literal.strings().size() != 1)
    return MakeError("the checkpoint's object graph is not a single string");
  return literal.strings()[0];
}

Expected<std::map<std::string, std::string>> VariableKeys(Bundle* bundle) {
  std::map<std::string, std::string> keys;
  ASSIGN_OR_RETURN(std::string objects, ObjectGraphOf(bundle));
  proto::TrackableObjectGraph graph;
  if (!graph.ParseFromString(objects))
    return MakeError("the checkpoint's object graph cannot be read");
  for (const auto& node : graph.nodes()) {
    for (const auto& attribute : node.attributes()) {
      if (!attribute.full_name().empty())
        keys.emplace(attribute.full_name(), attribute.checkpoint_key());
    }
  }
  return keys;
}

}  // namespace grapnel
