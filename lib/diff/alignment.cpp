#include "lib/diff/alignment.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace grapnel {
namespace {

constexpr size_t kMostCells = 1'000'000;

using Same = llvm::function_ref<bool(size_t a, size_t b)>;
using Pairs = std::vector<std::pair<size_t, size_t>>;

// Returns the longest common subsequence of elements [first, last_a) of A and [first, last_b) of B;
// empty if there are too many elements.
Pairs LongestCommon(size_t first, size_t last_a, size_t last_b, Same same) {
  size_t rows = last_a - first, columns = last_b - first;
  if (rows == 0 || columns == 0 || rows > kMostCells / columns) return {};
  std::vector<uint32_t> longest((rows + 1) * (columns + 1));
  auto at = [&](size_t i, size_t j) -> uint32_t& { return longest[i * (columns + 1) + j]; };
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;) {
      at(i, j) =
          same(first + i, first + j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  Pairs pairs;
  for (size_t i = 0, j = 0; i < rows && j < columns;) {
    if (same(first + i, first + j))
      pairs.push_back({first + i++, first + j++});
    else if (at(i + 1, j) >= at(i, j + 1))
      ++i;
    else
      ++j;
  }
  return pairs;
}

}  // namespace

Aligned InPlace(size_t count) {
  Aligned aligned;
  for (size_t i = 0; i < count; ++i) aligned.push_back({i, i});
  return aligned;
}

Aligned Align(size_t a, size_t b, Same same) {
  size_t first = 0, last_a = a, last_b = b;
  while (first < std::min(a, b) && same(first, first)) ++first;
  while (last_a > first && last_b > first && same(last_a - 1, last_b - 1)) {
    --last_a;
    --last_b;
  }
  Pairs kept;
  for (size_t i = 0; i < first; ++i) kept.push_back({i, i});
  for (auto pair : LongestCommon(first, last_a, last_b, same)) kept.push_back(pair);
  for (size_t i = last_a; i < a; ++i) kept.push_back({i, last_b + (i - last_a)});
  kept.push_back({a, b});
  Aligned aligned;
  size_t i = 0, j = 0;
  for (auto [to_a, to_b] : kept) {
    while (i < to_a && j < to_b) aligned.push_back({i++, j++});
    while (i < to_a) aligned.push_back({i++, std::nullopt});
    while (j < to_b) aligned.push_back({std::nullopt, j++});
    if (to_a < a) aligned.push_back({i++, j++});
  }
  return aligned;
}

}  // namespace grapnel
