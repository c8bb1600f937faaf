// Runs a graph of elementwise ops in one pass: computes one block of every op before the next block
// of any, in memory that stays in the L1 cache. Results equal those of the separate kernels bit for
// bit.
#ifndef GRAPNEL_KERNELS_CPU_FUSED_ELEMENTWISE_STEPS_H_
#define GRAPNEL_KERNELS_CPU_FUSED_ELEMENTWISE_STEPS_H_

#include <string>
#include <vector>

#include "kernels/cpu/math/elementwise_binary.h"
#include "kernels/cpu/math/elementwise_unary.h"
#include "lib/exec/bound_kernel.h"

namespace grapnel {

// One op with one or two operands.
struct ElementwiseStep {
  enum class Shapes {
    kBroadcast,  // NumPy broadcasting
    kEqual,      // all must be equal (AddN)
    kBias        // the second must be a vector with one element per channel of the first
  };
  struct Operand {
    bool is_step = false;  // the result of an earlier step, else an input
    int index = 0;
    bool is_last = false;  // no later operand is the same value
  };

  llvm::SmallVector<Operand, 2> operands;
  UnaryLoop unary = nullptr;  // exactly one of `unary`, `binary` and `leaky_relu` is set
  BinaryLoop binary = nullptr;
  LeakyReluLoop leaky_relu = nullptr;
  float alpha = 0;
  double cost = 1;  // nanoseconds per element
  Shapes shapes = Shapes::kBroadcast;
  BoundKernel kernel;  // runs the op alone
  std::string name;    // for error messages
};

// Returns a kernel for the steps, which are in topological order; all values have dtype `dtype`.
// Steps run one after the other when their shapes do not allow a single pass (a broadcast that is
// neither per channel nor per row) or when a pass would not pay off.
KernelFn ElementwiseKernel(std::vector<ElementwiseStep> steps, DataType dtype);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_FUSED_ELEMENTWISE_STEPS_H_
