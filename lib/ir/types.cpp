#include "lib/ir/types.h"

#include <iterator>

#include "google/protobuf/stubs/logging.h"

namespace grapnel {
namespace {

// Keeps protobuf from printing parse errors to stderr: grapnel's readers return them. It stands in
// this file because every program that reads graphs links it.
[[maybe_unused]] const auto kNoPrinting = google::protobuf::SetLogHandler(nullptr);

enum DtypeKind { kFloat, kComplex, kInt, kQuantized, kOther };
struct Row {
  int number;
  const char* name;
  const char* ref_name;
  size_t size;
  DtypeKind kind;
};

constexpr Row kRows[] = {
    {1, "float", "float_ref", 4, kFloat},
    {2, "double", "double_ref", 8, kFloat},
    {3, "int32", "int32_ref", 4, kInt},
    {4, "uint8", "uint8_ref", 1, kInt},
    {5, "int16", "int16_ref", 2, kInt},
    {6, "int8", "int8_ref", 1, kInt},
    {7, "string", "string_ref", 0, kOther},
    {8, "complex64", "complex64_ref", 8, kComplex},
    {9, "int64", "int64_ref", 8, kInt},
    {10, "bool", "bool_ref", 1, kOther},
    {11, "qint8", "qint8_ref", 1, kQuantized},
    {12, "quint8", "quint8_ref", 1, kQuantized},
    {13, "qint32", "qint32_ref", 4, kQuantized},
    {14, "bfloat16", "bfloat16_ref", 2, kFloat},
    {15, "qint16", "qint16_ref", 2, kQuantized},
    {16, "quint16", "quint16_ref", 2, kQuantized},
    {17, "uint16", "uint16_ref", 2, kInt},
    {18, "complex128", "complex128_ref", 16, kComplex},
    {19, "half", "half_ref", 2, kFloat},
    {20, "resource", "resource_ref", 0, kOther},
    {21, "variant", "variant_ref", 0, kOther},
    {22, "uint32", "uint32_ref", 4, kInt},
    {23, "uint64", "uint64_ref", 8, kInt},
    {24, "float8_e5m2", "float8_e5m2_ref", 1, kFloat},
    {25, "float8_e4m3fn", "float8_e4m3fn_ref", 1, kFloat},
    {26, "float8_e4m3fnuz", "float8_e4m3fnuz_ref", 1, kFloat},
    {27, "float8_e4m3b11fnuz", "float8_e4m3b11fnuz_ref", 1, kFloat},
    {28, "float8_e5m2fnuz", "float8_e5m2fnuz_ref", 1, kFloat},
    {29, "int4", "int4_ref", 1, kInt},
    {30, "uint4", "uint4_ref", 1, kInt},
    {31, "int2", "int2_ref", 1, kInt},
    {32, "uint2", "uint2_ref", 1, kInt},
    {33, "float4_e2m1fn", "float4_e2m1fn_ref", 1, kFloat},
};

// The row of a dtype is found by its number, without a search, because kernels look up the size of
// a dtype all the time.
constexpr bool RowsAreInPlace() {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].number != static_cast<int>(i) + 1) return false;
  }
  return true;
}
static_assert(RowsAreInPlace());

const Row* Find(DataType type) {
  unsigned index = static_cast<unsigned>(BaseType(type)) - 1;  // 0 wraps to a large number
  return index < std::size(kRows) ? &kRows[index] : nullptr;
}

bool Is(DataType type, DtypeKind kind) {
  const Row* row = Find(type);
  return row && row->kind == kind;
}

}  // namespace

llvm::StringRef DataTypeName(DataType type) {
  const Row* row = Find(type);
  if (!row) return type == 0 ? "invalid" : "dtype?";
  return IsRefType(type) ? row->ref_name : row->name;
}

std::optional<DataType> ParseDataType(llvm::StringRef name) {
  for (const Row& row : kRows) {
    if (name == row.name) return DataType(row.number);
    if (name == row.ref_name) return DataType(row.number + 100);
  }
  // Also accepts the names that NumPy and the DataType enum use, because users type them too.
  if (name == "float32") return proto::DT_FLOAT;
  if (name == "float64") return proto::DT_DOUBLE;
  if (name == "float16") return proto::DT_HALF;
  if (name.consume_front("DT_")) return ParseDataType(name.lower());
  return std::nullopt;
}

size_t DataTypeSize(DataType type) {
  const Row* row = Find(type);
  return row ? row->size : 0;
}

bool IsFloating(DataType type) { return Is(type, kFloat); }
bool IsComplex(DataType type) { return Is(type, kComplex); }
bool IsInteger(DataType type) { return Is(type, kInt); }
bool IsQuantized(DataType type) { return Is(type, kQuantized); }

DataType UnquantizedType(DataType type) {
  switch (type) {
    case proto::DT_QINT8:
      return proto::DT_INT8;
    case proto::DT_QUINT8:
      return proto::DT_UINT8;
    case proto::DT_QINT16:
      return proto::DT_INT16;
    case proto::DT_QUINT16:
      return proto::DT_UINT16;
    case proto::DT_QINT32:
      return proto::DT_INT32;
    default:
      return type;
  }
}

}  // namespace grapnel
