// Elementwise ops that read one another, run in one pass: a block of each is made before the next
// block of any, in memory that stays in the first cache. To the bit what they give one by one.
#ifndef GRAPNEL_KERNELS_CPU_FUSED_ELEMENTWISE_STEPS_H_
#define GRAPNEL_KERNELS_CPU_FUSED_ELEMENTWISE_STEPS_H_

#include <string>
#include <vector>

#include "kernels/cpu/math/elementwise_binary.h"
#include "kernels/cpu/math/elementwise_unary.h"
#include "lib/exec/bound_kernel.h"

namespace grapnel {

// An op of one or two operands.
struct ElementwiseStep {
  enum class Shapes {
    kBroadcast,  // of operands, as usual
    kEqual,      // they must be equal (AddN)
    kBias        // the second must be a vector of as many as the first has channels
  };
  struct Operand {
    bool is_step = false;  // the result of a step before, else an input
    int index = 0;
    bool is_last = false;  // nobody reads it after this
  };

  llvm::SmallVector<Operand, 2> operands;
  UnaryLoop unary = nullptr;  // one of the three
  BinaryLoop binary = nullptr;
  LeakyReluLoop leaky_relu = nullptr;
  float alpha = 0;
  double cost = 1;  // nanoseconds an element
  Shapes shapes = Shapes::kBroadcast;
  BoundKernel kernel;  // what runs it alone
  std::string name;    // for errors
};

// The kernel of steps in an order in which they can run; all values are of `dtype`. Where their
// shapes do not allow one pass (a broadcast that is neither of channels nor of rows), or one is not
// worth it, they run one after the other.
KernelFn ElementwiseKernel(std::vector<ElementwiseStep> steps, DataType dtype);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_FUSED_ELEMENTWISE_STEPS_H_
