// Evaluates one node on constant inputs: the interface between constant folding and the kernels.
#ifndef GRAPNEL_LIB_IR_EVALUATOR_H_
#define GRAPNEL_LIB_IR_EVALUATOR_H_

#include "lib/ir/literal.h"
#include "lib/ir/node.h"
#include "lib/support/public.h"

namespace grapnel {

// Thread-safe: passes that run over several functions at the same time share an evaluator.
class GRAPNEL_PUBLIC Evaluator {
 public:
  virtual ~Evaluator() = default;
  // True if there is a kernel for the op and dtypes of the node.
  virtual bool CanEvaluate(const Node& node) = 0;
  // Returns the node's outputs for the given data inputs. Has no side effects. Errors do not name
  // the node.
  virtual Expected<std::vector<Literal>> Evaluate(const Node& node,
                                                  llvm::ArrayRef<Literal> inputs) = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_EVALUATOR_H_
