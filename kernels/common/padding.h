// The paddings of Pad, MirrorPad and MirrorPadGrad: how much to add before and after each
// dimension.
#ifndef GRAPNEL_KERNELS_COMMON_PADDING_H_
#define GRAPNEL_KERNELS_COMMON_PADDING_H_

#include "lib/exec/kernel.h"

namespace grapnel {

struct Paddings {
  Dims before, after;
};

// Errors: `paddings` does not have shape [rank of `in`, 2], or an entry is negative.
inline Expected<Paddings> ReadPaddings(const Tensor& in, const Tensor& paddings) {
  if (paddings.rank() != 2 || paddings.dim(1) != 2 || paddings.dim(0) != in.rank())
    return MakeError("paddings must be a matrix of shape [{0},2], got shape {1}", in.rank(),
                     DimsText(paddings.dims()));
  Paddings read;
  for (int d = 0; d < in.rank(); ++d) {
    int64_t before = paddings.IntAt(2 * d), after = paddings.IntAt(2 * d + 1);
    if (before < 0 || after < 0)
      return MakeError("paddings must be non-negative: {0} {1}", before, after);
    read.before.push_back(before);
    read.after.push_back(after);
  }
  return read;
}

// Returns how many border elements the mirror skips: 1 for REFLECT, which does not repeat the edge,
// 0 for SYMMETRIC, which does.
inline Expected<int64_t> MirrorSkip(const Node& node) {
  std::string mode = node.GetString("mode");
  if (mode == "REFLECT") return 1;
  if (mode == "SYMMETRIC") return 0;
  return MakeError("mode must be REFLECT or SYMMETRIC, got '{0}'", mode);
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_PADDING_H_
