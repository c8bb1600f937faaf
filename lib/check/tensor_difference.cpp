#include "lib/check/tensor_difference.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "lib/check/comparison.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Reads the elements of a tensor as doubles; the real and imaginary parts of complex numbers are
// separate elements. Floats, doubles and complex numbers are read in place, other dtypes through a
// literal.
class Elements {
 public:
  explicit Elements(const Tensor& tensor)
      : type_(tensor.dtype()), data_(tensor.raw()), literal_(tensor.ToLiteral()) {}
  double At(int64_t i) const {
    switch (type_) {
      case proto::DT_FLOAT:
      case proto::DT_COMPLEX64:
        return static_cast<const float*>(data_)[i];
      case proto::DT_DOUBLE:
      case proto::DT_COMPLEX128:
        return static_cast<const double*>(data_)[i];
      default:
        return literal_.AsDouble(i);
    }
  }
  int64_t IntAt(int64_t i) const { return literal_.AsInt(i); }
  // Returns the rank of element `i` in the sequence of all numbers of its dtype; the rank of 0 and
  // -0 is 0.
  int64_t RankAt(int64_t i) const {
    switch (type_) {
      case proto::DT_FLOAT:
      case proto::DT_COMPLEX64:
        return Rank<uint32_t>(i);
      case proto::DT_DOUBLE:
      case proto::DT_COMPLEX128:
        return Rank<uint64_t>(i);
      case proto::DT_HALF:
      case proto::DT_BFLOAT16:
        return Rank<uint16_t>(i);
      case proto::DT_FLOAT4_E2M1FN:
        return Rank<uint8_t>(i, 0x8);
      default:
        return Rank<uint8_t>(i);
    }
  }

 private:
  template <typename Bits>
  int64_t Rank(int64_t i, Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1)) const {
    Bits bits = static_cast<const Bits*>(data_)[i];
    auto magnitude = static_cast<int64_t>(bits & static_cast<Bits>(sign - 1));
    return (bits & sign) ? -magnitude : magnitude;
  }

  DataType type_;
  const void* data_;
  Literal literal_;
};

int MantissaBits(DataType type) {
  switch (type) {
    case proto::DT_HALF:
      return 10;
    case proto::DT_BFLOAT16:
      return 7;
    case proto::DT_DOUBLE:
    case proto::DT_COMPLEX128:
      return 52;
    case proto::DT_FLOAT8_E5M2:
    case proto::DT_FLOAT8_E5M2FNUZ:
      return 2;
    case proto::DT_FLOAT8_E4M3FN:
    case proto::DT_FLOAT8_E4M3FNUZ:
    case proto::DT_FLOAT8_E4M3B11FNUZ:
      return 3;
    case proto::DT_FLOAT4_E2M1FN:
      return 1;
    default:
      return 23;
  }
}

int LeastExponent(DataType type) {
  switch (type) {
    case proto::DT_HALF:
    case proto::DT_FLOAT8_E5M2:
      return -14;
    case proto::DT_DOUBLE:
    case proto::DT_COMPLEX128:
      return -1022;
    case proto::DT_FLOAT8_E4M3FN:
      return -6;
    case proto::DT_FLOAT8_E4M3FNUZ:
      return -7;
    case proto::DT_FLOAT8_E4M3B11FNUZ:
      return -10;
    case proto::DT_FLOAT8_E5M2FNUZ:
      return -15;
    case proto::DT_FLOAT4_E2M1FN:
      return 0;
    default:
      return -126;
  }
}

// Returns the distance from `value` to the next number of a dtype, also for subnormals.
double UlpAt(double value, int mantissa_bits, int least_exponent) {
  int exponent = value == 0 ? least_exponent : std::max(std::ilogb(value), least_exponent);
  return std::ldexp(1.0, exponent - mantissa_bits);
}

std::string ElementText(const Tensor& tensor, int64_t i) {
  Literal literal = tensor.ToLiteral();
  if (tensor.dtype() == proto::DT_STRING) {
    const std::string& text = tensor.data<std::string>()[i];
    return "\"" + text.substr(0, 40) + (text.size() > 40 ? "..." : "") + "\"";
  }
  if (tensor.dtype() == proto::DT_BOOL) return literal.AsInt(i) ? "true" : "false";
  if (!IsFloating(tensor.dtype()) && !IsComplex(tensor.dtype()))
    return std::to_string(literal.AsInt(i));
  size_t size = DataTypeSize(tensor.dtype());
  std::string text =
      Literal::Make(tensor.dtype(), {}, literal.bytes().substr(i * size, size)).ToString();
  return text;
}

void SetPlace(const Tensor& a, const Tensor& b, int64_t at, TensorDifference* difference) {
  difference->index = IndexOfElement(at, a.dims());
  difference->value_a = ElementText(a, at);
  difference->value_b = ElementText(b, at);
}

void DiffStrings(const Tensor& a, const Tensor& b, TensorDifference* out) {
  int64_t first = -1;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if (a.data<std::string>()[i] == b.data<std::string>()[i]) continue;
    if (out->diverged++ == 0) first = i;
  }
  if (first < 0) return;
  out->agreement = Agreement::kDiverged;
  SetPlace(a, b, first, out);
}

// Compares elements as int64, since a double cannot distinguish large integers.
void DiffIntegers(const Tensor& a, const Tensor& b, TensorDifference* out) {
  Elements in_a(a), in_b(b);
  int64_t worst = -1;
  double largest = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    double value = in_a.At(i);
    largest = std::max(largest, std::fabs(value));
    if (in_a.IntAt(i) == in_b.IntAt(i)) continue;
    ++out->diverged;
    double error = std::fabs(in_b.At(i) - value);
    if (worst < 0 || error > out->max_abs) worst = i;
    out->max_abs = std::max(out->max_abs, error);
    if (value != 0) out->max_rel = std::max(out->max_rel, error / std::fabs(value));
  }
  if (worst < 0) return;
  out->agreement = Agreement::kDiverged;
  out->norm_error = largest > 0 ? out->max_abs / largest : out->max_abs;
  SetPlace(a, b, worst, out);
}

void DiffFloats(const Tensor& a, const Tensor& b, const Tolerance& tolerance,
                TensorDifference* out) {
  Elements in_a(a), in_b(b);
  int parts = IsComplex(a.dtype()) ? 2 : 1;
  int bits = MantissaBits(a.dtype()), least = LeastExponent(a.dtype());
  bool is_short = a.dtype() == proto::DT_HALF || a.dtype() == proto::DT_BFLOAT16;
  double rtol = tolerance.rtol * (is_short ? 64 : 1);
  double atol =
      tolerance.atol ? *tolerance.atol : AbsoluteTolerance(a.ToLiteral(), std::min(rtol, 1.0));
  double dot = 0, square_a = 0, square_b = 0, largest = 0, worst_excess = -1;
  int64_t worst = -1, first_nan = -1;
  bool differs = false;
  for (int64_t i = 0; i < a.num_elements() * parts; ++i) {
    double x = in_a.At(i), y = in_b.At(i);
    bool finite = std::isfinite(x) && std::isfinite(y);
    if (finite) {
      dot += x * y;
      square_a += x * x;
      square_b += y * y;
      largest = std::max(largest, std::fabs(x));
    }
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    differs = true;
    if (!finite) {
      ++out->diverged;
      if (first_nan < 0) first_nan = i;
      continue;
    }
    double error = std::fabs(y - x), ulp = UlpAt(x, bits, least);
    double allowed = std::max(atol + rtol * std::fabs(x), 2 * ulp);
    out->max_abs = std::max(out->max_abs, error);
    if (x != 0) out->max_rel = std::max(out->max_rel, error / std::fabs(x));
    uint64_t rank_x = in_a.RankAt(i), rank_y = in_b.RankAt(i);
    double ulps = static_cast<double>(x < y ? rank_y - rank_x : rank_x - rank_y);
    out->max_ulps = std::max(out->max_ulps, ulps);
    out->diverged += error > allowed;
    if (error / allowed > worst_excess) {
      worst_excess = error / allowed;
      worst = i;
    }
  }
  if (!differs) return;
  if (square_a > 0 && square_b > 0) out->cosine = dot / std::sqrt(square_a) / std::sqrt(square_b);
  out->norm_error = largest > 0 ? out->max_abs / largest : out->max_abs;
  for (double* number : {&out->max_rel, &out->norm_error, &out->max_abs})
    *number = std::min(*number, std::numeric_limits<double>::max());
  if (!std::isfinite(out->cosine)) out->cosine = 0;
  if (first_nan >= 0) out->mismatch = "nan";
  out->agreement = out->diverged > 0 ? Agreement::kDiverged : Agreement::kWithin;
  SetPlace(a, b, (first_nan >= 0 ? first_nan : worst) / parts, out);
}

}  // namespace

std::vector<int64_t> IndexOfElement(int64_t flat, llvm::ArrayRef<int64_t> dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t i = dims.size(); i-- > 0; flat /= dims[i]) index[i] = flat % dims[i];
  return index;
}

double UnitRoundoff(DataType type) {
  if (!IsFloating(type) && !IsComplex(type)) return 0;
  return std::ldexp(1.0, -MantissaBits(type) - 1);
}

TensorDifference DifferenceOf(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  TensorDifference out;
  out.elements = a.num_elements();
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) {
    out.agreement = Agreement::kDiverged;
    out.mismatch = a.dtype() != b.dtype() ? "dtype" : "shape";
    out.diverged = out.elements;
    return out;
  }
  if (a.dtype() == proto::DT_STRING) {
    DiffStrings(a, b, &out);
  } else if (a.byte_size() == 0 || a.raw() == b.raw() ||
             std::memcmp(a.raw(), b.raw(), a.byte_size()) == 0) {
    return out;
  } else if (IsFloating(a.dtype()) || IsComplex(a.dtype())) {
    DiffFloats(a, b, tolerance, &out);
  } else {
    DiffIntegers(a, b, &out);
  }
  return out;
}

}  // namespace grapnel
