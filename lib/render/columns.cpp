#include "lib/render/columns.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

void AppendLeb128(uint32_t value, std::string* bytes) {
  for (; value >= 128; value >>= 7) bytes->push_back(static_cast<char>(value | 128));
  bytes->push_back(static_cast<char>(value));
}

void AppendZigzag(uint32_t value, std::string* bytes) {
  uint32_t sign = value >> 31 ? ~uint32_t{0} : 0;
  AppendLeb128(value << 1 ^ sign, bytes);
}

bool ContinuesLetter(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Returns the number of UTF-16 units of a UTF-8 text: two for a letter of four bytes.
uint32_t UnitsOf(llvm::StringRef text) {
  uint32_t units = 0;
  for (char c : text)
    units += (ContinuesLetter(c) ? 0 : 1) + (static_cast<unsigned char>(c) >= 0xf0 ? 1 : 0);
  return units;
}

// Returns the size of the whole letters that two texts have in common at their beginning.
size_t CommonBegin(llvm::StringRef a, llvm::StringRef b) {
  size_t most = std::min(a.size(), b.size());
  size_t size = std::mismatch(a.begin(), a.begin() + most, b.begin()).first - a.begin();
  while (size > 0 && size < b.size() && ContinuesLetter(b[size])) --size;
  return size;
}

}  // namespace

void ColumnWriter::Numbers(llvm::StringRef name, llvm::ArrayRef<int32_t> values) {
  if (llvm::all_of(values, [](int32_t value) { return value == 0; })) return;
  std::string bytes;
  bytes.reserve(values.size());
  for (int32_t value : values) AppendZigzag(static_cast<uint32_t>(value), &bytes);
  Column(name, 'n', bytes);
}

void ColumnWriter::Steps(llvm::StringRef name, llvm::ArrayRef<int32_t> values) {
  std::string bytes;
  bytes.reserve(values.size());
  uint32_t before = 0;
  for (int32_t value : values) {
    AppendZigzag(static_cast<uint32_t>(value) - before, &bytes);
    before = static_cast<uint32_t>(value);
  }
  if (!values.empty()) Column(name, 's', bytes);
}

void ColumnWriter::Texts(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> texts) {
  if (llvm::all_of(texts, [](llvm::StringRef text) { return text.empty(); })) return;
  std::string bytes, sizes, rests;
  AppendLeb128(static_cast<uint32_t>(texts.size()), &bytes);
  llvm::StringRef before;
  for (llvm::StringRef text : texts) {
    size_t common = CommonBegin(before, text);
    llvm::StringRef rest = text.substr(common);
    AppendLeb128(UnitsOf(text.take_front(common)), &bytes);
    AppendLeb128(UnitsOf(rest), &sizes);
    rests += rest;
    before = text;
  }
  Column(name, 't', bytes + sizes + rests);
}

void ColumnWriter::Column(llvm::StringRef name, char kind, llvm::StringRef values) {
  assert(name.size() < 128);
  bytes_.push_back(static_cast<char>(name.size()));
  bytes_ += name;
  bytes_.push_back(kind);
  AppendLeb128(static_cast<uint32_t>(values.size()), &bytes_);
  bytes_ += values;
}

}  // namespace grapnel
