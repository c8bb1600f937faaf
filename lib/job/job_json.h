// Writes the results of jobs as JSON.
#ifndef GRAPNEL_LIB_JOB_JOB_JSON_H_
#define GRAPNEL_LIB_JOB_JOB_JSON_H_

#include <string>

#include "lib/exec/tensor.h"
#include "lib/job/optimize.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes attributes into the open JSON object: name, dtype, shape, elements (the number of
// elements), and `values`, the first `limit` elements in memory order (lib/ir/literal_json.h). A
// node without outputs has only the name; queues, datasets and the like have `text`.
void WriteTensorJson(llvm::StringRef name, const Tensor& tensor, int64_t limit,
                     llvm::json::OStream& json);

// Writes attributes into the open JSON object: node counts before and after, the number of
// rewrites, the kept fetches, the oneDNN setting, each stage (with `ms` if `times`) and, if there
// are any, nodes assumed to be on the CPU, fetches with the same values, open sizes and near
// misses.
void WriteOptimizedJson(const Optimized& done, size_t nodes_before, size_t nodes_after, bool times,
                        llvm::json::OStream& json);

// Returns the note, for assets.extra of a written SavedModel, that says how grapnel made the model:
// JSON that ends with a newline.
std::string OptimizedNote(const Optimized& done);

// Writes "open_sizes", the sizes that a check of values tried for unknown dimensions, if there were
// any.
void WriteOpenSizesJson(llvm::ArrayRef<int64_t> sizes, llvm::json::OStream& json);

// Writes an attribute into the open JSON object: "near_misses": [{"pass", "rule", "node",
// "reason"}, ...].
void WriteNearMissesJson(llvm::ArrayRef<Refusal> near_misses, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_JOB_JSON_H_
