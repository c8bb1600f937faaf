// The size of two graphs side by side: ops, constants, arithmetic.
#ifndef GRAPNEL_LIB_DIFF_STATISTICS_H_
#define GRAPNEL_LIB_DIFF_STATISTICS_H_

#include <map>
#include <optional>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct GraphStatistics {
  size_t nodes = 0;  // of all bodies; arguments and results of functions not counted
  size_t functions = 0;
  std::map<std::string, size_t> ops;
  uint64_t constant_bytes = 0;  // of the tensors in memory, not as stored
  // Of those nodes of the main graph whose shapes are known (lib/shape/flops.h); nullopt when it
  // was not asked for.
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
