// TensorFlow's dtypes: their numbers, names and sizes.
#ifndef GRAPNEL_LIB_IR_TYPES_H_
#define GRAPNEL_LIB_IR_TYPES_H_

#include <cstddef>
#include <optional>

#include "lib/proto/types.pb.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

using proto::DataType;

// Reference dtypes (DT_FLOAT_REF and the like) are the plain dtype plus 100.
constexpr bool IsRefType(DataType type) { return type > 100; }
constexpr DataType BaseType(DataType type) { return IsRefType(type) ? DataType(type - 100) : type; }
constexpr DataType RefType(DataType type) { return IsRefType(type) ? type : DataType(type + 100); }

// Returns "float", "int32", "bfloat16", "float_ref" ...: the names in TensorFlow's op definitions;
// "invalid" for DT_INVALID, and "dtype?" for a number unknown to TensorFlow 2.21.
GRAPNEL_PUBLIC llvm::StringRef DataTypeName(DataType type);
GRAPNEL_PUBLIC std::optional<DataType> ParseDataType(llvm::StringRef name);

// Returns the bytes of one element in memory and in tensor_content; 0 for string, resource, variant
// and unknown dtypes. Four-bit and two-bit numbers take one byte each, as in TensorFlow.
GRAPNEL_PUBLIC size_t DataTypeSize(DataType type);

// The Is...() functions below treat a reference dtype like its plain dtype.
GRAPNEL_PUBLIC bool IsFloating(
    DataType type);  // half, bfloat16, float, double and the 8-bit and 4-bit floats
GRAPNEL_PUBLIC bool IsComplex(DataType type);
GRAPNEL_PUBLIC bool IsInteger(
    DataType type);  // signed and unsigned, 2 to 64 bits; not bool, not quantized
GRAPNEL_PUBLIC bool IsQuantized(DataType type);
// Returns the integer dtype that stores a quantized dtype (qint8: int8); other dtypes stay
// unchanged.
GRAPNEL_PUBLIC DataType UnquantizedType(DataType type);
inline bool IsNumeric(DataType type) {
  return IsFloating(type) || IsComplex(type) || IsInteger(type);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TYPES_H_
