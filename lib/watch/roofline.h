// The least time of a node on this machine: the larger of its arithmetic at the best rate of oneDNN
// and its bytes at the best rate of the memory, both measured here.
#ifndef GRAPNEL_LIB_WATCH_ROOFLINE_H_
#define GRAPNEL_LIB_WATCH_ROOFLINE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/module.h"
#include "lib/shape/module_shapes.h"
#include "lib/support/thread_pool.h"

namespace grapnel {

struct MachineRates {
  double flops = 0, bytes = 0;  // for each second
};

// Measures the best of a few products of 1024 x 1024 matrices, and of passes over tensors larger
// than any cache, on the pool's threads: takes a third of a second. Errors: no kernel, no memory.
Expected<MachineRates> MeasureRates(ThreadPool& pool);

// Computes the least times of a module's nodes from shapes.
class Roofline {
 public:
  // `feeds`: fed tensors by name, which determine the unknown dimensions of placeholders. The
  // module is copied.
  Roofline(const Module& module, llvm::ArrayRef<std::pair<std::string, Tensor>> feeds,
           MachineRates rates);

  // Returns the nanoseconds of one run of these nodes as a single step: it moves each of their
  // outside inputs, and the outputs of the last node, once. nullopt if a shape is unknown, or the
  // nodes compute and move nothing.
  std::optional<double> LeastTime(const Graph& graph, llvm::ArrayRef<NodeId> nodes) const;
  const MachineRates& rates() const { return rates_; }

 private:
  const Graph* CopyOf(const Graph& graph) const;

  const Module& original_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<ModuleShapes> shapes_;
  MachineRates rates_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_ROOFLINE_H_
