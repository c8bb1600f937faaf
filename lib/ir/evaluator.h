// Computing one node from constant inputs: what constant folding asks of the kernels without
// knowing them.
#ifndef GRAPNEL_LIB_IR_EVALUATOR_H_
#define GRAPNEL_LIB_IR_EVALUATOR_H_

#include "lib/ir/literal.h"
#include "lib/ir/node.h"
#include "lib/support/public.h"

namespace grapnel {

class GRAPNEL_PUBLIC Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Whether there is a kernel for the node's op and dtypes.
  virtual bool CanEvaluate(const Node& node) = 0;
  // The node's outputs for these data inputs. Has no effect beyond its result. Errors do not name
  // the node.
  virtual Expected<std::vector<Literal>> Evaluate(const Node& node,
                                                  llvm::ArrayRef<Literal> inputs) = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_EVALUATOR_H_
