#include "lib/shape/element_arithmetic.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

bool BothKnown(int64_t a, int64_t b) { return IsKnownElement(a) && IsKnownElement(b); }

int64_t Add(int64_t a, int64_t b) {
  int64_t sum;
  if (BothKnown(a, b)) return __builtin_add_overflow(a, b, &sum) ? kUnknownElement : sum;
  return a == 0 ? b : b == 0 ? a : kUnknownElement;
}

int64_t Mul(int64_t a, int64_t b) {
  int64_t product;
  if (BothKnown(a, b)) return __builtin_mul_overflow(a, b, &product) ? kUnknownElement : product;
  if (a == 0 || b == 0) return 0;
  return a == 1 ? b : b == 1 ? a : kUnknownElement;
}

int64_t FloorDiv(int64_t a, int64_t b) {
  if (!BothKnown(a, b)) return b == 1 ? a : kUnknownElement;
  if (b == 0 || b == -1) return b == 0 ? kUnknownElement : -a;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t TruncateDiv(int64_t a, int64_t b) {
  if (!BothKnown(a, b)) return b == 1 ? a : kUnknownElement;
  return b == 0 ? kUnknownElement : b == -1 ? -a : a / b;
}

int64_t FloorMod(int64_t a, int64_t b) {
  if (!BothKnown(a, b)) return b == 1 ? 0 : kUnknownElement;
  if (b == 0 || b == -1) return b == 0 ? kUnknownElement : 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t TruncateMod(int64_t a, int64_t b) {
  if (!BothKnown(a, b)) return b == 1 ? 0 : kUnknownElement;
  return b == 0 ? kUnknownElement : b == -1 ? 0 : a % b;
}

// A symbol is a size, so it is not negative.
int64_t Maximum(int64_t a, int64_t b) {
  if (BothKnown(a, b)) return std::max(a, b);
  if (a == b) return a;
  if (IsKnownElement(a) && a <= 0 && b != kUnknownElement) return b;
  return IsKnownElement(b) && b <= 0 && a != kUnknownElement ? a : kUnknownElement;
}

int64_t Minimum(int64_t a, int64_t b) {
  if (BothKnown(a, b)) return std::min(a, b);
  return a == b ? a : kUnknownElement;
}

// Comparisons return 0 or 1. Symbols can be compared only if they are equal.
template <typename Compare>
int64_t Compared(int64_t a, int64_t b) {
  if (BothKnown(a, b)) return Compare()(a, b);
  return a == b && a != kUnknownElement ? Compare()(0, 0) : kUnknownElement;
}

int64_t And(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  return a == 1 && b == 1 ? 1 : kUnknownElement;
}

int64_t Or(int64_t a, int64_t b) {
  if (a == 1 || b == 1) return 1;
  return a == 0 && b == 0 ? 0 : kUnknownElement;
}

}  // namespace

int64_t SubtractElements(int64_t a, int64_t b) {
  int64_t difference;
  if (BothKnown(a, b))
    return __builtin_sub_overflow(a, b, &difference) ? kUnknownElement : difference;
  if (b == 0) return a;
  return a == b && a != kUnknownElement ? 0 : kUnknownElement;
}

ElementOp ElementOpOf(llvm::StringRef op) {
  static const std::pair<const char*, ElementOp> ops[] = {
      {"Add", Add},
      {"AddV2", Add},
      {"Sub", SubtractElements},
      {"Mul", Mul},
      {"Div", TruncateDiv},
      {"RealDiv", TruncateDiv},
      {"FloorDiv", FloorDiv},
      {"TruncateDiv", TruncateDiv},
      {"FloorMod", FloorMod},
      {"Mod", TruncateMod},
      {"TruncateMod", TruncateMod},
      {"Maximum", Maximum},
      {"Minimum", Minimum},
      {"Equal", Compared<std::equal_to<>>},
      {"NotEqual", Compared<std::not_equal_to<>>},
      {"Less", Compared<std::less<>>},
      {"LessEqual", Compared<std::less_equal<>>},
      {"Greater", Compared<std::greater<>>},
      {"GreaterEqual", Compared<std::greater_equal<>>},
      {"LogicalAnd", And},
      {"LogicalOr", Or}};
  for (const auto& [name, function] : ops) {
    if (op == name) return function;
  }
  return nullptr;
}

bool SelectEachElement(ShapeContext& c) {
  std::optional<int64_t> count = c.outputs[0].shape.NumElements();
  const Elements* inputs[] = {c.integers(0), c.elements(1), c.elements(2)};
  if (!count || c.outputs[0].shape.rank() > 1) return false;
  for (const Elements* input : inputs) {
    if (!input || (static_cast<int64_t>(input->size()) != *count && input->size() != 1))
      return false;
  }
  auto at = [](const Elements& elements, int64_t i) {
    return elements[elements.size() == 1 ? 0 : i];
  };
  Elements chosen;
  for (int64_t i = 0; i < *count; ++i)
    chosen.push_back(at(*inputs[at(*inputs[0], i) != 0 ? 1 : 2], i));
  c.OutElements(0, std::move(chosen));
  return true;
}

}  // namespace grapnel
