#include "lib/ir/element_storage.h"

#include <cmath>

namespace grapnel {

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
      return append(static_cast<uint8_t>(integer));
    case Storage::kNone:
      return;
  }
}

}  // namespace grapnel
