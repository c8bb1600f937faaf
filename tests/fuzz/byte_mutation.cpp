#include "tests/fuzz/byte_mutation.h"

#include <algorithm>
#include <string_view>

#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

// Bytes that readers often mishandle: the limits of integers as varints and raw, lengths beyond any
// file, invalid UTF-8, brackets without an end.
constexpr std::string_view kPieces[] = {std::string_view("\0", 1),
                                        "\x01",
                                        "\x7f",
                                        "\x80",
                                        "\xff",
                                        "\xff\xff\xff\xff\x07",
                                        "\xff\xff\xff\xff\x0f",
                                        "\x80\x80\x80\x80\x08",
                                        "\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
                                        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                                        "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
                                        std::string_view("\0\0\0\x80", 4),
                                        std::string_view("\xff\xff\xff\x7f", 4),
                                        std::string_view("\0\0\0\0\0\0\0\x80", 8),
                                        "\xff\xff\xff\xff\xff\xff\xff\x7f",
                                        "-1",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551616",
                                        "1e999",
                                        "nan",
                                        "\"",
                                        "\\",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "<",
                                        ":",
                                        ",",
                                        "^",
                                        "%",
                                        "\n",
                                        "#",
                                        "null",
                                        "\xc3\x28",
                                        "\xed\xa0\x80",
                                        "\x1b[2J"};

struct Range {
  size_t at, size;
};

Range SomeRange(Random& random, size_t size, int64_t most) {
  size_t at = random.Below(static_cast<int64_t>(size) + 1);
  return {at, std::min<size_t>(size - at, random.Below(most) + 1)};
}

int64_t SomeLength(Random& random) { return random.OneIn(4) ? 4096 : random.OneIn(2) ? 64 : 4; }

std::string Flip(Random& random, std::string& bytes) {
  if (bytes.empty()) return "nothing to flip";
  size_t at = random.Below(static_cast<int64_t>(bytes.size()));
  bytes[at] =
      static_cast<char>(random.OneIn(2) ? bytes[at] ^ (1 << random.Below(8)) : random.Below(256));
  return llvm::formatv("byte {0} changed", at);
}

std::string Insert(Random& random, std::string& bytes) {
  size_t at = random.Below(static_cast<int64_t>(bytes.size()) + 1);
  std::string_view piece = random.Of(kPieces);
  bytes.insert(at, piece);
  return llvm::formatv("{0} put in at {1}", piece.size(), at);
}

std::string Overwrite(Random& random, std::string& bytes) {
  size_t at = random.Below(static_cast<int64_t>(bytes.size()) + 1);
  std::string_view piece = random.Of(kPieces);
  bytes.replace(at, piece.size(), piece);
  return llvm::formatv("{0} written over at {1}", piece.size(), at);
}

std::string Remove(Random& random, std::string& bytes) {
  Range range = SomeRange(random, bytes.size(), SomeLength(random));
  bytes.erase(range.at, range.size);
  return llvm::formatv("{0} removed at {1}", range.size, range.at);
}

std::string Duplicate(Random& random, std::string& bytes) {
  Range range = SomeRange(random, bytes.size(), SomeLength(random));
  std::string part = bytes.substr(range.at, range.size);
  int64_t times = random.OneIn(8) ? 1 + random.Below(100) : 1;
  for (int64_t i = 0; i < times; ++i) bytes.insert(range.at, part);
  return llvm::formatv("{0} at {1} {2} times more", range.size, range.at, times);
}

std::string Move(Random& random, std::string& bytes) {
  Range range = SomeRange(random, bytes.size(), SomeLength(random));
  std::string part = bytes.substr(range.at, range.size);
  bytes.erase(range.at, range.size);
  size_t to = random.Below(static_cast<int64_t>(bytes.size()) + 1);
  bytes.insert(to, part);
  return llvm::formatv("{0} moved from {1} to {2}", range.size, range.at, to);
}

std::string Zero(Random& random, std::string& bytes) {
  Range range = SomeRange(random, bytes.size(), SomeLength(random));
  if (random.OneIn(2)) range.size = bytes.size() - range.at;  // as in a truncated file
  std::fill_n(bytes.begin() + range.at, range.size, '\0');
  return llvm::formatv("{0} zeros from {1}", range.size, range.at);
}

std::string CutOff(Random& random, std::string& bytes) {
  bytes.resize(random.Below(static_cast<int64_t>(bytes.size()) + 1));
  return llvm::formatv("cut at {0}", bytes.size());
}

std::string Splice(Random& random, std::string& bytes, llvm::StringRef other) {
  size_t at = random.Below(static_cast<int64_t>(bytes.size()) + 1);
  size_t from = random.Below(static_cast<int64_t>(other.size()) + 1);
  if (random.OneIn(2)) {  // the rest comes from the other file
    bytes.resize(at);
    bytes.append(other.data() + from, other.size() - from);
    return llvm::formatv("from {0} on another file's from {1} on", at, from);
  }
  size_t size = std::min<size_t>(other.size() - from, random.Below(SomeLength(random)) + 1);
  bytes.insert(at, other.data() + from, size);
  return llvm::formatv("{0} of another file's {1} at {2}", size, from, at);
}

}  // namespace

std::string MutateBytes(Random& random, std::string& bytes, llvm::StringRef other) {
  std::string what;
  int64_t times = random.OneIn(4) ? 1 + random.Below(8) : 1;
  for (int64_t i = 0; i < times; ++i) {
    if (i) what += ", ";
    switch (random.Below(11)) {
      case 0:
        what += Insert(random, bytes);
        break;
      case 1:
      case 2:
        what += Overwrite(random, bytes);
        break;
      case 3:
        what += Remove(random, bytes);
        break;
      case 4:
        what += Duplicate(random, bytes);
        break;
      case 5:
        what += Move(random, bytes);
        break;
      case 6:
        what += Zero(random, bytes);
        break;
      case 7:
        what += CutOff(random, bytes);
        break;
      case 8:
        what += Splice(random, bytes, other);
        break;
      default:
        what += Flip(random, bytes);
    }
  }
  return what;
}

}  // namespace grapnel
