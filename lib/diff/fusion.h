// What fused ops say of what they were made of.
#ifndef GRAPNEL_LIB_DIFF_FUSION_H_
#define GRAPNEL_LIB_DIFF_FUSION_H_

#include <string>
#include <vector>

#include "lib/diff/matching.h"

namespace grapnel {

// Whether an op is a convolution or a product of matrices.
bool IsContraction(llvm::StringRef op);

// What a fused op says of itself: "_FusedConv2D" with fused_ops = ["BiasAdd", "Relu"]. False for
// other nodes.
class Fusion {
 public:
  explicit Fusion(const Node& node);
  explicit operator bool() const { return !base_.empty(); }

  // The op that the others are fused into.
  bool IsBase(llvm::StringRef op) const { return op == base_; }
  // Whether `op` is the last that was fused. Any addition does as a bias.
  bool EndsIn(llvm::StringRef op) const;
  // Whether these have as many nodes at least, and one of the op that the others are fused into.
  bool CanBeOf(const Side& side, llvm::ArrayRef<int32_t> nodes) const;

 private:
  std::string base_;
  std::vector<std::string> ops_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FUSION_H_
