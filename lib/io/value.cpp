#include "lib/io/value.h"

#include <algorithm>

#include "lib/support/npy.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Endian.h"

namespace grapnel {
namespace {

struct Row {
  const char* npy;
  DataType dtype;
};
// NumPy's types and the dtypes as which they are read, if the caller does not expect another dtype.
constexpr Row kTypes[] = {
    {"f4", proto::DT_FLOAT},     {"f8", proto::DT_DOUBLE},      {"f2", proto::DT_HALF},
    {"i1", proto::DT_INT8},      {"i2", proto::DT_INT16},       {"i4", proto::DT_INT32},
    {"i8", proto::DT_INT64},     {"u1", proto::DT_UINT8},       {"u2", proto::DT_UINT16},
    {"u4", proto::DT_UINT32},    {"u8", proto::DT_UINT64},      {"b1", proto::DT_BOOL},
    {"c8", proto::DT_COMPLEX64}, {"c16", proto::DT_COMPLEX128}, {"V2", proto::DT_BFLOAT16},
};

DataType NaturalType(llvm::StringRef npy) {
  for (const Row& row : kTypes) {
    if (npy == row.npy) return row.dtype;
  }
  return npy[0] == 'S' || npy[0] == 'U' ? proto::DT_STRING : proto::DT_INVALID;
}

// Returns the NumPy type for values of `dtype`; empty if there is no such type.
std::string NpyType(DataType dtype) {
  for (const Row& row : kTypes) {
    if (dtype == row.dtype) return row.npy;
  }
  switch (dtype) {
    case proto::DT_QINT8:
    case proto::DT_INT4:
    case proto::DT_INT2:
      return "i1";
    case proto::DT_QUINT8:
    case proto::DT_UINT4:
    case proto::DT_UINT2:
      return "u1";
    case proto::DT_QINT16:
      return "i2";
    case proto::DT_QUINT16:
      return "u2";
    case proto::DT_QINT32:
      return "i4";
    default:
      return IsFloating(dtype) && DataTypeSize(dtype) == 1 ? "V1" : "";
  }
}

bool MayHold(llvm::StringRef npy, DataType dtype) {
  if (npy == NpyType(dtype)) return true;
  bool raw = npy[0] == 'u' || npy[0] == 'V';
  return raw && (dtype == proto::DT_BFLOAT16 || NpyType(dtype) == "V1") &&
         npy.drop_front() == std::to_string(DataTypeSize(dtype));
}

std::string Utf8(llvm::StringRef utf32) {
  std::string text;
  for (size_t at = 0; at + 4 <= utf32.size(); at += 4) {
    char buffer[4];
    char* end = buffer;
    if (!llvm::ConvertCodePointToUTF8(llvm::support::endian::read32le(utf32.data() + at), end)) {
      text += "\xEF\xBF\xBD";
      continue;
    }
    text.append(buffer, end);
  }
  return text;
}

Literal StringLiteralOf(const NpyArray& array) {
  bool is_utf32 = array.type[0] == 'U';
  size_t size = 0;
  llvm::StringRef(array.type).drop_front().getAsInteger(10, size);
  if (is_utf32) size *= 4;
  std::vector<std::string> strings;
  llvm::StringRef rest = array.bytes;
  for (; !rest.empty(); rest = rest.drop_front(size)) {
    std::string text = is_utf32 ? Utf8(rest.take_front(size)) : rest.take_front(size).str();
    text.resize(text.find_last_not_of('\0') + 1);
    strings.push_back(std::move(text));
  }
  return Literal::MakeStrings(array.dims, std::move(strings));
}

}  // namespace

Expected<Literal> LoadNpyLiteral(llvm::StringRef path, std::optional<DataType> expected) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  return ReadNpyLiteral(std::move(file), expected);
}

Expected<Literal> ReadNpyLiteral(std::shared_ptr<const FileBytes> file,
                                 std::optional<DataType> expected) {
  std::string name = file->name();
  ASSIGN_OR_RETURN(NpyArray array, ParseNpy(std::move(file)));
  DataType natural = NaturalType(array.type);
  DataType dtype = expected ? BaseType(*expected) : natural;
  bool fits = dtype == natural || (dtype != proto::DT_STRING && MayHold(array.type, dtype));
  if (!fits || dtype == proto::DT_INVALID) {
    return MakeError("{0}: holds {1}, {2} was expected", name,
                     natural == proto::DT_INVALID ? array.type : DataTypeName(natural),
                     expected ? DataTypeName(dtype) : "a dtype that TensorFlow has");
  }
  if (dtype == proto::DT_STRING) return StringLiteralOf(array);
  return Literal::Borrow(dtype, array.dims, array.bytes, array.file);
}

namespace {

// The elements of a literal in the form in which a .npy file stores them: `bytes`, or `owned` if
// the form differs from the literal's own bytes.
struct NpyElements {
  std::string type;  // NumPy's type; empty if there is none
  llvm::StringRef bytes;
  std::string owned;
};

NpyElements ElementsOf(const Literal& literal) {
  NpyElements made;
  size_t count = literal.num_elements();
  made.type = NpyType(literal.dtype());
  if (literal.dtype() == proto::DT_STRING) {
    size_t size = 1;
    for (const std::string& text : literal.strings()) size = std::max(size, text.size());
    made.type = "S" + std::to_string(size);
    made.owned.assign(count * size, '\0');
    for (size_t i = 0; i < count; ++i) {
      const std::string& text = literal.strings()[literal.is_splat() ? 0 : i];
      std::copy(text.begin(), text.end(), made.owned.begin() + i * size);
    }
  } else if (literal.is_splat()) {
    made.owned.reserve(literal.byte_size());
    for (size_t i = 0; i < count; ++i) made.owned += literal.bytes();
  } else {
    made.bytes = literal.bytes();
  }
  return made;
}

Error NoForm(llvm::StringRef name, DataType dtype) {
  return MakeError("{0}: cannot write: a {1} has no form in a .npy file", name,
                   DataTypeName(dtype));
}

}  // namespace

Error SaveNpyLiteral(llvm::StringRef path, const Literal& literal) {
  NpyElements elements = ElementsOf(literal);
  if (elements.type.empty()) return NoForm(path, literal.dtype());
  return WriteNpy(path, elements.type, literal.dims(),
                  elements.owned.empty() ? elements.bytes : llvm::StringRef(elements.owned));
}

Expected<std::string> NpyFileBytes(llvm::StringRef name, const Literal& literal) {
  NpyElements elements = ElementsOf(literal);
  if (elements.type.empty()) return NoForm(name, literal.dtype());
  ASSIGN_OR_RETURN(std::string bytes, NpyHeader(name, elements.type, literal.dims()));
  return bytes.append(elements.owned.empty() ? elements.bytes : llvm::StringRef(elements.owned));
}

}  // namespace grapnel
