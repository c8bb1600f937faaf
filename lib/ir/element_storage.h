// How the elements of a literal lie in memory and in a TensorProto. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_ELEMENT_STORAGE_H_
#define GRAPNEL_LIB_IR_ELEMENT_STORAGE_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "lib/ir/types.h"

namespace grapnel {

// What one element is in memory, and in which repeated field of TensorProto it may be written.
enum class Storage { kF16, kBf16, kF32, kF64, kSigned, kUnsigned, kBool, kC64, kC128, kF8, kNone };
Storage StorageOf(DataType type);

// TensorProto's field for values of `type`.
uint32_t ValueField(DataType type);

// IEEE half and bfloat16; to them, rounded to the nearest even.
float HalfToFloat(uint16_t h);
uint16_t FloatToHalf(float value);
float Bf16ToFloat(uint16_t b);
uint16_t FloatToBf16(float value);

template <typename T>
T Load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Of an element of `size` bytes; those of 8 bytes as they are.
int64_t LoadInt(const char* at, size_t size, bool is_signed);

// Appends one element of `type`: `integer` if it is one of integers, else `value`.
void AppendElement(std::string* out, DataType type, double value, int64_t integer);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_ELEMENT_STORAGE_H_
