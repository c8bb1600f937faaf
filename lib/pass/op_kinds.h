// The kinds of an op, for passes: one bit test per node, whatever the length of the op's name.
#ifndef GRAPNEL_LIB_PASS_OP_KINDS_H_
#define GRAPNEL_LIB_PASS_OP_KINDS_H_

#include "lib/ir/module.h"
#include "lib/support/public.h"

namespace grapnel {

// The kinds of ops, as in grappler/op_types of TensorFlow 2.21. An op may have several kinds.
enum OpKind : uint32_t {
  kConstOp = 1u << 0,     // Const
  kIdentityOp = 1u << 1,  // Identity, RefIdentity
  kIdentityNOp = 1u << 2,
  kStopGradientOp = 1u << 3,  // StopGradient, PreventGradient
  kNoOpOp = 1u << 4,
  kAddNOp = 1u << 5,
  kSwitchOp = 1u << 6,  // Switch, RefSwitch, _SwitchN
  kMergeOp = 1u << 7,   // Merge, RefMerge, _XlaMerge
  kFrameOp = 1u << 8,   // Enter, Exit, NextIteration and their Ref forms
  kEnterOrExitOp = 1u << 9,
  kNextIterationOp = 1u << 10,
  kVariableOp = 1u << 11,  // a variable, its handle or a read of it
  kRecvOp = 1u << 12,
  kRetvalOp = 1u << 13,  // _Retval
  kAssertOrPrintOp = 1u << 14,
  kFunctionOp = 1u << 15,  // a function of the library
  kKnownOp = 1u << 16,     // in the op table
  kStatefulOp = 1u << 17,  // a stateful op or function, or a dataset op that must run
  kPureOp = 1u << 18,      // running it twice, once or not at all only affects its outputs
  kCommutativeOp = 1u << 19,
  kHasOutputsOp = 1u << 20,
  kShapeOrRankOp = 1u << 21,  // reads only the shape of its input, not the values
  kInPlaceOp = 1u << 22,      // its name marks it as an in-place op
};

// The kinds of ops of one module. Each op's name is looked up once.
class GRAPNEL_PUBLIC OpKinds {
 public:
  explicit OpKinds(const Module& module) : module_(module) {}
  bool Is(const Node& node, uint32_t kinds) { return (Of(node.op_id()) & kinds) != 0; }
  bool IsAll(const Node& node, uint32_t kinds) { return (Of(node.op_id()) & kinds) == kinds; }

 private:
  struct Known {
    StringId op = kNoString;
    uint32_t kinds = 0;
  };
  uint32_t Of(StringId op) {
    const Known& known = recent_[op % kRecent];
    return known.op == op ? known.kinds : Find(op);
  }
  uint32_t Find(StringId op);

  const Module& module_;
  llvm::DenseMap<StringId, uint32_t> kinds_;
  static constexpr uint32_t kRecent = 64;  // graphs have few ops
  Known recent_[kRecent];
};

// True for an IdentityN of one tensor, which is equivalent to Identity.
GRAPNEL_PUBLIC bool IsIdentityNOfOne(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_OP_KINDS_H_
