// Finds out from a fused op which ops it replaces.
#ifndef GRAPNEL_LIB_DIFF_FUSION_H_
#define GRAPNEL_LIB_DIFF_FUSION_H_

#include <string>
#include <vector>

#include "lib/diff/matching.h"

namespace grapnel {

// True if the op is a convolution, a matrix product or Einsum.
bool IsContraction(llvm::StringRef op);

// The ops that a fused node consists of: "_FusedConv2D" with fused_ops = ["BiasAdd", "Relu"]. Empty
// for other nodes.
class Fusion {
 public:
  explicit Fusion(const Node& node);
  explicit operator bool() const { return !base_.empty(); }

  // True if `op` is the main op of the fusion, such as Conv2D for _FusedConv2D.
  bool IsBase(llvm::StringRef op) const { return op == base_; }
  // True if `op` is the last of the fused ops. For BiasAdd, Add and AddV2 count too.
  bool EndsIn(llvm::StringRef op) const;
  // True if `nodes` may be the nodes that were fused: exactly one has the main op, and there is at
  // least one more node for each fused op.
  bool CanBeOf(const Side& side, llvm::ArrayRef<int32_t> nodes) const;

 private:
  std::string base_;
  std::vector<std::string> ops_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FUSION_H_
