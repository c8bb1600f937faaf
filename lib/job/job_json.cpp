#include "lib/job/job_json.h"

#include <charconv>
#include <cmath>

#include "lib/ir/element_storage.h"
#include "lib/pass/near_misses.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

// In as few digits as give the same T again.
template <typename T>
void WriteNumber(T number, llvm::json::OStream& json) {
  if (!std::isfinite(number)) return json.value(NumberText(number));
  char text[40];
  auto [end, error] = std::to_chars(text, text + sizeof text, number);
  json.rawValue(llvm::StringRef(text, end - text));
}

void WriteElement(const Literal& literal, int64_t i, llvm::json::OStream& json) {
  size_t size = DataTypeSize(literal.dtype());
  auto at = [&](size_t offset) {
    return literal.bytes().data() + (literal.is_splat() ? 0 : i * size) + offset;
  };
  switch (StorageOf(literal.dtype())) {
    case Storage::kNone:
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

}  // namespace

void WriteTensorJson(llvm::StringRef name, const Tensor& tensor, int64_t limit,
                     llvm::json::OStream& json) {
  json.attribute("name", llvm::json::fixUTF8(name));
  if (!tensor) return;
  json.attribute("dtype", DataTypeName(tensor.dtype()));
  json.attributeArray("shape", [&] {
    for (int64_t dim : tensor.dims()) json.value(dim);
  });
  json.attribute("elements", tensor.num_elements());
  if (tensor.HoldsObjects()) return json.attribute("text", llvm::json::fixUTF8(tensor.ToString()));
  Literal literal = tensor.ToLiteral();
  json.attributeArray("values", [&] {
    for (int64_t i = 0; i < std::min(limit, literal.num_elements()); ++i)
      WriteElement(literal, i, json);
  });
}

void WriteOptimizedJson(const Optimized& done, size_t nodes_before, size_t nodes_after, bool times,
                        llvm::json::OStream& json) {
  json.attribute("nodes_before", static_cast<int64_t>(nodes_before));
  json.attribute("nodes_after", static_cast<int64_t>(nodes_after));
  json.attribute("rewrites", done.result.rewrites);
  json.attributeArray("kept", [&] {
    for (const std::string& fetch : done.result.fetches) json.value(llvm::json::fixUTF8(fetch));
  });
  if (done.values_compared) json.attribute("fetches_with_the_same_values", *done.values_compared);
  json.attributeArray("stages", [&] {
    for (const Stage& stage : done.result.stages) {
      json.object([&] {
        json.attribute("pass", stage.pass);
        if (!stage.function.empty())
          json.attribute("function", llvm::json::fixUTF8(stage.function));
        json.attribute("iteration", stage.iteration);
        json.attribute("changed", stage.changed);
        json.attribute("rewrites", stage.rewrites);
        if (times) json.attribute("ms", stage.time.count() / 1e6);
      });
    }
  });
  if (done.near_misses.empty()) return;
  json.attributeBegin("near_misses");
  WriteNearMissesJson(done.near_misses, json);
  json.attributeEnd();
}

void WriteNearMissesJson(llvm::ArrayRef<Refusal> near_misses, llvm::json::OStream& json) {
  json.array([&] {
    for (const Refusal& refusal : near_misses) {
      json.object([&] {
        json.attribute("pass", refusal.pass);
        json.attribute("rule", refusal.rule);
        json.attribute("node", llvm::json::fixUTF8(PlaceOf(refusal)));
        json.attribute("reason", llvm::json::fixUTF8(refusal.reason));
      });
    }
  });
}

}  // namespace grapnel
