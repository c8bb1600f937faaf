#include "lib/job/job_json.h"

#include <algorithm>

#include "lib/ir/literal_json.h"
#include "lib/pass/near_misses.h"
#include "lib/support/onednn.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
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
      WriteElementJson(literal, i, json);
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
  json.attribute("onednn", OneDnnWord(done.onednn));
  if (done.assumed_of > 0) json.attribute("assumed_on_cpu", static_cast<int64_t>(done.assumed_of));
  if (done.values_compared) json.attribute("fetches_with_the_same_values", *done.values_compared);
  WriteOpenSizesJson(done.open_sizes, json);
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
  if (!done.near_misses.empty()) WriteNearMissesJson(done.near_misses, json);
}

std::string OptimizedNote(const Optimized& done) {
  llvm::json::Object note{{"optimized_by", "grapnel opt"}, {"onednn", OneDnnWord(done.onednn)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(note))).str();
}

void WriteOpenSizesJson(llvm::ArrayRef<int64_t> sizes, llvm::json::OStream& json) {
  if (sizes.empty()) return;
  json.attributeArray("open_sizes", [&] {
    for (int64_t size : sizes) json.value(size);
  });
}

void WriteNearMissesJson(llvm::ArrayRef<Refusal> near_misses, llvm::json::OStream& json) {
  json.attributeArray("near_misses", [&] {
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
