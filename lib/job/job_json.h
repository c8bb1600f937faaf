// What jobs came to, as JSON.
#ifndef GRAPNEL_LIB_JOB_JOB_JSON_H_
#define GRAPNEL_LIB_JOB_JOB_JSON_H_

#include <string>

#include "lib/exec/tensor.h"
#include "lib/job/optimize.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Attributes of the object that is open: name, dtype, shape, elements (how many there are), and
// `values`, the first `limit` of them in the order of memory (lib/ir/literal_json.h). Of a node
// without outputs the name alone; of a queue, a dataset and the like `text`.
void WriteTensorJson(llvm::StringRef name, const Tensor& tensor, int64_t limit,
                     llvm::json::OStream& json);

// The same: how many nodes there were and are, rewrites, what was kept as fetched, each stage (`ms`
// if `times`), near misses if there are any.
void WriteOptimizedJson(const Optimized& done, size_t nodes_before, size_t nodes_after, bool times,
                        llvm::json::OStream& json);

// The note in the extras of a written SavedModel that says how it was made: JSON that ends with a
// newline.
std::string OptimizedNote(const Optimized& done);

// "open_sizes": those that a check of values tried, if there were any.
void WriteOpenSizesJson(llvm::ArrayRef<int64_t> sizes, llvm::json::OStream& json);

// "near_misses": [{"pass", "rule", "node", "reason"}, ...], likewise.
void WriteNearMissesJson(llvm::ArrayRef<Refusal> near_misses, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_JOB_JSON_H_
