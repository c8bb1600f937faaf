// A kernel bound to its node, with the checks before and after each call.
#ifndef GRAPNEL_LIB_EXEC_BOUND_KERNEL_H_
#define GRAPNEL_LIB_EXEC_BOUND_KERNEL_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// A kernel as plans and constant folding call it. Call() checks the inputs against the ranks in the
// op's definition, the kernel's registration and the node's dtypes before a call, and the dtypes of
// the outputs after it. A call returns an Error and never throws.
//
// Cost: a few comparisons for each input and one for each output.
class BoundKernel {
 public:
  BoundKernel() = default;
  // Makes the kernel for a node. Errors: such as an attribute that the op does not allow, or an
  // error of the kernel's factory. The caller adds the node's name to these errors and to those of
  // Call().
  static Expected<BoundKernel> Make(const KernelDef& def, const KernelSetup& setup);
  // Wraps a kernel that the plan adds (such as a copy to a device, or a fusion, whose errors name
  // their node); the inputs and outputs of its calls are not checked.
  static BoundKernel OfPlan(KernelFn run);

  Error Call(KernelContext& context) const;
  // Like Call(), but does not check inputs and outputs: for inputs that the caller has made itself
  // (the values of a collective's members).
  Error CallOnOthers(KernelContext& context) const;

 private:
  struct Input {
    DataType dtype = proto::DT_INVALID;  // DT_INVALID: any
    int8_t min_rank = 0, max_rank = OpArg::kAnyRank;
    bool is_one = false;   // exactly one element
    bool is_some = false;  // at least one element
  };

  Error ReadArguments(const OpInfo& info);
  void Check(const InputRule& rule);
  Error Refuse(const KernelContext& context, int i) const;
  Error RefuseOutput(const KernelContext& context, int i) const;
  static bool Fits(const Input& wanted, const Tensor& input);

  KernelFn run_;
  llvm::SmallVector<Input, 4> inputs_;
  llvm::SmallVector<DataType, 2> outputs_;
  Node node_;  // for error messages
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_BOUND_KERNEL_H_
