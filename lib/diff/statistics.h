// Compares the sizes of two graphs: ops, constants, arithmetic.
#ifndef GRAPNEL_LIB_DIFF_STATISTICS_H_
#define GRAPNEL_LIB_DIFF_STATISTICS_H_

#include <map>
#include <optional>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct GraphStatistics {
  size_t nodes = 0;  // of all bodies, without arguments and results of functions
  size_t functions = 0;
  std::map<std::string, size_t> ops;
  uint64_t constant_bytes = 0;  // of the tensors in memory, not as stored
  // FLOPs of the main graph's nodes with known shapes (lib/shape/flops.h); nullopt if not
  // requested.
  std::optional<int64_t> flops;
  size_t flops_unknown = 0;  // nodes that are not in `flops`
};

struct DiffStatistics {
  GraphStatistics a, b;
};

// Linear; `with_flops` infers shapes, which costs most of it.
DiffStatistics CompareSizes(const Module& a, const Module& b, bool with_flops);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STATISTICS_H_
