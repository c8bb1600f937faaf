#include "lib/support/npy.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "lib/support/text.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kMagic("\x93NUMPY");

// Parses the header of the file, a Python dictionary: {'descr': '<f4', 'fortran_order': False,
// 'shape': (3, 4), }
class Header {
 public:
  explicit Header(llvm::StringRef text) : rest_(text) {}

  Error Parse() {
    if (!Take("{")) return Bad("a dictionary was expected");
    while (!Take("}")) {
      std::optional<llvm::StringRef> key = String();
      if (!key || !Take(":")) return Bad("a key was expected");
      if (*key == "descr") {
        std::optional<llvm::StringRef> value = String();
        if (!value)
          return MakeError(
              "has a structured dtype, or one that is not a string: one plain type was expected");
        descr = *value;
      } else if (*key == "fortran_order") {
        fortran_order = Take("True");
        if (!fortran_order && !Take("False")) return Bad("fortran_order must be True or False");
      } else if (*key == "shape") {
        RETURN_IF_ERROR(ParseShape());
      } else {
        return Bad("the key '" + *key + "' is unknown");
      }
      if (!Take(",") && !HasPrefix(rest_.ltrim(), "}")) return Bad("a comma was expected");
    }
    if (descr.empty() || !has_shape_) return Bad("descr and shape must be given");
    return Error::success();
  }

  llvm::StringRef descr;
  std::vector<int64_t> dims;
  bool fortran_order = false;

 private:
  static Error Bad(const llvm::Twine& why) {
    return MakeError("its .npy header cannot be read: {0}", why.str());
  }

  Error ParseShape() {
    if (!Take("(")) return Bad("a shape was expected");
    while (!Take(")")) {
      rest_ = rest_.ltrim();
      llvm::StringRef digits = rest_.take_while(llvm::isDigit);
      rest_ = rest_.drop_front(digits.size());
      Take("L");  // Python 2 writes long integers as 3L
      int64_t dim;
      if (digits.getAsInteger(10, dim)) return Bad("a dimension must be a number");
      dims.push_back(dim);
      if (!Take(",") && !HasPrefix(rest_.ltrim(), ")")) return Bad("a comma was expected");
    }
    has_shape_ = true;
    return Error::success();
  }

  bool Take(llvm::StringRef token) {
    rest_ = rest_.ltrim();
    return rest_.consume_front(token);
  }

  std::optional<llvm::StringRef> String() {
    rest_ = rest_.ltrim();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    size_t end = rest_.find(rest_[0], 1);
    if (end == llvm::StringRef::npos) return std::nullopt;
    llvm::StringRef value = rest_.slice(1, end);
    rest_ = rest_.drop_front(end + 1);
    return value;
  }

  llvm::StringRef rest_;
  bool has_shape_ = false;
};

struct ElementType {
  std::string name;      // "f4"
  size_t size = 0;       // of an element, in bytes
  size_t swap_unit = 1;  // how many bytes to reverse if the file is big-endian; 1: none
};

Expected<ElementType> ParseDescr(llvm::StringRef descr) {
  llvm::StringRef text = descr;
  bool big = text.consume_front(">");
  if (!big && !text.consume_front("<") && !text.consume_front("|")) text.consume_front("=");
  unsigned size;
  if (text.starts_with("O"))
    return MakeError("holds pickled Python objects, numbers or strings were expected");
  if (text.empty() || text.drop_front().getAsInteger(10, size)) {
    return MakeError("has dtype '{0}', which cannot be read", descr);
  }
  ElementType type;
  type.name = text.str();
  type.size = size;
  bool known = false;
  switch (text[0]) {
    case 'f':
      known = size == 2 || size == 4 || size == 8;
      break;
    case 'i':
    case 'u':
      known = size == 1 || size == 2 || size == 4 || size == 8;
      break;
    case 'b':
      known = size == 1;
      break;
    case 'c':
      known = size == 8 || size == 16;
      break;
    case 'V':
      known = size == 1 || size == 2;
      break;
    case 'S':
      known = true;
      break;
    case 'U':
      known = size <= UINT32_MAX / 4;
      type.size = size_t{size} * 4;
      break;
    default:
      break;
  }
  if (!known) return MakeError("has dtype '{0}', which has no TensorFlow counterpart", descr);
  if (big && text[0] != 'S') {
    type.swap_unit = text[0] == 'c' ? size / 2 : text[0] == 'U' ? 4 : size;
  }
  return type;
}

// Returns the elements `from`, which are in column-major (Fortran) order, in row-major order.
std::string Transpose(llvm::StringRef from, llvm::ArrayRef<int64_t> dims, size_t size) {
  std::string to(from.size(), '\0');
  llvm::SmallVector<int64_t, 8> index(dims.size(), 0), stride(dims.size(), 1);
  for (size_t d = 1; d < dims.size(); ++d) stride[d] = stride[d - 1] * dims[d - 1];
  int64_t source = 0;
  for (size_t at = 0; at + size <= to.size(); at += size) {
    std::memcpy(&to[at], from.data() + source * size, size);
    for (size_t d = dims.size(); d-- > 0;) {
      source += stride[d];
      if (++index[d] < dims[d]) break;
      source -= stride[d] * dims[d];
      index[d] = 0;
    }
  }
  return to;
}

Expected<NpyArray> Parse(std::shared_ptr<const FileBytes> file) {
  llvm::StringRef bytes = file->bytes();
  if (bytes.empty()) return MakeError("is empty, an .npy file was expected");
  if (!HasPrefix(bytes, kMagic)) return MakeError("is not an .npy file");
  if (bytes.size() < 10) return MakeError("is cut off within its header");
  auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(bytes[at])); };
  size_t version = byte(6);
  if (version < 1 || version > 3) {
    return MakeError("has .npy version {0}.{1}, 1 to 3 were expected", version, byte(7));
  }
  size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) return MakeError("is cut off within its header");
  size_t header_size = byte(8) | byte(9) << 8;
  if (version > 1) header_size |= byte(10) << 16 | byte(11) << 24;
  if (header_size > bytes.size() - start) return MakeError("is cut off within its header");

  Header header(bytes.substr(start, header_size));
  RETURN_IF_ERROR(header.Parse());
  ASSIGN_OR_RETURN(ElementType type, ParseDescr(header.descr));
  llvm::StringRef data = bytes.drop_front(start + header_size);
  // Checks each multiplication for overflow. If a dimension is 0, so is the size, however large the
  // others are.
  uint64_t size = type.size;
  if (llvm::is_contained(header.dims, 0)) size = 0;
  for (int64_t dim : header.dims) {
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(dim), &size)) size = UINT64_MAX;
    if (size == UINT64_MAX) break;
  }
  if (type.size == 0 && !llvm::is_contained(header.dims, 0)) {
    return MakeError("has dtype '{0}', whose elements have no bytes", header.descr);
  }
  if (size > data.size()) {
    return MakeError("is cut off: its shape needs {0} bytes of data, and there are {1}",
                     size == UINT64_MAX ? "more than 2^63" : std::to_string(size), data.size());
  }
  NpyArray array;
  array.type = std::move(type.name);
  array.dims = std::move(header.dims);
  data = data.take_front(size);
  bool transpose = header.fortran_order && array.dims.size() > 1 && size > 0;
  if (type.swap_unit > 1 || transpose) {
    std::string owned = data.str();
    for (size_t at = 0; type.swap_unit > 1 && at < owned.size(); at += type.swap_unit) {
      std::reverse(owned.begin() + at, owned.begin() + at + type.swap_unit);
    }
    if (transpose) owned = Transpose(owned, array.dims, type.size);
    file = FileBytes::FromString(std::move(owned), file->name());
    data = file->bytes();
  }
  array.bytes = data;
  array.file = std::move(file);
  return array;
}

}  // namespace

Expected<NpyArray> ReadNpy(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return ParseNpy(std::move(file));
}

Expected<NpyArray> ParseNpy(std::shared_ptr<const FileBytes> file) {
  std::string name = file->name();
  auto array = Parse(std::move(file));
  if (!array) return Annotate(name, array.takeError());
  return array;
}

Expected<std::string> NpyHeader(llvm::StringRef name, llvm::StringRef type,
                                llvm::ArrayRef<int64_t> dims) {
  bool has_order = type[0] != 'S' && type != "b1" && type != "i1" && type != "u1" && type != "V1";
  std::string header = (llvm::Twine("{'descr': '") + (has_order ? "<" : "|") + type +
                        "', 'fortran_order': False, 'shape': (")
                           .str();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) header += ' ';
    header += std::to_string(dims[i]);
    if (i + 1 < dims.size() || dims.size() == 1) header += ',';
  }
  header += "), }";
  constexpr size_t kPrefix = 10;
  header.append(63 - (kPrefix + header.size()) % 64, ' ');
  header += '\n';
  if (header.size() > 0xFFFF) {
    return MakeError("{0}: cannot write: {1} dimensions are too many for an .npy file", name,
                     dims.size());
  }
  std::string head(kMagic);
  head += '\1';
  head += '\0';
  head += static_cast<char>(header.size() & 0xFF);
  head += static_cast<char>(header.size() >> 8);
  return head + header;
}

Error WriteNpy(llvm::StringRef path, llvm::StringRef type, llvm::ArrayRef<int64_t> dims,
               llvm::StringRef bytes) {
  ASSIGN_OR_RETURN(std::string header, NpyHeader(path, type, dims));
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  file->os() << header << bytes;
  return file->Commit();
}

}  // namespace grapnel
