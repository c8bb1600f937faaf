// Steps of a plan that stand for several nodes: one kernel does what several did, and what was
// between them is never written to memory. What looks for them is registered like a kernel.
#ifndef GRAPNEL_LIB_EXEC_FUSION_H_
#define GRAPNEL_LIB_EXEC_FUSION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/bound_kernel.h"

namespace grapnel {

// The steps of a plan on the CPU, as they are before any are joined: by number, each after those
// that it reads.
class FusionView {
 public:
  virtual ~FusionView() = default;
  virtual int size() const = 0;
  virtual Node node(int step) const = 0;
  virtual llvm::ArrayRef<DataType> output_types(int step) const = 0;
  virtual int num_inputs(int step) const = 0;
  // The step whose output 0 is input `i`; -1: a feed, a constant, or another output.
  virtual int Maker(int step, int i) const = 0;
  // What input `i` reads, by number: where two inputs have one, they read the same tensor.
  virtual int Value(int step, int i) const = 0;
  // The value of input `i` if it is the same in every run, else null. Elements may be unaligned
  // where the step's kernel keeps them (KernelDef::keeps).
  virtual const Tensor* Constant(int step, int i) const = 0;
  // Whether the step may be joined with others: no hook wants it, it is part of no other fusion,
  // and it waits for nothing but its inputs.
  virtual bool IsFree(int step) const = 0;
  // Whether the step is free, and its output 0 is read by steps and nothing else: no fetch, and
  // nobody who only waits for it.
  virtual bool IsHidden(int step) const = 0;
  // Who reads output 0 of the step, once for each input.
  virtual llvm::ArrayRef<int> Readers(int step) const = 0;
};

// One of the steps that a fusion stands for, as its kernel gets it.
struct FusedStep {
  BoundKernel kernel;
  std::string name;  // "node 'add' (AddV2, float, /device:CPU:0)", for errors
};

struct StepFusion {
  struct Input {
    int step = 0, input = 0;  // what that step read there
    Tensor constant;          // if set: this instead
    // The fusion's kernel keeps it, as one that Keeps() does; so do those that take a step's kernel
    // along, of what that keeps.
    bool is_kept = false;
  };

  std::vector<int> steps;  // ascending; all but the last one are hidden, and the last is free
  std::vector<Input> inputs;
  KernelCost cost = KernelCost::kElements;
  // Makes the kernel, which has the inputs above and one output, that of the last step. Its errors
  // name the node. May take the kernels of the steps, in their order, unless it gives an error,
  // upon which the steps stay what they were.
  std::function<Expected<KernelFn>(llvm::MutableArrayRef<FusedStep>)> make;
};

// Whether there is a fusion that `step` is the last of, or the first, as the finder likes. Asked of
// each step that is free, the last one first.
using FindFusion = std::optional<StepFusion> (*)(const FusionView& view, int step);

// All finders that were linked in, by the place that they were registered with: what a finder took
// is not shown to those after it.
std::vector<FindFusion> FusionFinders();
bool AddFusionFinder(int place, FindFusion find);

#define GRAPNEL_CPU_FUSION(place, find)                                                \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(fusion_registered_, __COUNTER__) = \
      ::grapnel::AddFusionFinder(place, find)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FUSION_H_
