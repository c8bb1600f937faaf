// Sliding windows over one to three spatial dimensions: strides, dilations and padding of
// convolutions and pools.
#ifndef GRAPNEL_KERNELS_COMMON_WINDOW_H_
#define GRAPNEL_KERNELS_COMMON_WINDOW_H_

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {

struct WindowDim {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  // Returns the taps (positions within the window) [begin, end) of output position `o` that fall on
  // the input, not on the padding.
  std::pair<int64_t, int64_t> Taps(int64_t o) const {
    int64_t start = o * stride - before;
    int64_t begin = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    int64_t end = std::min(kernel, start >= in ? 0 : (in - start + dilation - 1) / dilation);
    return {std::min(begin, std::max<int64_t>(end, 0)), std::max<int64_t>(end, 0)};
  }
};
// Always three spatial dimensions; those that an image lacks come first and have size 1.
using Window = std::array<WindowDim, 3>;

enum class Padding { kSame, kValid, kExplicit };

// The window attributes of one node; vectors are in data_format order.
struct WindowAttrs {
  int spatial_rank = 2;
  bool channels_first = false;
  Padding padding = Padding::kValid;
  std::vector<int64_t> strides, dilations, explicit_paddings;

  int rank() const { return spatial_rank + 2; }
  int channel_dim() const { return channels_first ? 1 : rank() - 1; }
  int spatial_dim(int i) const { return (channels_first ? 2 : 1) + i; }
  // Returns the window over `input` (of rank()) for a kernel of these spatial sizes.
  Expected<Window> Resolve(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> kernel) const;
  // Returns [batch, spatial..., channels] in data_format order.
  Dims OutputDims(int64_t batch, const Window& window, int64_t channels) const;
};

// Reads and checks data_format, padding, explicit_paddings or padding_list, and, where the op has
// them, `strides` and `dilations`.
Expected<WindowAttrs> ReadWindowAttrs(const KernelSetup& setup, int spatial_rank);
// Checks that `values` has `rank` entries, each from 1 to 2^31 - 1. `what` is the attribute's name.
Error CheckWindowList(const char* what, llvm::ArrayRef<int64_t> values, int rank);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_WINDOW_H_
