#include "lib/watch/element_format.h"

#include <charconv>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// --- Single floating-point numbers, as in NumPy's dragon4.

template <typename T>
std::string ToChars(T value, std::chars_format format) {
  char buffer[512];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr);
}

// Formats the exact value, rounded half to even, with `digits` digits after the point.
std::string ToChars(double value, std::chars_format format, int digits) {
  char buffer[1024];
  return std::string(buffer,
                     std::to_chars(buffer, buffer + sizeof buffer, value, format, digits).ptr);
}

// Returns the shortest text that reads back as `value`, for a dtype that C++ does not have.
std::string ShortestOf(DataType dtype, double value, std::chars_format format) {
  for (int digits = 0; digits < 9; ++digits) {
    std::string text = ToChars(value, std::chars_format::scientific, digits);
    double read = std::strtod(text.c_str(), nullptr);
    if (Literal::Scalar(dtype, read).AsDouble(0) == value) return ToChars(read, format);
  }
  return ToChars(value, format);
}

std::string Shortest(DataType dtype, double value, std::chars_format format) {
  if (dtype == proto::DT_DOUBLE) return ToChars(value, format);
  if (dtype == proto::DT_FLOAT) return ToChars(static_cast<float>(value), format);
  return ShortestOf(dtype, value, format);
}

struct Digits {
  std::string whole, fraction, exponent;  // "-1", "5", "e+08"; `exponent` may be empty
};

Digits Split(llvm::StringRef text) {
  size_t e = text.find('e');
  auto [whole, fraction] = text.take_front(e).split('.');
  return {whole.str(), fraction.rtrim('0').str(),
          e == llvm::StringRef::npos ? "" : text.substr(e).str()};
}

Digits DigitsOf(DataType dtype, double value, bool has_exponent, int precision) {
  auto format = has_exponent ? std::chars_format::scientific : std::chars_format::fixed;
  Digits digits = Split(Shortest(dtype, value, format));
  if (static_cast<int>(digits.fraction.size()) > precision)
    digits = Split(ToChars(value, format, precision));
  return digits;
}

// Formats floats like numpy.core.arrayprint.FloatingFormat.
class FloatFormat {
 public:
  FloatFormat(DataType dtype, const std::vector<double>& shown, int precision, bool has_sign)
      : dtype_(dtype), precision_(precision), has_sign_(has_sign) {
    double least = INFINITY, most = 0;
    bool has_finite = false, has_negative_infinity = false, all_finite = true;
    for (double value : shown) {
      if (!std::isfinite(value)) {
        all_finite = false;
        has_negative_infinity |= value < 0;
        continue;
      }
      has_finite = true;
      if (value == 0) continue;
      least = std::min(least, std::fabs(value));
      most = std::max(most, std::fabs(value));
    }
    has_exponent_ = most > 0 && (most >= Largest() || least < 1e-4 || IsWide(most, least));
    size_t fraction = 0;
    for (double value : shown) {
      if (!std::isfinite(value)) continue;
      Digits digits = DigitsOf(dtype_, value, has_exponent_, precision_);
      left_ = std::max(left_, digits.whole.size() + (has_sign_ && !std::signbit(value)));
      fraction = std::max(fraction, digits.fraction.size());
      exponent_ = std::max(exponent_, digits.exponent.empty() ? 0 : digits.exponent.size() - 2);
    }
    fraction_ = fraction;
    right_ = has_exponent_ ? exponent_ + 2 + fraction : fraction;
    if (!has_finite) right_ = 0;
    if (all_finite) return;
    size_t offset = right_ + 1;
    size_t longest = 3 + (has_sign_ || has_negative_infinity);
    for (size_t width : {size_t{3}, longest}) {
      if (width > offset) left_ = std::max(left_, width - offset);
    }
  }

  std::string Text(double value) const {
    std::string text;
    if (!std::isfinite(value)) {
      text = std::isnan(value) ? (has_sign_ ? "+nan" : "nan")
             : value < 0       ? "-inf"
                               : (has_sign_ ? "+inf" : "inf");
      size_t width = left_ + right_ + 1;
      return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
    }
    // With exponents, all elements have the same number of digits, taken from the exact value.
    Digits digits =
        has_exponent_
            ? Split(ToChars(value, std::chars_format::scientific, static_cast<int>(fraction_)))
            : DigitsOf(dtype_, value, false, precision_);
    if (has_sign_ && !std::signbit(value)) digits.whole = "+" + digits.whole;
    if (digits.whole.size() < left_) digits.whole.insert(0, left_ - digits.whole.size(), ' ');
    if (has_exponent_) {
      digits.fraction.resize(fraction_, '0');
      size_t missing = exponent_ + 2 - digits.exponent.size();
      digits.exponent.insert(2, missing, '0');
      return digits.whole + "." + digits.fraction + digits.exponent;
    }
    digits.fraction.resize(fraction_, ' ');
    return digits.whole + "." + digits.fraction;
  }

 private:
  // Returns the magnitude from which exponents are used: 10 to the power of the dtype's number of
  // decimal digits, at most 10^8, which is also the value for 8-bit floats.
  double Largest() const {
    switch (dtype_) {
      case proto::DT_FLOAT:
        return 1e6;
      case proto::DT_HALF:
        return 1e3;
      case proto::DT_BFLOAT16:
        return 1e2;
      default:
        return 1e8;
    }
  }

  // True if most / least > 1000, divided in the array's own precision as in NumPy: then exponents
  // are used.
  bool IsWide(double most, double least) const {
    if (dtype_ == proto::DT_DOUBLE) return most / least > 1000;
    return static_cast<float>(most) / static_cast<float>(least) > 1000.0f;
  }

  DataType dtype_;
  int precision_;
  bool has_sign_, has_exponent_ = false;
  size_t left_ = 0, right_ = 0, fraction_ = 0, exponent_ = 0;
};

class Floats : public ElementFormat {
 public:
  Floats(const Tensor& tensor, const std::vector<int64_t>& shown, int precision)
      : literal_(tensor.ToLiteral()),
        format_(tensor.dtype(), Values(literal_, shown), precision, false) {}
  std::string Text(int64_t flat) const override { return format_.Text(literal_.AsDouble(flat)); }

 private:
  static std::vector<double> Values(const Literal& literal, const std::vector<int64_t>& shown) {
    std::vector<double> values;
    values.reserve(shown.size());
    for (int64_t i : shown) values.push_back(literal.AsDouble(i));
    return values;
  }
  Literal literal_;
  FloatFormat format_;
};

// Formats complex elements, whose real and imaginary parts are adjacent numbers of a real dtype.
class Complexes : public ElementFormat {
 public:
  Complexes(const Tensor& tensor, const std::vector<int64_t>& shown, int precision)
      : type_(tensor.dtype() == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE),
        data_(tensor.raw()),
        real_(type_, Values(shown, 0), precision, false),
        imaginary_(type_, Values(shown, 1), precision, true) {}

  std::string Text(int64_t flat) const override {
    std::string imaginary = imaginary_.Text(Half(2 * flat + 1));
    imaginary.insert(llvm::StringRef(imaginary).rtrim().size(), "j");
    return real_.Text(Half(2 * flat)) + imaginary;
  }

 private:
  double Half(int64_t i) const {
    return type_ == proto::DT_FLOAT ? static_cast<const float*>(data_)[i]
                                    : static_cast<const double*>(data_)[i];
  }
  std::vector<double> Values(const std::vector<int64_t>& shown, int half) const {
    std::vector<double> values;
    values.reserve(shown.size());
    for (int64_t i : shown) values.push_back(Half(2 * i + half));
    return values;
  }
  DataType type_;
  const void* data_;
  FloatFormat real_, imaginary_;
};

// Formats integers and booleans, right-aligned.
class Words : public ElementFormat {
 public:
  Words(const Tensor& tensor, const std::vector<int64_t>& shown)
      : literal_(tensor.ToLiteral()), is_scalar_(tensor.rank() == 0) {
    for (int64_t i : shown) width_ = std::max(width_, Word(i).size());
  }
  std::string Text(int64_t flat) const override {
    std::string word = Word(flat);
    if (!is_scalar_ && word.size() < width_) word.insert(0, width_ - word.size(), ' ');
    return word;
  }

 private:
  std::string Word(int64_t flat) const {
    if (literal_.dtype() == proto::DT_BOOL)
      return literal_.AsInt(flat) ? (is_scalar_ ? "True" : " True") : "False";
    if (literal_.dtype() == proto::DT_UINT64)
      return std::to_string(static_cast<uint64_t>(literal_.AsInt(flat)));
    return std::to_string(literal_.AsInt(flat));
  }
  Literal literal_;
  bool is_scalar_;
  size_t width_ = 0;
};

// Returns Python's repr() of a bytes object.
std::string BytesText(llvm::StringRef bytes) {
  unsigned char quote = bytes.contains('\'') && !bytes.contains('"') ? '"' : '\'';
  std::string text = {'b', static_cast<char>(quote)};
  for (unsigned char c : bytes) {
    if (c == '\\' || c == quote) {
      text += std::string("\\") + static_cast<char>(c);
    } else if (c == '\n' || c == '\r' || c == '\t') {
      text += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c < 0x20 || c >= 0x7F) {
      text += {'\\', 'x', llvm::hexdigit(c / 16, true), llvm::hexdigit(c % 16, true)};
    } else {
      text += static_cast<char>(c);
    }
  }
  return text + static_cast<char>(quote);
}

class Strings : public ElementFormat {
 public:
  explicit Strings(const Tensor& tensor) : strings_(tensor.data<std::string>()) {}
  std::string Text(int64_t flat) const override { return BytesText(strings_[flat]); }

 private:
  const std::string* strings_;
};

}  // namespace

std::unique_ptr<ElementFormat> MakeElementFormat(const Tensor& tensor,
                                                 const std::vector<int64_t>& shown, int precision) {
  if (tensor.dtype() == proto::DT_STRING) return std::make_unique<Strings>(tensor);
  if (IsComplex(tensor.dtype())) return std::make_unique<Complexes>(tensor, shown, precision);
  if (IsFloating(tensor.dtype())) return std::make_unique<Floats>(tensor, shown, precision);
  return std::make_unique<Words>(tensor, shown);
}

}  // namespace grapnel
