// The least time that a node can take on this machine: the larger of its arithmetic at the best
// rate of oneDNN and its bytes at the best rate of the memory, both measured here.
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
  double flops = 0, bytes = 0;  // a second
};

// The best of a few products of 1024 x 1024 matrices, and of passes over tensors that no cache
// holds, on the pool's threads: a third of a second. Errors: no kernel, no memory.
Expected<MachineRates> MeasureRates(ThreadPool& pool);

// Of the nodes of a module, from shapes alone.
class Roofline {
 public:
  // `feeds`: tensors by name with what they were fed, which says the dimensions that a placeholder
  // leaves open. The module is copied.
  Roofline(const Module& module, llvm::ArrayRef<std::pair<std::string, Tensor>> feeds,
           MachineRates rates);

  // Nanoseconds of one run of these nodes of a graph of the module as one: what they read from
  // others, and what the last one gives, is moved once. nullopt: a shape is open, or nothing is
  // computed and moved.
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
