// Compares the sizes of two graphs: ops, constants, floating-point operations.
#ifndef GRAPNEL_LIB_DIFF_STATISTICS_H_
#define GRAPNEL_LIB_DIFF_STATISTICS_H_

#include <map>
#include <optional>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct GraphStatistics {
  size_t nodes = 0;  // in all bodies, without arguments and results of functions
  size_t functions = 0;
  std::map<std::string, size_t> ops;
  uint64_t constant_bytes = 0;  // size of their tensors in memory, not in the file
  // FLOPs of the main graph's nodes whose shapes are known (lib/shape/flops.h); nullopt if the
  // caller did not ask for FLOPs.
  std::optional<int64_t> flops;
  size_t flops_unknown = 0;  // nodes that `flops` does not include
};

struct DiffStatistics {
  GraphStatistics a, b;
};

// Linear; `with_flops` infers shapes, which takes most of the time.
DiffStatistics CompareSizes(const Module& a, const Module& b, bool with_flops);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_STATISTICS_H_
