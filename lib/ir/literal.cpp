#include "lib/ir/literal.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lib/ir/node.h"
#include "lib/ir/wire.h"
#include "lib/proto/tensor.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

// What one element is in memory, and in which repeated field of TensorProto it may be written.
enum class Storage { kF16, kBf16, kF32, kF64, kSigned, kUnsigned, kBool, kC64, kC128, kF8, kNone };

Storage StorageOf(DataType type) {
  switch (type) {
    case proto::DT_HALF:
      return Storage::kF16;
    case proto::DT_BFLOAT16:
      return Storage::kBf16;
    case proto::DT_FLOAT:
      return Storage::kF32;
    case proto::DT_DOUBLE:
      return Storage::kF64;
    case proto::DT_COMPLEX64:
      return Storage::kC64;
    case proto::DT_COMPLEX128:
      return Storage::kC128;
    case proto::DT_BOOL:
      return Storage::kBool;
    case proto::DT_UINT8:
    case proto::DT_UINT16:
    case proto::DT_UINT32:
    case proto::DT_UINT64:
    case proto::DT_UINT4:
    case proto::DT_UINT2:
    case proto::DT_QUINT8:
    case proto::DT_QUINT16:
      return Storage::kUnsigned;
    case proto::DT_STRING:
    case proto::DT_RESOURCE:
    case proto::DT_VARIANT:
      return Storage::kNone;
    default:
      if (IsInteger(type) || IsQuantized(type)) return Storage::kSigned;
      return DataTypeSize(type) == 1 ? Storage::kF8 : Storage::kNone;
  }
}

// TensorProto's field for values of `type`.
uint32_t ValueField(DataType type) {
  switch (StorageOf(type)) {
    case Storage::kF16:
    case Storage::kBf16:
      return 13;
    case Storage::kF32:
      return 5;
    case Storage::kF64:
      return 6;
    case Storage::kC64:
      return 9;
    case Storage::kC128:
      return 12;
    case Storage::kBool:
      return 11;
    case Storage::kF8:
      return 18;
    case Storage::kNone:
      return 8;
    default:
      break;
  }
  if (type == proto::DT_INT64) return 10;
  if (type == proto::DT_UINT32) return 16;
  if (type == proto::DT_UINT64) return 17;
  return 7;
}

float HalfToFloat(uint16_t h) {
  uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31, mantissa = h & 1023;
  if (exponent == 0) {
    float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  uint32_t bits = sign | (exponent == 31 ? 0x7F800000u : (exponent + 112) << 23) | mantissa << 13;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

uint16_t FloatToHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return sign | 0x7E00;
  if (magnitude >= 0x477FF000) return sign | 0x7C00;
  if (magnitude < 0x38800000) {  // subnormal: counted in units of 2^-24
    float scaled;
    std::memcpy(&scaled, &magnitude, 4);
    return sign | static_cast<uint16_t>(std::nearbyint(scaled * 16777216.0f));
  }
  uint32_t rounded = magnitude + 0xFFF + (magnitude >> 13 & 1);
  return sign | ((rounded - 0x38000000) >> 13);
}

float Bf16ToFloat(uint16_t b) {
  uint32_t bits = static_cast<uint32_t>(b) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

uint16_t FloatToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value)) return bits >> 16 | 0x40;
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

int64_t LoadInt(const char* at, size_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? Load<int8_t>(at) : Load<uint8_t>(at);
    case 2:
      return is_signed ? Load<int16_t>(at) : Load<uint16_t>(at);
    case 4:
      return is_signed ? Load<int32_t>(at) : static_cast<int64_t>(Load<uint32_t>(at));
    default:
      return Load<int64_t>(at);
  }
}

// Appends `value` as one element of `type`.
void AppendElement(std::string* out, DataType type, double value, int64_t integer) {
  auto append = [out](auto v) { out->append(reinterpret_cast<const char*>(&v), sizeof v); };
  switch (StorageOf(type)) {
    case Storage::kF16:
      return append(FloatToHalf(static_cast<float>(value)));
    case Storage::kBf16:
      return append(FloatToBf16(static_cast<float>(value)));
    case Storage::kF32:
      return append(static_cast<float>(value));
    case Storage::kF64:
      return append(value);
    case Storage::kC64:
      append(static_cast<float>(value));
      return append(0.0f);
    case Storage::kC128:
      append(value);
      return append(0.0);
    case Storage::kBool:
      return append(static_cast<uint8_t>(value != 0));
    case Storage::kSigned:
    case Storage::kUnsigned:
      out->append(reinterpret_cast<const char*>(&integer), DataTypeSize(type));
      return;
    case Storage::kF8:
      return append(static_cast<uint8_t>(integer));
    case Storage::kNone:
      return;
  }
}

// The typed repeated field as packed elements in memory layout.
std::string ReadValues(llvm::StringRef tensor_proto, DataType type) {
  uint32_t field = ValueField(type);
  Storage storage = StorageOf(type);
  size_t size = DataTypeSize(type);
  std::string out;
  auto number = [&](uint64_t n) {
    // Whatever the element, its low bytes are what the field's number holds, in little-endian
    // order.
    if (storage == Storage::kF32 || storage == Storage::kC64) {
      out.append(reinterpret_cast<const char*>(&n), 4);
    } else if (storage == Storage::kC128) {
      out.append(reinterpret_cast<const char*>(&n), 8);
    } else if (storage == Storage::kBool) {
      out.push_back(n != 0);
    } else {
      out.append(reinterpret_cast<const char*>(&n), size);
    }
  };
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.field() != field) continue;
    if (reader.type() != WireType::kBytes) {
      number(reader.number());
    } else if (storage == Storage::kF8 || storage == Storage::kF32 || storage == Storage::kF64 ||
               storage == Storage::kC64 || storage == Storage::kC128) {
      out.append(reader.bytes().data(), reader.bytes().size());
    } else {
      WireReader packed(reader.bytes());
      uint64_t n;
      while (!packed.AtEnd() && packed.Varint(&n)) number(n);
    }
  }
  out.resize(out.size() / size * size);
  return out;
}

}  // namespace

Expected<Literal> Literal::FromTensorProto(llvm::StringRef tensor_proto) {
  Literal literal;
  Shape shape = Shape::Scalar();
  llvm::StringRef content;
  bool has_content = false;
  std::vector<std::string> strings;
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) literal.dtype_ = static_cast<DataType>(reader.number());
    if (reader.Is(2, WireType::kBytes)) {
      proto::TensorShapeProto dims;
      if (!dims.ParseFromArray(reader.bytes().data(), reader.bytes().size())) {
        return MakeError("the tensor's shape cannot be read");
      }
      for (const auto& dim : dims.dim()) {
        if (dim.size() < 0) return MakeError("the tensor has a dimension of size {0}", dim.size());
      }
      shape = Shape::FromProto(dims);
    }
    if (reader.Is(4, WireType::kBytes)) {
      content = reader.bytes();
      has_content = !content.empty();
    }
    if (reader.Is(8, WireType::kBytes)) strings.push_back(reader.bytes().str());
  }
  if (reader.failed()) return MakeError("the tensor is cut off or no TensorProto");
  if (IsRefType(literal.dtype_)) {
    return MakeError("the tensor's dtype is {0}, a value cannot be a reference",
                     DataTypeName(literal.dtype_));
  }
  if (!shape.known_rank())
    return MakeError("the tensor's rank is unknown, a constant's shape must be known");
  std::optional<int64_t> count = shape.NumElements();
  size_t size = DataTypeSize(literal.dtype_);
  if (!count || (size && *count > INT64_MAX / static_cast<int64_t>(size))) {
    return MakeError("the tensor's shape {0} is larger than memory", shape.ToString());
  }
  literal.dims_.assign(shape.dims().begin(), shape.dims().end());
  literal.num_elements_ = *count;
  // The last value written stands for all that follow. A few bytes may not cost gigabytes.
  auto claims_too_much = [&](int64_t written, int64_t element) {
    constexpr int64_t kAlwaysAllowed = 64 << 20, kMaxRatio = 1000;
    return *count > kAlwaysAllowed / element && *count / kMaxRatio > written;
  };

  if (literal.dtype_ == proto::DT_STRING) {
    int64_t written = strings.size();
    if (written > *count)
      return MakeError("{0} strings are written, the shape {1} has {2}", written, shape.ToString(),
                       *count);
    if (written == 0) strings.emplace_back();
    if (written > 1 && written < *count) {
      if (claims_too_much(written, 32))
        return MakeError("the tensor's shape {0} claims far more than the {1} strings written",
                         shape.ToString(), written);
      strings.resize(*count, strings.back());
    }
    literal.splat_ = written <= 1;
    literal.strings_ = std::make_shared<std::vector<std::string>>(std::move(strings));
    return literal;
  }
  if (size == 0) {
    if (literal.dtype_ == proto::DT_RESOURCE || literal.dtype_ == proto::DT_VARIANT) {
      return MakeError("a {0} has no value that can be read", DataTypeName(literal.dtype_));
    }
    return MakeError("the tensor's dtype {0} is unknown", static_cast<int>(literal.dtype_));
  }
  if (has_content) {
    if (content.size() != *count * size) {
      return MakeError("the tensor's content has {0} bytes, {1}{2} needs {3}", content.size(),
                       DataTypeName(literal.dtype_), shape.ToString(), *count * size);
    }
    literal.bytes_ = content;
    // Any byte but 0 is true, and code that reads a bool may rely on its being 0 or 1.
    auto is_bool = [](char byte) { return byte == 0 || byte == 1; };
    if (literal.dtype_ == proto::DT_BOOL && !llvm::all_of(content, is_bool)) {
      auto owner = std::make_shared<std::string>(content.str());
      for (char& byte : *owner) byte = byte != 0;
      literal.bytes_ = *owner;
      literal.owner_ = owner;
    }
    return literal;
  }
  std::string values = ReadValues(tensor_proto, literal.dtype_);
  int64_t written = values.size() / size;
  if (written > *count) {
    return MakeError("{0} values are written, the shape {1} has {2}", written, shape.ToString(),
                     *count);
  }
  // TensorFlow repeats the last value written; none at all means zeros.
  if (written == 0) values.assign(size, 0);
  literal.splat_ = written <= 1;
  if (written > 1 && written < *count) {
    if (claims_too_much(written, size)) {
      return MakeError("the tensor's shape {0} claims far more than the {1} values written",
                       shape.ToString(), written);
    }
    std::string last = values.substr(values.size() - size);
    values.reserve(*count * size);
    while (static_cast<int64_t>(values.size() / size) < *count) values += last;
  }
  auto owner = std::make_shared<std::string>(std::move(values));
  literal.bytes_ = *owner;
  literal.owner_ = owner;
  if (*count == 0) literal.bytes_ = {};
  return literal;
}

Expected<Literal> Literal::FromConst(const Node& node) {
  std::optional<AttrView> value = node.FindAttr("value");
  std::optional<llvm::StringRef> tensor = value ? value->AsTensor() : std::nullopt;
  if (!tensor)
    return MakeError("node '{0}': attribute 'value' is missing or no tensor", node.name());
  auto literal = FromTensorProto(*tensor);
  if (!literal) return Annotate("node '" + node.name() + "'", literal.takeError());
  return literal;
}

Literal Literal::Borrow(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes,
                        std::shared_ptr<const void> owner) {
  Literal literal;
  literal.dtype_ = dtype;
  literal.dims_.assign(dims.begin(), dims.end());
  literal.num_elements_ = grapnel::NumElements(dims).value_or(0);
  literal.splat_ = literal.num_elements_ > 1 && bytes.size() == DataTypeSize(dtype);
  literal.bytes_ = bytes;
  literal.owner_ = std::move(owner);
  return literal;
}

Literal Literal::Make(DataType dtype, llvm::ArrayRef<int64_t> dims, llvm::StringRef bytes) {
  auto owner = std::make_shared<std::string>(bytes.str());
  return Borrow(dtype, dims, *owner, owner);
}

Literal Literal::MakeStrings(llvm::ArrayRef<int64_t> dims, std::vector<std::string> strings) {
  Literal literal;
  literal.dtype_ = proto::DT_STRING;
  literal.dims_.assign(dims.begin(), dims.end());
  literal.num_elements_ = grapnel::NumElements(dims).value_or(0);
  literal.splat_ = strings.size() == 1;
  if (strings.empty()) strings.emplace_back();
  literal.strings_ = std::make_shared<std::vector<std::string>>(std::move(strings));
  return literal;
}

Literal Literal::Scalar(DataType dtype, double value) {
  std::string bytes;
  // What no int64 holds, NaN among it, has no integer; C++ leaves open what a cast would give.
  constexpr double kTooLarge = 9223372036854775808.0;
  bool fits = value >= -kTooLarge && value < kTooLarge;
  AppendElement(&bytes, dtype, value,
                fits ? static_cast<int64_t>(value) : std::numeric_limits<int64_t>::min());
  return Make(dtype, {}, bytes);
}

Literal Literal::Vector32(llvm::ArrayRef<int32_t> values) {
  return Make(proto::DT_INT32, {static_cast<int64_t>(values.size())},
              {reinterpret_cast<const char*>(values.data()), values.size() * 4});
}

Literal Literal::Integers(DataType dtype, llvm::ArrayRef<int64_t> dims,
                          llvm::ArrayRef<int64_t> values) {
  std::string bytes;
  for (int64_t value : values) AppendElement(&bytes, dtype, static_cast<double>(value), value);
  return Make(dtype, dims, bytes);
}

double Literal::AsDouble(int64_t i) const {
  size_t size = DataTypeSize(dtype_);
  const char* at = bytes_.data() + (splat_ ? 0 : i * size);
  switch (StorageOf(dtype_)) {
    case Storage::kF16:
      return HalfToFloat(Load<uint16_t>(at));
    case Storage::kBf16:
      return Bf16ToFloat(Load<uint16_t>(at));
    case Storage::kF32:
    case Storage::kC64:
      return Load<float>(at);
    case Storage::kF64:
    case Storage::kC128:
      return Load<double>(at);
    case Storage::kUnsigned:
      if (size == 8) return static_cast<double>(Load<uint64_t>(at));
      return static_cast<double>(LoadInt(at, size, false));
    case Storage::kSigned:
      return static_cast<double>(LoadInt(at, size, true));
    case Storage::kBool:
      return *at != 0;
    default:
      return 0;
  }
}

int64_t Literal::AsInt(int64_t i) const {
  Storage storage = StorageOf(dtype_);
  size_t size = DataTypeSize(dtype_);
  if (storage != Storage::kSigned && storage != Storage::kUnsigned && storage != Storage::kBool) {
    return static_cast<int64_t>(AsDouble(i));
  }
  return LoadInt(bytes_.data() + (splat_ ? 0 : i * size), size, storage == Storage::kSigned);
}

std::vector<int64_t> Literal::AsInts() const {
  std::vector<int64_t> values(num_elements_);
  for (int64_t i = 0; i < num_elements_; ++i) values[i] = AsInt(i);
  return values;
}

bool Literal::AllEqualTo(double value) const {
  if (num_elements_ == 0 || (!IsNumeric(dtype_) && dtype_ != proto::DT_BOOL) ||
      StorageOf(dtype_) == Storage::kF8) {
    return false;
  }
  int64_t written = is_splat() ? 1 : num_elements_;
  bool complex = IsComplex(dtype_);
  size_t size = DataTypeSize(dtype_);
  for (int64_t i = 0; i < written; ++i) {
    if (AsDouble(i) != value) return false;
    if (complex) {
      const char* imaginary = bytes_.data() + i * size + size / 2;
      if ((size == 8 ? Load<float>(imaginary) : Load<double>(imaginary)) != 0) return false;
    }
  }
  return true;
}

Literal Literal::Reshaped(llvm::ArrayRef<int64_t> dims) const {
  Literal literal = *this;
  literal.dims_.assign(dims.begin(), dims.end());
  return literal;
}

std::string Literal::ToTensorProto(bool compress) const {
  llvm::StringRef content;
  std::string out = TensorProtoHead(compress, &content);
  out.append(content.data(), content.size());
  return out;
}

std::string Literal::TensorProtoHead(bool compress, llvm::StringRef* content) const {
  *content = {};
  std::string out;
  AppendVarintField(&out, 1, dtype_);
  AppendBytesField(&out, 2, Shape(dims_).ToProto().SerializeAsString());
  if (dtype_ == proto::DT_STRING) {
    for (int64_t i = 0; i < std::min<int64_t>(num_elements_, strings_->size()); ++i) {
      AppendBytesField(&out, 8, (*strings_)[i]);
    }
    return out;
  }
  size_t size = DataTypeSize(dtype_);
  llvm::StringRef bytes = num_elements_ == 0 ? llvm::StringRef() : bytes_;
  if (compress && bytes.size() > size &&
      std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0) {
    bytes = bytes.take_front(size);
  }
  if (compress && bytes.find_first_not_of('\0') == llvm::StringRef::npos) return out;
  constexpr size_t kReadable = 16;  // elements that a person may want to read in a .pbtxt
  bool one_for_all = bytes.size() == size && num_elements_ > 1;
  if (!one_for_all && bytes.size() > kReadable * size) {
    AppendTag(&out, 4, WireType::kBytes);
    AppendVarint(&out, bytes.size());
    *content = bytes;
    return out;
  }
  if (!bytes.empty()) out += TypedValues(dtype_, bytes);
  return out;
}

std::string Literal::TypedValues(DataType dtype, llvm::StringRef bytes) {
  Storage storage = StorageOf(dtype);
  size_t size = DataTypeSize(dtype);
  std::string out, values;
  bool raw = storage == Storage::kF32 || storage == Storage::kF64 || storage == Storage::kC64 ||
             storage == Storage::kC128 || storage == Storage::kF8;
  if (raw) {
    values = bytes.str();
  } else {
    for (size_t i = 0; i < bytes.size(); i += size) {
      AppendVarint(&values, static_cast<uint64_t>(
                                LoadInt(bytes.data() + i, size, storage == Storage::kSigned)));
    }
  }
  AppendBytesField(&out, ValueField(dtype), values);
  return out;
}

bool Literal::SameValue(const Literal& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_) return false;
  if (num_elements_ == 0) return true;
  if (dtype_ == proto::DT_STRING) {
    for (int64_t i = 0; i < num_elements_; ++i) {
      if ((*strings_)[splat_ ? 0 : i] != (*other.strings_)[other.splat_ ? 0 : i]) return false;
    }
    return true;
  }
  if (bytes_.size() == other.bytes_.size()) return bytes_ == other.bytes_;
  llvm::StringRef one = is_splat() ? bytes_ : other.bytes_,
                  all = is_splat() ? other.bytes_ : bytes_;
  return all.take_front(one.size()) == one &&
         std::memcmp(all.data(), all.data() + one.size(), all.size() - one.size()) == 0;
}

uint64_t Literal::Hash() const {
  uint64_t hash = 0x9E3779B97F4A7C15ull ^ static_cast<uint64_t>(dtype_);
  auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0xFF51AFD7ED558CCDull;
    hash ^= hash >> 32;
  };
  for (int64_t dim : dims_) mix(dim);
  if (num_elements_ == 0) return hash;
  if (dtype_ == proto::DT_STRING) {
    for (int64_t i = 0; i < std::min<int64_t>(num_elements_, 16); ++i) {
      for (char c : (*strings_)[splat_ ? 0 : i]) mix(c);
    }
    return hash;
  }
  size_t size = DataTypeSize(dtype_);
  llvm::StringRef bytes = bytes_;
  // A splat and its expansion are the same value.
  if (bytes.size() > size &&
      std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0) {
    bytes = bytes.take_front(size);
  }
  for (; bytes.size() >= 8; bytes = bytes.drop_front(8)) mix(Load<uint64_t>(bytes.data()));
  uint64_t rest = 0;
  std::memcpy(&rest, bytes.data(), bytes.size());
  mix(rest);
  return hash;
}

std::string Literal::ToString(int limit) const {
  std::string out;
  llvm::raw_string_ostream os(out);
  auto element = [&](int64_t i) {
    switch (StorageOf(dtype_)) {
      case Storage::kNone:
        if (dtype_ != proto::DT_STRING) {
          os << "?";
          return;
        }
        os << '"';
        llvm::printEscapedString((*strings_)[splat_ ? 0 : i], os);
        os << '"';
        return;
      case Storage::kBool:
        os << (AsInt(i) ? "true" : "false");
        return;
      case Storage::kSigned:
      case Storage::kUnsigned:
        os << AsInt(i);
        return;
      case Storage::kF64:
        os << llvm::format("%.17g", AsDouble(i));
        return;
      case Storage::kC64:
      case Storage::kC128: {
        size_t size = DataTypeSize(dtype_);
        const char* at = bytes_.data() + (splat_ ? 0 : i * size) + size / 2;
        double imaginary = size == 8 ? Load<float>(at) : Load<double>(at);
        os << llvm::format("%.9g%+.9gj", AsDouble(i), imaginary);
        return;
      }
      default:
        os << llvm::format("%.9g", AsDouble(i));
    }
  };
  if (dims_.empty()) {
    element(0);
    return os.str();
  }
  os << "[";
  for (int64_t i = 0; i < num_elements_; ++i) {
    if (i) os << ",";
    if (i == limit) {
      os << "...";
      break;
    }
    element(i);
  }
  os << "]";
  return os.str();
}

}  // namespace grapnel
