#include "lib/ir/element_storage.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace grapnel {
namespace {

// The format of an 8-bit or 4-bit float: from the highest bit to the lowest, it has a sign, an
// exponent and a mantissa.
struct Float8Format {
  int sign;  // the bit of the sign
  int mantissa_bits, bias;
  int largest;             // the bits of the largest finite number
  int too_large, nan;      // the bits that stand for larger numbers, and for NaN
  bool has_negative_zero;  // false: the bits of -0 are the only NaN
};

Float8Format Float8FormatOf(DataType type) {
  switch (type) {
    case proto::DT_FLOAT8_E5M2:
      return {0x80, 2, 15, 0x7B, 0x7C, 0x7E, true};
    case proto::DT_FLOAT8_E4M3FN:
      return {0x80, 3, 7, 0x7E, 0x7F, 0x7F, true};
    case proto::DT_FLOAT8_E4M3FNUZ:
      return {0x80, 3, 8, 0x7F, 0x80, 0x80, false};
    case proto::DT_FLOAT8_E4M3B11FNUZ:
      return {0x80, 3, 11, 0x7F, 0x80, 0x80, false};
    case proto::DT_FLOAT8_E5M2FNUZ:
      return {0x80, 2, 16, 0x7F, 0x80, 0x80, false};
    default:
      return {0x8, 1, 1, 0x7, 0x7, 0x8, true};  // float4_e2m1fn
  }
}

}  // namespace

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

double Float8ToDouble(DataType type, uint8_t bits) {
  Float8Format format = Float8FormatOf(type);
  int magnitude = bits & (format.sign - 1);
  bool is_negative = (bits & format.sign) != 0;
  double value;
  if (magnitude == 0 && is_negative && !format.has_negative_zero) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude > format.largest) {
    bool is_infinity = magnitude == format.too_large && format.too_large != format.nan;
    value = is_infinity ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
  } else {
    int one = 1 << format.mantissa_bits;
    int exponent = magnitude / one, mantissa = magnitude % one;
    if (exponent > 0) mantissa += one;
    value = std::ldexp(mantissa, std::max(exponent, 1) - format.bias - format.mantissa_bits);
  }
  return is_negative ? -value : value;
}

uint8_t DoubleToFloat8(DataType type, double value) {
  Float8Format format = Float8FormatOf(type);
  int sign = std::signbit(value) ? format.sign : 0;
  if (std::isnan(value)) return static_cast<uint8_t>(sign | format.nan);
  double size = std::fabs(value);
  if (size > 2 * Float8ToDouble(type, format.largest))
    return static_cast<uint8_t>(sign | format.too_large);
  int least = 1 - format.bias;  // the exponent of the smallest normal number
  int exponent = size == 0 ? least : std::max(std::ilogb(size), least);
  // Counts units of the mantissa's last bit. A number that rounds up to a power of two carries into
  // the exponent.
  double units = std::nearbyint(std::ldexp(size, format.mantissa_bits - exponent));
  int magnitude = ((exponent - least) << format.mantissa_bits) + static_cast<int>(units);
  if (magnitude > format.largest) return static_cast<uint8_t>(sign | format.too_large);
  if (magnitude == 0 && !format.has_negative_zero) return 0;
  return static_cast<uint8_t>(sign | magnitude);
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
      return append(DoubleToFloat8(type, value));
    case Storage::kNone:
      return;
  }
}

}  // namespace grapnel
