// Fusions: steps of a plan that replace several nodes by one kernel, so that the values between
// these nodes need not be stored as tensors. Functions that find fusions are registered like
// kernels.
#ifndef GRAPNEL_LIB_EXEC_FUSION_H_
#define GRAPNEL_LIB_EXEC_FUSION_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/exec/bound_kernel.h"

namespace grapnel {

// The steps (planned nodes) of a plan for the CPU before fusion, by index; each step comes after
// the steps whose outputs it reads.
class FusionView {
 public:
  virtual ~FusionView() = default;
  virtual int size() const = 0;
  virtual Node node(int step) const = 0;
  virtual llvm::ArrayRef<DataType> output_types(int step) const = 0;
  virtual int num_inputs(int step) const = 0;
  // Returns the step whose output 0 is input `i` of `step`; -1 if the input is a feed, a constant,
  // or an output other than 0.
  virtual int Maker(int step, int i) const = 0;
  // Returns an identifier of the tensor that input `i` reads: equal identifiers mean the same
  // tensor.
  virtual int Value(int step, int i) const = 0;
  // Returns the value of input `i` if it is the same in every run, else null. Its elements may be
  // unaligned if the step's kernel keeps them (KernelDef::keeps).
  virtual const Tensor* Constant(int step, int i) const = 0;
  // True if the step may be fused: it is an ordinary kernel that outputs no reference, no hook
  // wants its node, it is not part of another fusion, and it waits only for its inputs (no control
  // edge leads to it).
  virtual bool IsFree(int step) const = 0;
  // True if the step is free and its values are needed only by steps that read its output 0, of
  // which there is at least one: no output is fetched, no other output is read, and no node has a
  // control edge from it.
  virtual bool IsHidden(int step) const = 0;
  // Returns the steps that read output 0 of `step`; a step that reads it through several inputs is
  // listed once for each.
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
    Tensor constant;          // if set, replaces the value of that input
    // True if the fusion's kernel packs and keeps this constant, like a kernel that declares
    // Keeps(). A fusion that reuses a step's kernel keeps the constants that this kernel keeps.
    bool is_kept = false;
  };

  std::vector<int> steps;  // ascending; all but the last one are hidden, and the last is free
  std::vector<Input> inputs;
  KernelCost cost = KernelCost::kElements;
  // Makes the kernel, which has the inputs above and one output, that of the last step. Errors of
  // the kernel must name the node. `make` gets the steps in order and may move kernels out of them,
  // but not if it returns an error: then the steps must be unchanged.
  std::function<Expected<KernelFn>(llvm::MutableArrayRef<FusedStep>)> make;
};

// Returns a fusion that begins or ends at `step` (each finder chooses which), or nullopt. Called
// for each free step, the last one first.
using FindFusion = std::optional<StepFusion> (*)(const FusionView& view, int step);

// Returns all linked finders, ordered by the `place` of their registration. Steps that one finder
// has fused are not free for later finders.
std::vector<FindFusion> FusionFinders();
bool AddFusionFinder(int place, FindFusion find);

#define GRAPNEL_CPU_FUSION(place, find)                                                \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(fusion_registered_, __COUNTER__) = \
      ::grapnel::AddFusionFinder(place, find)

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_FUSION_H_
