// Steps of a plan that stand for several nodes: one kernel does the work of all, and the values
// between them are never written to memory. The finders of fusions are registered like kernels.
#ifndef GRAPNEL_LIB_EXEC_FUSION_H_
#define GRAPNEL_LIB_EXEC_FUSION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/bound_kernel.h"

namespace grapnel {

// The steps of a plan on the CPU before fusion, by number; each follows the steps that it reads.
class FusionView {
 public:
  virtual ~FusionView() = default;
  virtual int size() const = 0;
  virtual Node node(int step) const = 0;
  virtual llvm::ArrayRef<DataType> output_types(int step) const = 0;
  virtual int num_inputs(int step) const = 0;
  // Returns the step whose output 0 is input `i`; -1: a feed, a constant, or another output.
  virtual int Maker(int step, int i) const = 0;
  // Returns the number of the tensor that input `i` reads: equal numbers mean the same tensor.
  virtual int Value(int step, int i) const = 0;
  // Returns the value of input `i` if it is the same in every run, else null. Its elements may be
  // unaligned if the step's kernel keeps them (KernelDef::keeps).
  virtual const Tensor* Constant(int step, int i) const = 0;
  // True if the step may be joined with others: no hook wants it, it is not part of another fusion,
  // and it waits only for its inputs.
  virtual bool IsFree(int step) const = 0;
  // True if the step is free and only steps read its output 0: it is not fetched, and no node
  // merely waits for it.
  virtual bool IsHidden(int step) const = 0;
  // Returns the steps that read output 0 of the step, once for each input.
  virtual llvm::ArrayRef<int> Readers(int step) const = 0;
};

// One of the steps that a fusion replaces, for the fusion's kernel.
struct FusedStep {
  BoundKernel kernel;
  std::string name;  // "node 'add' (AddV2, float, /device:CPU:0)", for errors
};

struct StepFusion {
  struct Input {
    int step = 0, input = 0;  // an input of one of the fused steps
    Tensor constant;          // if set, the value to use instead
    // The fusion's kernel keeps this constant, as one that declares Keeps() does. A fusion that
    // takes over a step's kernel keeps what that kernel keeps.
    bool is_kept = false;
  };

  std::vector<int> steps;  // ascending; all but the last one are hidden, and the last is free
  std::vector<Input> inputs;
  KernelCost cost = KernelCost::kElements;
  // Makes the kernel, which has the inputs above and one output, that of the last step. Its errors
  // name the node. It may take over the kernels of the steps, in order, unless it returns an error;
  // then the steps stay as they were.
  std::function<Expected<KernelFn>(llvm::MutableArrayRef<FusedStep>)> make;
};

// Finds a fusion that begins or ends at `step`, as the finder prefers. Called for each free step,
// the last one first.
using FindFusion = std::optional<StepFusion> (*)(const FusionView& view, int step);

// Returns all linked finders, ordered by the `place` of their registration. Steps that one finder
// takes are not shown to later ones.
std::vector<FindFusion> FusionFinders();
bool AddFusionFinder(int place, FindFusion find);

#define GRAPNEL_CPU_FUSION(place, find)                                                \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(fusion_registered_, __COUNTER__) = \
      ::grapnel::AddFusionFinder(place, find)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FUSION_H_
