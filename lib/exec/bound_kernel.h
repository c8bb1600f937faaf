// A kernel as it is called: what was made for a node, and what holds before and after each call.
#ifndef GRAPNEL_LIB_EXEC_BOUND_KERNEL_H_
#define GRAPNEL_LIB_EXEC_BOUND_KERNEL_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// The one way to call a kernel, of a plan or to fold a constant. It is called with inputs that its
// op and its registration allow, of the dtypes that the node says, or not at all; what it gives has
// the dtypes that the node says; and it ends with an Error, never with an exception.
//
// Cost: two comparisons for each input and one for each output.
class BoundKernel {
 public:
  BoundKernel() = default;
  // Makes the kernel for a node. Errors: an attribute that the op does not allow, and what the
  // kernel's factory refuses. They do not name the node, nor do those of Call().
  static Expected<BoundKernel> Make(const KernelDef& def, const KernelSetup& setup);
  // Work that the plan adds (copies to a device): of one input and output, which it does not read.
  static BoundKernel OfPlan(KernelFn run);

  Error Call(KernelContext& context) const;
  // The same on other inputs than the node's, which the caller has made (a collective's values).
  Error CallOnOthers(KernelContext& context) const;

 private:
  struct Input {
    DataType dtype = proto::DT_INVALID;  // DT_INVALID: any
    int8_t min_rank = 0, max_rank = OpArg::kAnyRank;
    bool is_one = false;   // of one element
    bool is_some = false;  // of one element or more
  };

  Error ReadArguments(const OpInfo& info);
  void Check(const InputRule& rule);
  Error Refuse(const KernelContext& context, int i) const;
  Error RefuseOutput(const KernelContext& context, int i) const;
  static bool Fits(const Input& wanted, const Tensor& input);

  KernelFn run_;
  llvm::SmallVector<Input, 4> inputs_;
  llvm::SmallVector<DataType, 2> outputs_;
  Node node_;  // for the error's words
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_BOUND_KERNEL_H_
