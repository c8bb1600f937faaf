// How the elements of a literal are stored in memory and in a TensorProto. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_ELEMENT_STORAGE_H_
#define GRAPNEL_LIB_IR_ELEMENT_STORAGE_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "lib/ir/types.h"

namespace grapnel {

// How one element is stored in memory. kF8 stands for the 8-bit and 4-bit floats, kNone for dtypes
// without elements of a fixed size.
enum class Storage { kF16, kBf16, kF32, kF64, kSigned, kUnsigned, kBool, kC64, kC128, kF8, kNone };
Storage StorageOf(DataType type);

// Returns the number of the TensorProto field that holds values of `type`, which is not resource or
// variant.
uint32_t ValueField(DataType type);

// Convert IEEE half and bfloat16 to and from float; conversions from float round to nearest even.
float HalfToFloat(uint16_t h);
uint16_t FloatToHalf(float value);
float Bf16ToFloat(uint16_t b);
uint16_t FloatToBf16(float value);

// Convert the 8-bit and 4-bit floats, as ml_dtypes does. Conversions to `type` round to nearest
// even. A number that is too large becomes infinity; NaN in a format without infinity; and the
// largest number in float4_e2m1fn, which has neither. There, NaN becomes -0.
double Float8ToDouble(DataType type, uint8_t bits);
uint8_t DoubleToFloat8(DataType type, double value);

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Loads an integer of `size` bytes and extends it to 64 bits; a uint64 keeps its bits.
int64_t LoadInt(const char* at, size_t size, bool is_signed);

// Appends one element of `type` to the bytes `out`: the number `value`, or `integer` for an integer
// dtype.
void AppendElement(std::string* out, DataType type, double value, int64_t integer);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_ELEMENT_STORAGE_H_
