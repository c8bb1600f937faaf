#include "lib/io/hdf5.h"

#include <vector>

#include "lib/support/text.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {
namespace {

constexpr llvm::StringRef kHdf5Signature("\x89HDF\r\n\x1a\n", 8);
constexpr uint64_t kUndefinedAddress = ~uint64_t{0};
// The deepest nesting of groups that is read; the layer names of Keras need far less.
constexpr int kDeepestGroup = 64;
// The most objects, header messages and links that are read. The limit ends the reading of a file
// whose links form a cycle.
constexpr size_t kMostObjects = 10'000'000;
constexpr size_t kMostBlocks = 1000;  // the most blocks of a header

enum HeaderMessageType : uint16_t {
  kDataspace = 1,
  kLinkInfo = 2,
  kDatatype = 3,
  kLink = 6,
  kLayout = 8,
  kAttribute = 12,
  kContinuation = 16,
  kSymbolTable = 17,
};

// Reads little-endian numbers from the front of its bytes, and remembers whether a read went beyond
// their end.
class FieldReader {
 public:
  explicit FieldReader(llvm::StringRef bytes) : rest_(bytes) {}
  uint64_t Number(size_t size) {
    llvm::StringRef bytes = Take(size);
    uint64_t number = 0;
    for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
    return number;
  }
  llvm::StringRef Take(size_t size) {
    if (size > rest_.size()) {
      failed_ = true;
      rest_ = {};
    }
    llvm::StringRef bytes = rest_.take_front(size);
    rest_ = rest_.drop_front(bytes.size());
    return bytes;
  }
  bool AtEnd() const { return rest_.empty(); }
  bool failed() const { return failed_; }
  llvm::StringRef rest() const { return rest_; }

 private:
  llvm::StringRef rest_;
  bool failed_ = false;
};

size_t Padded(size_t size) { return (size + 7) / 8 * 8; }

struct Datatype {
  DataType dtype = proto::DT_INVALID;
  bool is_text = false, is_variable = false;  // is_variable: a text in a global heap
  uint64_t size = 0;
};

DataType Integer(uint64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? proto::DT_INT8 : proto::DT_UINT8;
    case 2:
      return is_signed ? proto::DT_INT16 : proto::DT_UINT16;
    case 4:
      return is_signed ? proto::DT_INT32 : proto::DT_UINT32;
    case 8:
      return is_signed ? proto::DT_INT64 : proto::DT_UINT64;
  }
  return proto::DT_INVALID;
}

Datatype ReadDatatype(llvm::StringRef message) {
  FieldReader fields(message);
  uint64_t kind = fields.Number(1), bits = fields.Number(3);
  Datatype type;
  type.size = fields.Number(4);
  bool is_little = (bits & 1) == 0;
  switch (kind & 15) {
    case 0:
      if (is_little) type.dtype = Integer(type.size, bits & 8);
      break;
    case 1: {
      fields.Take(4);
      fields.Take(1);
      uint64_t exponent = fields.Number(1);
      if (!is_little || fields.failed()) break;
      if (type.size == 8) type.dtype = proto::DT_DOUBLE;
      if (type.size == 4) type.dtype = proto::DT_FLOAT;
      if (type.size == 2) type.dtype = exponent == 8 ? proto::DT_BFLOAT16 : proto::DT_HALF;
      break;
    }
    case 3:
      type.is_text = true;
      break;
    case 8:  // an enumeration, as NumPy's bool is stored
      if (type.size == 1) type.dtype = proto::DT_BOOL;
      break;
    case 9:
      type.is_text = type.is_variable = (bits & 15) == 1;
      break;
  }
  return type;
}

// Reads the dimensions of an array; false if the message is damaged.
bool ReadDataspace(llvm::StringRef message, Dims* dims) {
  FieldReader fields(message);
  uint64_t version = fields.Number(1), rank = fields.Number(1);
  fields.Take(version == 1 ? 6 : 2);
  if (rank > 32) return false;
  for (uint64_t i = 0; i < rank; ++i) {
    uint64_t dim = fields.Number(8);
    if (dim > INT64_MAX) return false;
    dims->push_back(static_cast<int64_t>(dim));
  }
  return !fields.failed();
}

}  // namespace

bool IsHdf5(llvm::StringRef head) { return HasPrefix(head, kHdf5Signature); }

class Hdf5File::Reader {
 public:
  Reader(llvm::StringRef bytes, Hdf5File* file) : bytes_(bytes), file_(*file) {}

  Error Read() {
    FieldReader fields(bytes_);
    fields.Take(kHdf5Signature.size());
    uint64_t version = fields.Number(1), offsets, lengths, root;
    if (version <= 1) {
      fields.Take(4);
      offsets = fields.Number(1);
      lengths = fields.Number(1);
      fields.Take(version == 0 ? 9 : 13);
      base_ = fields.Number(8);
      fields.Take(32);
      root = fields.Number(8);
    } else {
      offsets = fields.Number(1);
      lengths = fields.Number(1);
      fields.Take(1);
      base_ = fields.Number(8);
      fields.Take(16);
      root = fields.Number(8);
    }
    if (fields.failed()) return MakeError("ends in its first block");
    if (version > 3 || offsets != 8 || lengths != 8)
      return MakeError("is not an HDF5 file of version 0 to 3 with 8-byte addresses and lengths");
    return ReadObject(root, "", 0);
  }

 private:
  struct Message {
    uint64_t type;
    llvm::StringRef data;
  };

  Error Damaged(const std::string& path, const char* what) {
    return MakeError("'{0}': its {1} cannot be read", path.empty() ? "/" : path, what);
  }

  llvm::StringRef At(uint64_t address, uint64_t size) const {
    uint64_t start = base_ + address;
    if (address == kUndefinedAddress || start < base_ || start > bytes_.size()) return {};
    return bytes_.substr(start, size);
  }
  // Returns the bytes of the file after the signature `letters`, such as "HEAP", which should be at
  // `address`; empty if it is not.
  llvm::StringRef Behind(llvm::StringRef letters, uint64_t address) const {
    llvm::StringRef bytes = At(address, kUndefinedAddress);
    return bytes.consume_front(letters) ? bytes : llvm::StringRef();
  }

  Error ReadObject(uint64_t address, const std::string& path, int depth) {
    if (depth > kDeepestGroup)
      return MakeError("'{0}': groups are nested more than {1} deep", path, kDeepestGroup);
    if (++objects_ > kMostObjects)
      return MakeError("has more than {0} objects, header messages and links", kMostObjects);
    std::vector<Message> messages;
    if (!ReadHeader(address, &messages)) return Damaged(path, "header");
    for (const Message& message : messages) {
      if (message.type == kLayout) return AddArray(path, messages);
    }
    Group& group = file_.groups_[path];
    for (const Message& message : messages) {
      FieldReader fields(message.data);
      if (message.type == kSymbolTable) {
        uint64_t tree = fields.Number(8), heap = fields.Number(8);
        RETURN_IF_ERROR(ReadTree(tree, heap, path, depth, kDeepestGroup));
      } else if (message.type == kLink) {
        RETURN_IF_ERROR(ReadLink(fields, path, depth));
      } else if (message.type == kLinkInfo) {
        uint64_t flags = (fields.Take(1), fields.Number(1));
        fields.Take(flags & 1 ? 8 : 0);
        if (fields.Number(8) != kUndefinedAddress)
          return MakeError("'{0}': its links are in a heap, which is not supported", path);
      } else if (message.type == kAttribute) {
        ReadAttribute(message.data, &group);
      }
    }
    return Error::success();
  }

  bool ReadHeader(uint64_t address, std::vector<Message>* messages) {
    llvm::StringRef second = Behind("OHDR", address);
    if (!second.empty()) return ReadSecondHeader(second, messages);
    FieldReader fields(At(address, kUndefinedAddress));
    uint64_t version = fields.Number(1);
    fields.Take(7);
    uint64_t size = fields.Number(4);
    fields.Take(4);
    llvm::StringRef block = fields.Take(size);
    if (fields.failed() || version != 1) return false;
    return ReadMessages(block, 8, messages, [](FieldReader& head, Message* message) {
      message->type = head.Number(2);
      uint64_t length = head.Number(2);
      head.Take(4);
      return length;
    });
  }

  bool ReadSecondHeader(llvm::StringRef bytes, std::vector<Message>* messages) {
    FieldReader fields(bytes);
    uint64_t version = fields.Number(1), flags = fields.Number(1);
    fields.Take((flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
    uint64_t size = fields.Number(size_t{1} << (flags & 3));
    llvm::StringRef block = fields.Take(size);
    if (fields.failed() || version != 2) return false;
    size_t order = flags & 4 ? 2 : 0;
    return ReadMessages(block, 4 + order, messages, [order](FieldReader& head, Message* message) {
      message->type = head.Number(1);
      uint64_t length = head.Number(2);
      head.Take(1 + order);
      return length;
    });
  }

  // Reads the messages of an object header: those of its first block and of its continuation
  // blocks.
  template <typename Head>
  bool ReadMessages(llvm::StringRef block, size_t head_size, std::vector<Message>* messages,
                    Head head) {
    std::vector<llvm::StringRef> blocks(1, block);
    for (size_t i = 0; i < blocks.size(); ++i) {
      FieldReader fields(blocks[i]);
      while (fields.rest().size() >= head_size) {
        Message message;
        uint64_t length = head(fields, &message);
        message.data = fields.Take(length);
        if (fields.failed() || ++objects_ > kMostObjects) return false;
        messages->push_back(message);
        if (message.type != kContinuation) continue;
        FieldReader where(message.data);
        uint64_t address = where.Number(8), size = where.Number(8);
        llvm::StringRef more = At(address, size);
        if (more.size() != size || blocks.size() > kMostBlocks) return false;
        if (more.consume_front("OCHK")) more = more.drop_back(std::min<size_t>(4, more.size()));
        blocks.push_back(more);
      }
    }
    return true;
  }

  Error ReadTree(uint64_t address, uint64_t heap, const std::string& path, int depth, int levels) {
    FieldReader fields(Behind("TREE", address));
    uint64_t type = fields.Number(1), level = fields.Number(1), entries = fields.Number(2);
    fields.Take(16);
    if (fields.failed() || type != 0 || levels == 0) return Damaged(path, "list of links");
    for (uint64_t i = 0; i < entries; ++i) {
      fields.Take(8);
      uint64_t child = fields.Number(8);
      if (fields.failed() || ++objects_ > kMostObjects) return Damaged(path, "list of links");
      if (level > 0) {
        RETURN_IF_ERROR(ReadTree(child, heap, path, depth, levels - 1));
      } else {
        RETURN_IF_ERROR(ReadSymbols(child, heap, path, depth));
      }
    }
    return Error::success();
  }

  Error ReadSymbols(uint64_t address, uint64_t heap, const std::string& path, int depth) {
    FieldReader head(Behind("HEAP", heap));
    head.Take(4);
    uint64_t size = head.Number(8);
    head.Take(8);
    llvm::StringRef names = At(head.Number(8), size);
    FieldReader fields(Behind("SNOD", address));
    fields.Take(2);
    uint64_t count = fields.Number(2);
    for (uint64_t i = 0; i < count && !fields.failed() && !head.failed(); ++i) {
      uint64_t name = fields.Number(8), object = fields.Number(8), cache = fields.Number(4);
      fields.Take(20);
      if (fields.failed()) break;
      constexpr uint64_t kSoftLink = 2;
      if (cache == kSoftLink) continue;
      RETURN_IF_ERROR(
          ReadChild(names.drop_front(std::min<uint64_t>(name, names.size())).take_while([](char c) {
            return c != '\0';
          }),
                    object, path, depth));
    }
    return fields.failed() || head.failed() ? Damaged(path, "list of links") : Error::success();
  }

  Error ReadLink(FieldReader& fields, const std::string& path, int depth) {
    fields.Take(1);
    uint64_t flags = fields.Number(1), type = flags & 8 ? fields.Number(1) : 0;
    fields.Take((flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    uint64_t size = fields.Number(size_t{1} << (flags & 3));
    llvm::StringRef name = fields.Take(size);
    uint64_t object = fields.Number(8);
    if (type != 0) return Error::success();  // a link to another file, or a soft link
    return fields.failed() ? Damaged(path, "links") : ReadChild(name, object, path, depth);
  }

  Error ReadChild(llvm::StringRef name, uint64_t object, const std::string& path, int depth) {
    if (name.empty()) return Damaged(path, "names of links");
    return ReadObject(object, path.empty() ? name.str() : path + "/" + name.str(), depth + 1);
  }

  Error AddArray(const std::string& path, llvm::ArrayRef<Message> messages) {
    Array array;
    for (const Message& message : messages) {
      FieldReader fields(message.data);
      if (message.type == kDatatype) array.dtype = ReadDatatype(message.data).dtype;
      if (message.type == kDataspace && !ReadDataspace(message.data, &array.dims))
        return Damaged(path, "shape");
      if (message.type != kLayout) continue;
      uint64_t version = fields.Number(1), kind = fields.Number(1);
      enum { kCompact = 0, kContiguous = 1 };
      if (version < 3 || kind > kContiguous) continue;  // old, or in chunks: may be compressed
      array.is_in_one_piece = true;
      if (kind == kCompact) {
        uint64_t size = fields.Number(2);
        array.data = fields.Take(size);
      } else {
        uint64_t address = fields.Number(8), size = fields.Number(8);
        array.data = At(address, size);
      }
    }
    file_.arrays_[path] = std::move(array);
    return Error::success();
  }

  // Ignores attributes that are not text or cannot be read: only the names of layers matter, which
  // are text.
  void ReadAttribute(llvm::StringRef message, Group* group) {
    FieldReader fields(message);
    uint64_t version = fields.Number(1);
    fields.Take(1);
    uint64_t name_size = fields.Number(2), type_size = fields.Number(2),
             space_size = fields.Number(2);
    if (version == 3) fields.Take(1);
    auto take = [&](uint64_t size) {
      return fields.Take(version == 1 ? Padded(size) : size).take_front(size);
    };
    llvm::StringRef name = take(name_size).rtrim('\0');
    Datatype type = ReadDatatype(take(type_size));
    take(space_size);
    if (fields.failed() || !type.is_text) return;
    llvm::StringRef text = type.is_variable ? HeapText(fields) : fields.Take(type.size).rtrim('\0');
    group->attributes[name.str()] = text.str();
  }

  // Returns a text from a global heap (where HDF5 stores texts of varying length). `where` holds
  // the text's length, the heap's address, and the text's index in it.
  llvm::StringRef HeapText(FieldReader& where) const {
    uint64_t length = where.Number(4), address = where.Number(8), number = where.Number(4);
    FieldReader fields(Behind("GCOL", address));
    fields.Take(4);
    uint64_t size = fields.Number(8);
    FieldReader objects(fields.Take(std::min<uint64_t>(size, fields.rest().size())));
    while (!objects.AtEnd() && !objects.failed()) {
      uint64_t index = objects.Number(2);
      objects.Take(6);
      uint64_t bytes = objects.Number(8);
      if (bytes > objects.rest().size()) break;
      llvm::StringRef text = objects.Take(std::min<size_t>(Padded(bytes), objects.rest().size()));
      if (index == number && index != 0) return text.take_front(std::min(bytes, length));
      if (index == 0) break;
    }
    return {};
  }

  llvm::StringRef bytes_;
  Hdf5File& file_;
  uint64_t base_ = 0;
  size_t objects_ = 0;
};

Expected<Hdf5File> Hdf5File::Open(llvm::StringRef bytes, std::shared_ptr<const FileBytes> file) {
  Hdf5File hdf5;
  hdf5.file_ = std::move(file);
  if (!IsHdf5(bytes)) return MakeError("is not an HDF5 file");
  RETURN_IF_ERROR(Reader(bytes, &hdf5).Read());
  return hdf5;
}

Expected<Literal> Hdf5File::Read(const std::string& path) const {
  auto found = arrays_.find(path);
  if (found == arrays_.end()) return MakeError("has no array '{0}'", path);
  const Array& array = found->second;
  if (array.dtype == proto::DT_INVALID)
    return MakeError(
        "'{0}' has an unsupported dtype: little-endian integers or floats, or 1-byte enumerations, "
        "were expected",
        path);
  if (!array.is_in_one_piece) {
    return MakeError(
        "'{0}' is stored in chunks or in an old layout, which is not supported: rewrite the file "
        "with h5repack -l CONTI",
        path);
  }
  std::optional<int64_t> count = NumElements(array.dims);
  uint64_t expected;
  if (!count || __builtin_mul_overflow(static_cast<uint64_t>(*count),
                                       uint64_t{DataTypeSize(array.dtype)}, &expected))
    return MakeError("'{0}' claims to be larger than memory", path);
  if (array.data.size() < expected) {
    return MakeError("'{0}' is cut off: {1} of {2} bytes are there", path, array.data.size(),
                     expected);
  }
  return Literal::Borrow(array.dtype, array.dims, array.data.take_front(expected), file_);
}

}  // namespace grapnel
