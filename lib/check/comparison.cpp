#include "lib/check/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "lib/support/text.h"

namespace grapnel {
namespace {

// Returns the distance from `value` to the next number of the dtype, as if it had no subnormals; 0
// if `value` is 0 or not finite. 8-bit floats count as float.
double UlpOf(DataType type, double value) {
  int digits = type == proto::DT_DOUBLE || type == proto::DT_COMPLEX128 ? 52
               : type == proto::DT_HALF                                 ? 10
               : type == proto::DT_BFLOAT16                             ? 7
                                                                        : 23;
  if (value == 0 || !std::isfinite(value)) return 0;
  return std::ldexp(1.0, std::ilogb(value) - digits);
}

// Returns part 0 (real) or 1 (imaginary) of a complex element, and other elements as a double. The
// parts are compared separately.
double ComplexPart(const Literal& literal, int64_t i, int part) {
  if (part == 0) return literal.AsDouble(i);
  size_t size = DataTypeSize(literal.dtype());
  const char* at = literal.bytes().data() + (literal.is_splat() ? 0 : i * size) + size / 2;
  if (size == 8) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  double value;
  std::memcpy(&value, at, 8);
  return value;
}

// Calls `visit` with the magnitude of each finite element other than 0 of a float literal, or of
// each such part of a complex one; not for other dtypes.
template <typename Visit>
void VisitMagnitudes(const Literal& literal, Visit visit) {
  bool complex = IsComplex(literal.dtype());
  if (!complex && !IsFloating(literal.dtype())) return;
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    for (int part = 0; part < (complex ? 2 : 1); ++part) {
      double size = std::fabs(ComplexPart(literal, i, part));
      if (size > 0 && std::isfinite(size)) visit(size);
    }
  }
}

std::string IndexText(llvm::ArrayRef<int64_t> dims, int64_t i) {
  Dims index(dims.begin(), dims.end());
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    index[d] = i % dims[d];
    i /= dims[d];
  }
  return DimsText(index);
}

}  // namespace

Comparison Compare(const Literal& got, const Literal& expected, double rtol, double atol) {
  Comparison result;
  auto differs = [&](std::string why) {
    if (result.same) result.message = std::move(why);
    result.same = false;
  };
  if (got.dtype() != expected.dtype() || got.dims() != expected.dims()) {
    differs(llvm::formatv("is {0}{1}, expected is {2}{3}", DataTypeName(got.dtype()),
                          DimsText(got.dims()), DataTypeName(expected.dtype()),
                          DimsText(expected.dims()))
                .str());
    return result;
  }
  if (got.dtype() == proto::DT_STRING) {
    if (!got.SameValue(expected))
      differs("strings differ: " + got.ToString() + ", expected is " + expected.ToString());
    return result;
  }
  bool exact = !IsFloating(got.dtype()) && !IsComplex(got.dtype());
  int parts = IsComplex(got.dtype()) ? 2 : 1;
  int64_t wrong = 0, first = 0;
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    for (int part = 0; part < parts; ++part) {
      double a = ComplexPart(got, i, part), b = ComplexPart(expected, i, part);
      // Compare integers as int64: a double cannot distinguish large ones.
      bool equal =
          exact ? got.AsInt(i) == expected.AsInt(i) : a == b || (std::isnan(a) && std::isnan(b));
      if (equal) continue;
      double error = std::fabs(a - b);
      bool fits = !exact &&
                  error <= std::max(atol + rtol * std::fabs(b), 2 * UlpOf(got.dtype(), b)) &&
                  std::isfinite(b);
      if (std::isfinite(error)) result.max_error = std::max(result.max_error, error);
      if (!fits && wrong++ == 0) first = i;
    }
  }
  if (wrong) {
    Dims index(got.dims().begin(), got.dims().end());
    differs(
        llvm::formatv(
            "{0} of {1} elements differ, the first at {2}: {3}, expected is {4}; largest error {5}",
            wrong, got.num_elements(), IndexText(index, first), NumberText(got.AsDouble(first)),
            NumberText(expected.AsDouble(first)), llvm::format("%.3g", result.max_error))
            .str());
  }
  return result;
}

double LargestMagnitude(const Literal& literal) {
  double most = 0;
  VisitMagnitudes(literal, [&](double size) { most = std::max(most, size); });
  return most;
}

double AbsoluteTolerance(const Literal& expected, double rtol) {
  std::vector<double> sizes;
  VisitMagnitudes(expected, [&](double size) { sizes.push_back(size); });
  if (sizes.empty()) return 0;
  auto smallest = [&](size_t rank) {
    std::nth_element(sizes.begin(), sizes.begin() + rank, sizes.end());
    return sizes[rank];
  };
  size_t last = sizes.size() - 1;
  return std::min(rtol * smallest(last / 2), smallest(last / 5) / 10);
}

}  // namespace grapnel
