// What Pad, MirrorPad and MirrorPadGrad are told: how much comes before and after each dimension.
#ifndef GRAPNEL_KERNELS_COMMON_PADDING_H_
#define GRAPNEL_KERNELS_COMMON_PADDING_H_

#include "lib/exec/kernel.h"

namespace grapnel {

struct Paddings {
  Dims before, after;
};

// Errors: no matrix of two numbers for each dimension of `in`, a negative one.
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

// How many elements at the border a mirror leaves out: REFLECT does not repeat the last one,
// SYMMETRIC does.
inline Expected<int64_t> MirrorSkip(const Node& node) {
  std::string mode = node.GetString("mode");
  if (mode == "REFLECT") return 1;
  if (mode == "SYMMETRIC") return 0;
  return MakeError("mode must be REFLECT or SYMMETRIC, got '{0}'", mode);
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_PADDING_H_
