// Estimates the least time that a node can take on this machine: the larger of the times for its
// arithmetic at oneDNN's best rate and for its memory traffic at the memory's best rate. Both rates
// are measured on this machine.
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
  double flops = 0, bytes = 0;  // per second
};

// Measures the rates on the pool's threads: the fastest of a few products of 1024 x 1024 matrices,
// and the fastest of a few passes over a tensor of 48 MiB, which few caches can hold. Takes about a
// third of a second. Errors: a kernel is missing, or there is not enough memory.
Expected<MachineRates> MeasureRates(ThreadPool& pool);

// Computes the least times of a module's nodes from their shapes.
class Roofline {
 public:
  // `feeds` are the fed tensors by name; their shapes determine unknown dimensions of placeholders.
  // Shapes are inferred in a copy of the module, but `module` must outlive this object.
  Roofline(const Module& module, llvm::ArrayRef<std::pair<std::string, Tensor>> feeds,
           MachineRates rates);

  // Returns the least time, in nanoseconds, of these nodes as one fused step, which reads each
  // input that comes from other nodes once, and writes the outputs of the last node once. Returns
  // nullopt if a shape or the arithmetic of an op is unknown, the module lacks a node, a node calls
  // a function or only forwards a value, or the step has neither arithmetic nor memory traffic.
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
