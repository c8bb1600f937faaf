#include "lib/io/value_row.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

// Literal::Hash does not read all strings.
uint64_t HashOfStrings(const Literal& literal) {
  std::string sum = Shape(literal.dims()).ToString();
  llvm::ArrayRef<std::string> strings = literal.strings();
  if (literal.num_elements() == 0) strings = {};
  if (!strings.empty() && llvm::all_equal(strings)) strings = strings.take_front();
  for (const std::string& one : strings) {
    uint64_t hash = llvm::xxh3_64bits(one);
    sum.append(reinterpret_cast<const char*>(&hash), sizeof hash);
  }
  return llvm::xxh3_64bits(sum);
}

}  // namespace

int64_t ValueRow::elements() const {
  return shape.IsFullyKnown() ? shape.NumElements().value_or(-1) : -1;
}

std::string ValueRow::Type() const { return DataTypeName(dtype).str() + shape.ToString(); }

std::string ChecksumText(uint32_t checksum) { return llvm::formatv("{0:x-8}", checksum).str(); }

std::string HashText(const Literal& literal) {
  bool strings = literal.dtype() == proto::DT_STRING;
  return llvm::formatv("{0:x-16}", strings ? HashOfStrings(literal) : literal.Hash()).str();
}

}  // namespace grapnel
