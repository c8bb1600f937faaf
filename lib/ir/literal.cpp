#include "lib/ir/literal.h"

#include <algorithm>
#include <limits>

#include "lib/ir/element_storage.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

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
  // In C++, casting NaN or a number outside of int64's range to an integer is undefined: these
  // become the smallest int64, whose lowest bytes, of which smaller dtypes consist, are 0.
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
    case Storage::kF8:
      return Float8ToDouble(dtype_, Load<uint8_t>(at));
    case Storage::kNone:
      break;
  }
  return 0;
}

double Literal::ImaginaryPart(int64_t i) const {
  if (!IsComplex(dtype_)) return 0;
  size_t size = DataTypeSize(dtype_);
  const char* at = bytes_.data() + (splat_ ? 0 : i * size) + size / 2;
  return size == 8 ? Load<float>(at) : Load<double>(at);
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
  for (int64_t i = 0; i < written; ++i) {
    if (AsDouble(i) != value) return false;
    if (complex && ImaginaryPart(i) != 0) return false;
  }
  return true;
}

Literal Literal::Reshaped(llvm::ArrayRef<int64_t> dims) const {
  Literal literal = *this;
  literal.dims_.assign(dims.begin(), dims.end());
  return literal;
}

bool Literal::SameValue(const Literal& other) const {
  if (dtype_ != other.dtype_ || dims_ != other.dims_) return false;
  if (num_elements_ == 0) return true;
  if (dtype_ == proto::DT_STRING) {
    int64_t stored = splat_ && other.splat_ ? 1 : num_elements_;
    for (int64_t i = 0; i < stored; ++i) {
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
  // If all elements are equal, hashes only the first, so that a splat has the same hash as its
  // expansion.
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
        os << AsInt(i);
        return;
      case Storage::kUnsigned:
        os << static_cast<uint64_t>(AsInt(i));
        return;
      case Storage::kF64:
        os << NumberText(AsDouble(i), 17);
        return;
      case Storage::kC64:
      case Storage::kC128: {
        std::string second = NumberText(ImaginaryPart(i));
        os << NumberText(AsDouble(i)) << (second[0] == '-' ? "" : "+") << second << "j";
        return;
      }
      default:
        os << NumberText(AsDouble(i));
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
