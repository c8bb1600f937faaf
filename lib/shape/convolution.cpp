// Shape functions of ops with sliding windows: convolutions and pooling of one to three dimensions,
// their gradients, patches, morphology.
#include <algorithm>
#include <cstdlib>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// The positions of the channels and of the first spatial dimension in a format: "NHWC", "NCDHW",
// "CHANNELS_FIRST", ...
struct Layout {
  int rank, channel, first_spatial;
};

Layout LayoutOf(ShapeContext& c, int rank) {
  llvm::StringRef format = c.String("data_format");
  if (format.take_front(2) == "NC" || format == "CHANNELS_FIRST") return {rank, 1, 2};
  return {rank, rank - 1, 1};
}

bool IsPackedFormat(ShapeContext& c) { return c.String("data_format").contains("_VECT_C"); }

struct Window {
  int64_t size, dilation = 1, stride = 1, before = 0, after = 0;
};

// Returns how many positions a window has along a dimension of size `in`.
int64_t PlacesOf(ShapeContext& c, int64_t in, const Window& w, llvm::StringRef padding) {
  if (w.stride <= 0 || w.dilation <= 0) {
    c.Fail("{0} needs positive strides and dilations, got {1} and {2}", c.op(), w.stride,
           w.dilation);
    return kUnknownDim;
  }
  constexpr int64_t kFar = int64_t{1} << 31;  // no product below passes 2^63
  for (int64_t part : {in, w.size, w.dilation, w.stride, std::abs(w.before), std::abs(w.after)}) {
    if (part > kFar) return kUnknownDim;
  }
  if (padding == "SAME") {
    if (w.stride == 1) return in;
    return in >= 0 ? (in + w.stride - 1) / w.stride : kUnknownDim;
  }
  if (w.size < 0) return kUnknownDim;
  int64_t width = (w.size - 1) * w.dilation + 1, pad = w.before + w.after;
  if (in < 0) return w.stride == 1 && width == pad + 1 ? in : kUnknownDim;
  int64_t room = in + pad - width + w.stride;
  if (room <= -w.stride) {
    c.Fail("{0}: a window of size {1} does not fit into a padded dimension of size {2}", c.op(),
           width, in + pad);
    return kUnknownDim;
  }
  return room / w.stride;
}

int64_t At(const std::vector<int64_t>& list, size_t i, int64_t otherwise) {
  return i < list.size() ? list[i] : otherwise;
}

// A convolution of an input of rank `rank` with a filter [spatial..., in / groups, out], or for a
// depthwise convolution [spatial..., in, n].
void Convolve(ShapeContext& c, int rank, bool depthwise) {
  if (IsPackedFormat(c)) return c.Out(0, Shape::UnknownOfRank(rank + 1));
  Shape in = c.WithRank(0, rank), filter = c.WithRank(1, rank);
  if (c.String("filter_format").take_front(2) == "OI") {
    Dims dims(filter.dims().begin() + 2, filter.dims().end());
    dims.append({filter.dim(1), filter.dim(0)});
    filter = Shape(dims);
  }
  Layout layout = LayoutOf(c, rank);
  std::vector<int64_t> strides = c.Ints("strides"), dilations = c.Ints("dilations");
  std::vector<int64_t> paddings = c.Ints("padding_list");  // overrides `padding`
  llvm::StringRef padding = paddings.empty() ? c.String("padding") : "EXPLICIT";
  if (paddings.empty()) paddings = c.Ints("explicit_paddings");
  int spatial = rank - 2;
  // The op Conv has strides and dilations for all dimensions or only for the spatial ones.
  int skip = static_cast<int>(strides.size()) == spatial ? layout.first_spatial : 0;
  Shape out = Shape::UnknownOfRank(rank);
  for (int i = 0; i < spatial; ++i) {
    int at = layout.first_spatial + i;
    Window window{filter.dim(i), At(dilations, at - skip, 1), At(strides, at - skip, 1),
                  At(paddings, 2 * at, 0), At(paddings, 2 * at + 1, 0)};
    out.set_dim(at, PlacesOf(c, in.dim(at), window, padding));
  }
  out.set_dim(0, in.dim(0));
  int64_t depth = in.dim(layout.channel), filter_depth = filter.dim(spatial);
  if (depthwise) {
    out.set_dim(layout.channel,
                MulDims(c.Equal(depth, filter_depth, "channels of input and filter"),
                        filter.dim(rank - 1)));
  } else {
    if (depth >= 0 && filter_depth >= 0 &&
        (filter_depth == 0 ? depth != 0 : depth % filter_depth != 0)) {
      c.Fail("{0} needs a filter whose depth divides the depth of the input, got {1} and {2}",
             c.op(), filter.ToString(), in.ToString());
    }
    out.set_dim(layout.channel, filter.dim(rank - 1));
  }
  c.Out(0, std::move(out));
}

void Conv2DShape(ShapeContext& c) { Convolve(c, 4, false); }
void Conv3DShape(ShapeContext& c) { Convolve(c, 5, false); }
void DepthwiseConv2DShape(ShapeContext& c) { Convolve(c, 4, true); }

// The op Conv allows any number of batch dimensions. This function handles only one, which is what
// TensorFlow's own code creates.
void ConvShape(ShapeContext& c) {
  if (c.in(0).known_rank() && c.Int("batch_dims", 1) == 1 && c.in(0).rank() >= 3)
    Convolve(c, c.in(0).rank(), false);
}

// Returns the shape whose sizes are the elements of input i; if not even their number is known, a
// shape of the given rank.
Shape SizesOf(ShapeContext& c, int i, int rank) {
  Shape shape = c.ShapeFrom(i);
  return shape.known_rank() ? shape : Shape::UnknownOfRank(rank);
}

void ConvBackpropInput(ShapeContext& c, int rank) {
  Layout layout = LayoutOf(c, rank);
  Shape sizes = SizesOf(c, 0, rank), grad = rank == 4 ? c.WithRank(2, 4) : c.in(2);
  // The input may also contain only the spatial sizes, without batch and channels.
  if (sizes.rank() == rank - 2) {
    Shape full = Shape::UnknownOfRank(rank);
    for (int i = 0; i < rank - 2; ++i) full.set_dim(layout.first_spatial + i, sizes.dim(i));
    full.set_dim(layout.channel, c.WithRank(1, rank).dim(rank - 2));
    sizes = full;
  } else if (sizes.rank() != rank) {
    return c.Fail("{0} needs {1} or {2} input sizes, got {3}", c.op(), rank, rank - 2,
                  sizes.rank());
  }
  if (grad.known_rank() && grad.rank() == rank) {
    sizes.set_dim(0, MergeDims(sizes.dim(0), grad.dim(0)).value_or(sizes.dim(0)));
  }
  c.Out(0, std::move(sizes));
}

void Conv2DBackpropInputShape(ShapeContext& c) { ConvBackpropInput(c, 4); }
void Conv3DBackpropInputShape(ShapeContext& c) { ConvBackpropInput(c, 5); }
void DepthwiseBackpropInputShape(ShapeContext& c) { c.Out(0, SizesOf(c, 0, 4)); }
void Conv2DBackpropFilterShape(ShapeContext& c) {
  c.Out(0, SizesOf(c, 1, 4));
  c.Out(1, Shape::UnknownOfRank(1));  // the gradient of the bias, for fused ops
}
void Conv3DBackpropFilterShape(ShapeContext& c) { c.Out(0, SizesOf(c, 1, 5)); }

void LikeInput(ShapeContext& c, int i, int rank) {
  Shape shape = c.WithRank(i, rank);
  c.Out(0, std::move(shape));
}
void LikeFirst4D(ShapeContext& c) { LikeInput(c, 0, 4); }
void LikeFirst5D(ShapeContext& c) { LikeInput(c, 0, 5); }
void LikeSecond4D(ShapeContext& c) { LikeInput(c, 1, 4); }
void LikeSecond3D(ShapeContext& c) { LikeInput(c, 1, 3); }
void LikeSecond5D(ShapeContext& c) { LikeInput(c, 1, 5); }

// Pools with a window that has a size and a stride for every dimension; both are 1 for the batch,
// and usually for the channels.
void PoolOver(ShapeContext& c, int rank, llvm::ArrayRef<int64_t> sizes,
              llvm::ArrayRef<int64_t> strides) {
  if (IsPackedFormat(c)) return c.Out(0, Shape::UnknownOfRank(rank + 1));
  Shape in = c.WithRank(0, rank), out = in;
  if (static_cast<int>(sizes.size()) != rank || static_cast<int>(strides.size()) != rank) {
    return c.Fail("{0} needs {1} window sizes and strides, got {2} and {3}", c.op(), rank,
                  sizes.size(), strides.size());
  }
  std::vector<int64_t> paddings = c.Ints("explicit_paddings");
  for (int i = 0; i < rank; ++i) {
    Window window{sizes[i], 1, strides[i], At(paddings, 2 * i, 0), At(paddings, 2 * i + 1, 0)};
    out.set_dim(i, PlacesOf(c, in.dim(i), window, c.String("padding")));
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, out);
}

void Pool2DShape(ShapeContext& c) { PoolOver(c, 4, c.Ints("ksize"), c.Ints("strides")); }
void Pool3DShape(ShapeContext& c) { PoolOver(c, 5, c.Ints("ksize"), c.Ints("strides")); }

void PoolV2Shape(ShapeContext& c) {
  const Elements *sizes = c.integers(1), *strides = c.integers(2);
  if (sizes && strides) return PoolOver(c, 4, *sizes, *strides);
  Shape in = c.WithRank(0, 4), out = Shape::UnknownOfRank(4);
  out.set_dim(0, in.dim(0));
  c.Out(0, std::move(out));
}

void AvgPoolGradShape(ShapeContext& c) { c.Out(0, SizesOf(c, 0, 4)); }
void AvgPool3DGradShape(ShapeContext& c) { c.Out(0, SizesOf(c, 0, 5)); }

void FractionalPoolShape(ShapeContext& c) {
  Shape in = c.WithRank(0, 4);
  std::optional<AttrView> attr = c.Attr("pooling_ratio");
  auto ratios = attr ? attr->AsFloats() : std::nullopt;
  for (int i = 0; i < 4; ++i) {
    if (!in.IsKnown(i) || !ratios || ratios->size() != 4 || (*ratios)[i] < 1) {
      in.set_dim(i, ratios && ratios->size() == 4 && (*ratios)[i] == 1 ? in.dim(i) : kUnknownDim);
    } else {
      in.set_dim(i, static_cast<int64_t>(in.dim(i) / (*ratios)[i]));
    }
  }
  c.Out(0, in);
  c.Out(1, VectorOf(kUnknownDim));
  c.Out(2, VectorOf(kUnknownDim));
}

void FractionalPoolGradShape(ShapeContext& c) {
  c.Out(0, c.op() == "FractionalAvgPoolGrad" ? SizesOf(c, 0, 4) : c.WithRank(0, 4));
}

// The elements of each window become the last dimension (depth) at the window's position.
void PatchesShape(ShapeContext& c) {
  std::vector<int64_t> sizes = c.Ints("ksizes"), strides = c.Ints("strides"),
                       rates = c.Ints("rates");
  int rank = static_cast<int>(sizes.size());
  if (rank < 4 || strides.size() != sizes.size()) return;
  Shape in = c.WithRank(0, rank), out = in;
  int64_t depth = in.dim(rank - 1);
  for (int i = 1; i < rank - 1; ++i) {
    out.set_dim(
        i, PlacesOf(c, in.dim(i), {sizes[i], At(rates, i, 1), strides[i]}, c.String("padding")));
    depth = MulDims(depth, sizes[i]);
  }
  out.set_dim(rank - 1, depth);
  c.Out(0, std::move(out));
}

void Dilation2DShape(ShapeContext& c) {
  Shape out = c.WithRank(0, 4), filter = c.WithRank(1, 3);
  std::vector<int64_t> strides = c.Ints("strides"), rates = c.Ints("rates");
  for (int i = 1; i <= 2; ++i) {
    out.set_dim(i, PlacesOf(c, out.dim(i), {filter.dim(i - 1), At(rates, i, 1), At(strides, i, 1)},
                            c.String("padding")));
  }
  out.set_dim(3, c.Equal(out.dim(3), filter.dim(2), "depths of input and filter"));
  c.Out(0, std::move(out));
}

// FusedPadConv2D pads an image and convolves it; FusedResizeAndPadConv2D resizes the image first.
void FusedPadConvShape(ShapeContext& c) {
  bool resize = c.op() == "FusedResizeAndPadConv2D";
  int filter_at = resize ? 3 : 2;
  Shape in = c.WithRank(0, 4), filter = c.WithRank(filter_at, 4);
  const Elements *size = resize ? c.elements(1) : nullptr, *paddings = c.integers(filter_at - 1);
  std::vector<int64_t> strides = c.Ints("strides");
  Shape out = Shape::UnknownOfRank(4);
  out.set_dim(0, in.dim(0));
  out.set_dim(3, filter.dim(3));
  for (int i = 1; i <= 2; ++i) {
    int64_t dim = !resize                     ? in.dim(i)
                  : size && size->size() == 2 ? DimOfElement((*size)[i - 1])
                                              : kUnknownDim;
    if (!paddings || paddings->size() != 8) continue;
    dim = AddDims(dim, (*paddings)[2 * i] + (*paddings)[2 * i + 1]);
    out.set_dim(i,
                PlacesOf(c, dim, {filter.dim(i - 1), 1, At(strides, i, 1)}, c.String("padding")));
  }
  c.Out(0, std::move(out));
}

// Quantized ops return the result and then its minimum and maximum.
void QuantizedConv2DShape(ShapeContext& c) {
  for (int i = 1; i < c.num_outputs(); ++i) c.Out(i, Shape::Scalar());
  Convolve(c, 4, c.op().contains("Depthwise"));
}

void QuantizedPoolShape(ShapeContext& c) {
  Pool2DShape(c);
  for (int i = 1; i < c.num_outputs(); ++i) c.Out(i, Shape::Scalar());
}

constexpr ShapeRule kRules[] = {
    {"Conv", ConvShape},
    {"Conv2D", Conv2DShape},
    {"_FusedConv2D", Conv2DShape},
    {"_MklNativeConv2D", Conv2DShape},
    {"_MklNativeFusedConv2D", Conv2DShape},
    {"_MklNativeConv2DWithBias", Conv2DShape},
    {"Conv3D", Conv3DShape},
    {"_FusedConv3D", Conv3DShape},
    {"_MklNativeConv3D", Conv3DShape},
    {"_MklNativeFusedConv3D", Conv3DShape},
    {"DepthwiseConv2dNative", DepthwiseConv2DShape},
    {"_FusedDepthwiseConv2dNative", DepthwiseConv2DShape},
    {"_MklNativeDepthwiseConv2dNative", DepthwiseConv2DShape},
    {"_MklNativeFusedDepthwiseConv2dNative", DepthwiseConv2DShape},
    {"QuantizedConv2D", QuantizedConv2DShape},
    {"QuantizedDepthwiseConv2D", QuantizedConv2DShape},
    {"Conv2DBackpropInput", Conv2DBackpropInputShape},
    {"_MklNativeConv2DBackpropInput", Conv2DBackpropInputShape},
    {"Conv2DBackpropInputV2", LikeFirst4D},
    {"Conv2DBackpropFilter", Conv2DBackpropFilterShape},
    {"_MklNativeConv2DBackpropFilter", Conv2DBackpropFilterShape},
    {"_MklNativeConv2DBackpropFilterWithBias", Conv2DBackpropFilterShape},
    {"Conv2DBackpropFilterV2", LikeSecond4D},
    {"Conv3DBackpropInput", LikeFirst5D},
    {"Conv3DBackpropInputV2", Conv3DBackpropInputShape},
    {"Conv3DBackpropFilter", LikeSecond5D},
    {"Conv3DBackpropFilterV2", Conv3DBackpropFilterShape},
    {"DepthwiseConv2dNativeBackpropInput", DepthwiseBackpropInputShape},
    {"DepthwiseConv2dNativeBackpropFilter", Conv2DBackpropFilterShape},
    {"AvgPool", Pool2DShape},
    {"MaxPool", Pool2DShape},
    {"MaxPoolWithArgmax", Pool2DShape},
    {"MaxPoolV2", PoolV2Shape},
    {"_MklNativeAvgPool", Pool2DShape},
    {"AvgPool3D", Pool3DShape},
    {"MaxPool3D", Pool3DShape},
    {"AvgPoolGrad", AvgPoolGradShape},
    {"AvgPool3DGrad", AvgPool3DGradShape},
    {"MaxPoolGrad", LikeFirst4D},
    {"MaxPoolGradV2", LikeFirst4D},
    {"MaxPoolGradWithArgmax", LikeFirst4D},
    {"MaxPoolGradGrad", LikeSecond4D},
    {"MaxPoolGradGradV2", LikeSecond4D},
    {"MaxPool3DGrad", LikeFirst5D},
    {"MaxPool3DGradGrad", LikeSecond5D},
    {"QuantizedAvgPool", QuantizedPoolShape},
    {"QuantizedMaxPool", QuantizedPoolShape},
    {"FractionalAvgPool", FractionalPoolShape},
    {"FractionalMaxPool", FractionalPoolShape},
    {"FractionalAvgPoolGrad", FractionalPoolGradShape},
    {"FractionalMaxPoolGrad", FractionalPoolGradShape},
    {"ExtractImagePatches", PatchesShape},
    {"ExtractVolumePatches", PatchesShape},
    {"Dilation2D", Dilation2DShape},
    {"Dilation2DBackpropInput", SameAsInput},
    {"Dilation2DBackpropFilter", LikeSecond3D},
    {"FusedPadConv2D", FusedPadConvShape},
    {"FusedResizeAndPadConv2D", FusedPadConvShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> ConvolutionShapeRules() { return kRules; }

}  // namespace grapnel
