// Reads from a fused op which ops it replaces.
#ifndef GRAPNEL_LIB_DIFF_FUSION_H_
#define GRAPNEL_LIB_DIFF_FUSION_H_

#include <string>
#include <vector>

#include "lib/diff/matching.h"

namespace grapnel {

// True if the op is a convolution or a matrix product.
bool IsContraction(llvm::StringRef op);

// The ops that a fused node lists: "_FusedConv2D" with fused_ops = ["BiasAdd", "Relu"]. False for
// other nodes.
class Fusion {
 public:
  explicit Fusion(const Node& node);
  explicit operator bool() const { return !base_.empty(); }

  // The op that the others are fused into.
  bool IsBase(llvm::StringRef op) const { return op == base_; }
  // True if `op` is the last fused one. Any addition counts as a bias.
  bool EndsIn(llvm::StringRef op) const;
  // True if there are at least as many `nodes` as fused ops, with the base op among them.
  bool CanBeOf(const Side& side, llvm::ArrayRef<int32_t> nodes) const;

 private:
  std::string base_;
  std::vector<std::string> ops_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FUSION_H_
