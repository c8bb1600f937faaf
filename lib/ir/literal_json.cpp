#include "lib/ir/literal_json.h"

#include <charconv>
#include <cmath>

#include "lib/ir/element_storage.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// Writes a number with the fewest digits that read back as the same T.
template <typename T>
void WriteNumber(T number, llvm::json::OStream& json) {
  if (!std::isfinite(number)) return json.value(NumberText(number));
  char text[40];
  auto [end, error] = std::to_chars(text, text + sizeof text, number);
  json.rawValue(llvm::StringRef(text, end - text));
}

}  // namespace

void WriteElementJson(const Literal& literal, int64_t i, llvm::json::OStream& json) {
  size_t size = DataTypeSize(literal.dtype());
  auto at = [&](size_t offset) {
    return literal.bytes().data() + (literal.is_splat() ? 0 : i * size) + offset;
  };
  switch (StorageOf(literal.dtype())) {
    case Storage::kNone:
      if (literal.dtype() != proto::DT_STRING) return json.value(nullptr);
      return json.value(llvm::json::fixUTF8(literal.strings()[literal.is_splat() ? 0 : i]));
    case Storage::kBool:
      return json.value(literal.AsInt(i) != 0);
    case Storage::kSigned:
      return json.value(literal.AsInt(i));
    case Storage::kUnsigned:
      return json.value(static_cast<uint64_t>(literal.AsInt(i)));
    case Storage::kF64:
      return WriteNumber(literal.AsDouble(i), json);
    case Storage::kC64:
      return json.array([&] {
        WriteNumber(Load<float>(at(0)), json);
        WriteNumber(Load<float>(at(4)), json);
      });
    case Storage::kC128:
      return json.array([&] {
        WriteNumber(Load<double>(at(0)), json);
        WriteNumber(Load<double>(at(8)), json);
      });
    default:
      return WriteNumber(static_cast<float>(literal.AsDouble(i)), json);
  }
}

void WriteStatisticsJson(const LiteralStatistics& statistics, llvm::json::OStream& json) {
  const NumberStatistics& numbers = statistics.numbers;
  json.object([&] {
    json.attribute("elements", numbers.elements());
    json.attribute("nan", numbers.nan);
    json.attribute("positive_infinite", numbers.positive_infinite);
    json.attribute("negative_infinite", numbers.negative_infinite);
    json.attribute("zero", numbers.zero);
    json.attribute("min", numbers.finite() > 0 ? numbers.min : 0);
    json.attribute("max", numbers.finite() > 0 ? numbers.max : 0);
    json.attribute("mean", numbers.mean());
    json.attribute("deviation", numbers.deviation());
    json.attributeArray("histogram", [&] {
      for (int64_t count : statistics.histogram) json.value(count);
    });
  });
}

}  // namespace grapnel
