// Window arithmetic as in TensorFlow's GetWindowedOutputSizeVerbose.
#include "kernels/common/window.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The maximum size, stride, dilation and padding: far above any real network, and small enough that
// the product of two stays below 2^63.
constexpr int64_t kMost = (int64_t{1} << 31) - 1;

Error ResolveOne(Padding padding, WindowDim& dim) {
  int64_t extent = (dim.kernel - 1) * dim.dilation + 1;
  if (padding == Padding::kSame) {
    dim.out = (dim.in + dim.stride - 1) / dim.stride;
    int64_t total = std::max<int64_t>(0, (dim.out - 1) * dim.stride + extent - dim.in);
    dim.before = total / 2;
    dim.after = total - dim.before;
    return Error::success();
  }
  // The division truncates toward 0: a window that is too wide by less than two strides yields no
  // output position, and a wider one is an error.
  int64_t room = dim.in + dim.before + dim.after - extent + dim.stride;
  if (room <= -dim.stride) {
    return MakeError(
        "a window of size {0} does not fit into a dimension of size {1} with padding {2} and {3}",
        extent, dim.in, dim.before, dim.after);
  }
  dim.out = room / dim.stride;
  return Error::success();
}

}  // namespace

Error CheckWindowList(const char* what, llvm::ArrayRef<int64_t> values, int rank) {
  if (static_cast<int>(values.size()) != rank) {
    return MakeError("{0} must have {1} numbers, not {2}", what, rank, values.size());
  }
  for (int64_t value : values) {
    if (value < 1 || value > kMost)
      return MakeError("{0} has {1}; each must be from 1 to 2147483647", what, value);
  }
  return Error::success();
}

Expected<WindowAttrs> ReadWindowAttrs(const KernelSetup& setup, int spatial_rank) {
  WindowAttrs attrs;
  attrs.spatial_rank = spatial_rank;
  llvm::StringRef last = spatial_rank == 3 ? "NDHWC" : "NHWC",
                  first = spatial_rank == 3 ? "NCDHW" : "NCHW";
  std::string format = setup.node().GetString("data_format", last);
  if (format != last && format != first)
    return MakeError("data_format '{0}' is not {1} or {2}", format, last, first);
  attrs.channels_first = format == first;

  std::string padding = setup.node().GetString("padding");
  const char* key = "explicit_paddings";
  attrs.explicit_paddings = setup.node().GetInts(key);
  std::vector<int64_t> instead = setup.node().GetInts("padding_list");
  if (!instead.empty()) {  // _FusedConv3D: replaces `padding`
    key = "padding_list";
    attrs.explicit_paddings = std::move(instead);
    padding = "EXPLICIT";
  }
  if (padding != "EXPLICIT" && !attrs.explicit_paddings.empty())
    return MakeError("{0} are given, but padding is {1}, not EXPLICIT", key, padding);
  if (padding == "SAME") {
    attrs.padding = Padding::kSame;
  } else if (padding == "EXPLICIT") {
    attrs.padding = Padding::kExplicit;
    if (static_cast<int>(attrs.explicit_paddings.size()) != 2 * attrs.rank()) {
      return MakeError("{0} must have {1} numbers, not {2}", key, 2 * attrs.rank(),
                       attrs.explicit_paddings.size());
    }
    for (int i = 0; i < 2 * attrs.rank(); ++i) {
      int64_t value = attrs.explicit_paddings[i];
      bool spatial = i / 2 != 0 && i / 2 != attrs.channel_dim();
      if (value < 0 || value > kMost || (!spatial && value != 0)) {
        return MakeError("{0} must not have the value {1} for dimension {2}", key, value, i / 2);
      }
    }
  } else if (padding != "VALID") {
    return MakeError("padding '{0}' is not SAME, VALID or EXPLICIT", padding);
  }

  attrs.strides = setup.node().GetInts("strides");
  attrs.dilations = setup.node().GetInts("dilations");
  if (attrs.dilations.empty()) attrs.dilations.assign(attrs.rank(), 1);
  RETURN_IF_ERROR(CheckWindowList("dilations", attrs.dilations, attrs.rank()));
  if (!attrs.strides.empty())
    RETURN_IF_ERROR(CheckWindowList("strides", attrs.strides, attrs.rank()));
  if (attrs.dilations[0] != 1 || attrs.dilations[attrs.channel_dim()] != 1) {
    return MakeError("dilations must be 1 for batch and channels");
  }
  return attrs;
}

Expected<Window> WindowAttrs::Resolve(llvm::ArrayRef<int64_t> input,
                                      llvm::ArrayRef<int64_t> kernel) const {
  Window window;
  for (int i = 0; i < spatial_rank; ++i) {
    WindowDim& dim = window[3 - spatial_rank + i];
    int at = spatial_dim(i);
    dim.in = input[at];
    dim.kernel = kernel[i];
    dim.stride = strides[at];
    dim.dilation = dilations[at];
    if (padding == Padding::kExplicit) {
      dim.before = explicit_paddings[2 * at];
      dim.after = explicit_paddings[2 * at + 1];
    }
    if (dim.in > kMost || dim.kernel > kMost)
      return MakeError("dimension {0} of an input of shape {1}, or of its window, is too large", at,
                       DimsText(input));
    RETURN_IF_ERROR(ResolveOne(padding, dim));
  }
  return window;
}

Dims WindowAttrs::OutputDims(int64_t batch, const Window& window, int64_t channels) const {
  Dims dims(rank());
  dims[0] = batch;
  dims[channel_dim()] = channels;
  for (int i = 0; i < spatial_rank; ++i) dims[spatial_dim(i)] = window[3 - spatial_rank + i].out;
  return dims;
}

}  // namespace grapnel
