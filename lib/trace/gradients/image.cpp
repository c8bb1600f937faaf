// Images: resizing, cropping, projective transforms, colors, fake quantization.
#include "lib/trace/array_ops.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

InputGradients NearestOf(G& g) {
  Shape shape = g.x(0).shape();
  Operand size = 0;
  if (shape.known_rank() && shape.rank() > 2 && shape.IsKnown(1) && shape.IsKnown(2)) {
    size = std::vector<int>{static_cast<int>(shape.dim(1)), static_cast<int>(shape.dim(2))};
  } else {
    size = g.Cut(g.ShapeOf(g.x(0)), 1, 3);
  }
  return {g.Op("ResizeNearestNeighborGrad", {g.dy(), size},
               g.Attrs({"align_corners", "half_pixel_centers"}))};
}
GRAPNEL_GRADIENT("ResizeNearestNeighbor", NearestOf);
GRAPNEL_GRADIENT("ResizeBilinear", [](G& g) -> InputGradients {
  return {g.Op("ResizeBilinearGrad", {g.dy(), g.x(0)},
               g.Attrs({"align_corners", "half_pixel_centers"}))};
});
GRAPNEL_NO_GRADIENT("ResizeBilinearGrad");
GRAPNEL_GRADIENT("ResizeBicubic", [](G& g) -> InputGradients {
  DataType dtype = g.x(0).dtype();
  if (dtype != proto::DT_FLOAT && dtype != proto::DT_DOUBLE) return {};
  return {g.Op("ResizeBicubicGrad", {g.dy(), g.x(0)},
               g.Attrs({"align_corners", "half_pixel_centers"}))};
});
GRAPNEL_GRADIENT("ScaleAndTranslate", [](G& g) -> InputGradients {
  return {g.Op("ScaleAndTranslateGrad", {g.dy(), g.x(0), g.x(2), g.x(3)},
               g.Attrs({"kernel_type", "antialias"}))};
});

InputGradients CropAndResizeOf(G& g) {
  Value image = g.x(0);
  Shape shape = image.shape();
  Operand image_shape = 0;
  if (shape.IsFullyKnown()) {
    image_shape = std::vector<int>(shape.dims().begin(), shape.dims().end());
  } else {
    image_shape = g.ShapeOf(image);
  }
  DataType dtype = image.dtype();
  Gradient of_image;
  if (dtype == proto::DT_HALF || dtype == proto::DT_FLOAT || dtype == proto::DT_DOUBLE) {
    of_image = g.Op("CropAndResizeGradImage", {g.dy(), g.x(1), g.x(2), image_shape},
                    g.Attrs({"T", "method"}));
  }
  return {of_image, g.Op("CropAndResizeGradBoxes", {g.dy(), image, g.x(1), g.x(2)})};
}
GRAPNEL_GRADIENT("CropAndResize", CropAndResizeOf);

// --- RGB to HSV, depending on which of red, green and blue is the largest and which the smallest.

class HsvGradient {
 public:
  explicit HsvGradient(G& g) : g_(g), dtype_(g.x().dtype()) {}

  InputGradients Make() {
    r_ = Channel(g_.x(), 0);
    gr_ = Channel(g_.x(), 1);
    b_ = Channel(g_.x(), 2);
    saturation_ = Channel(g_.y(), 1);
    value_ = Channel(g_.y(), 2);
    big_[0] = Both(r_ >= b_, [&] { return r_ >= gr_; });
    big_[1] = Both(gr_ > r_, [&] { return gr_ >= b_; });
    big_[2] = Both(b_ > r_, [&] { return b_ > gr_; });
    small_[0] = Both(r_ < b_, [&] { return r_ < gr_; });
    small_[1] = Both(gr_ <= r_, [&] { return gr_ < b_; });
    small_[2] = Both(b_ <= r_, [&] { return b_ <= gr_; });
    Value ds[] = {OfSaturation(0, r_, 1, gr_, 2, b_), OfSaturation(1, gr_, 0, r_, 2, b_),
                  OfSaturation(2, b_, 1, gr_, 0, r_)};
    Value dh[] = {OfHueByRed(), OfHueByGreen(), OfHueByBlue()};
    Value of_value = Join(2, big_);
    Value of_saturation = Join(1, ds);
    Value of_hue = Join(0, dh);
    Value sum = g_.Scoped("AddV2", {of_value, of_saturation}, {}, "Add");
    return {g_.Scoped("AddV2", {sum, of_hue}, {}, "Add")};
  }

 private:
  Value Channel(const Value& image, int64_t i) { return g_.CutLast(image, {{i, 0, true}}); }
  Value Both(const Value& one, llvm::function_ref<Value()> other) {
    return Cast(one & other(), dtype_);
  }
  Value Inverse(const Value& x) {
    Value one = g_.CastNumber(1, dtype_);
    return g_.Scoped("DivNoNan", {one, x}, {}, "div_no_nan");
  }
  Value IsPositive(const Value& x) { return Cast(x > 0, dtype_); }

  // Returns the derivative of the saturation with respect to channel a; b and c are the other
  // channels.
  Value OfSaturation(int a, const Value& at_a, int b, const Value& at_b, int c, const Value& at_c) {
    Value positive = IsPositive(at_a);
    Value first = small_[b] * at_b;
    Value smallest = g_.Scoped("AddV2", {first, small_[c] * at_c}, {}, "Add");
    Value as_big = big_[a] * smallest;
    Value big_part = as_big * Inverse(Square(at_a));
    Value as_small = small_[a] * -1;
    Value largest = big_[b] * at_b;
    Value other = largest + big_[c] * at_c;
    Value small_part = as_small * Inverse(other);
    return positive * g_.Scoped("AddV2", {big_part, small_part}, {}, "Add");
  }

  Value HueAsSmall(const Value& positive, const Value& big, const Value& small, bool negative,
                   llvm::function_ref<Value()> difference) {
    Value part = positive * big * small;
    if (negative) part = part * -1;
    return 60 * (part * Inverse(difference()));
  }
  Value Sum(llvm::ArrayRef<Value> parts) {
    Value sum = parts[0];
    for (const Value& part : parts.drop_front()) sum = sum + part;
    return sum / 360;
  }

  Value OfHueByRed() {
    Value one = IsPositive(r_);
    Value p1 = HueAsBig(one, big_[0], [&] { return gr_ - b_; });
    Value two = IsPositive(gr_);
    Value p2 = HueAsMiddle(
        two, big_[1], small_[0], [&] { return b_ - gr_; }, [&] { return r_ - gr_; });
    Value p3 = HueAsSmall(IsPositive(gr_), big_[1], small_[2], true, [&] { return gr_ - b_; });
    Value four = IsPositive(b_);
    Value p4 = HueAsMiddle(
        four, big_[2], small_[0], [&] { return b_ - gr_; }, [&] { return b_ - r_; });
    Value p5 = HueAsSmall(IsPositive(b_), big_[2], small_[1], false, [&] { return b_ - gr_; });
    return Sum({p1, p2, p3, p4, p5});
  }
  Value OfHueByGreen() {
    Value p1 = HueAsBig(IsPositive(gr_), big_[1], [&] { return b_ - r_; });
    Value p2 = HueAsMiddle(
        IsPositive(r_), big_[0], small_[1], [&] { return r_ - b_; }, [&] { return r_ - gr_; });
    Value p3 = HueAsSmall(IsPositive(r_), big_[0], small_[2], false, [&] { return r_ - b_; });
    Value p4 = HueAsMiddle(
        IsPositive(b_), big_[2], small_[1], [&] { return r_ - b_; }, [&] { return b_ - gr_; });
    Value p5 = HueAsSmall(IsPositive(b_), big_[2], small_[0], true, [&] { return b_ - r_; });
    return Sum({p1, p2, p3, p4, p5});
  }
  Value OfHueByBlue() {
    Value p1 = HueAsBig(IsPositive(b_), big_[2], [&] { return r_ - gr_; });
    Value p2 = HueAsMiddle(
        IsPositive(r_), big_[0], small_[2], [&] { return gr_ - r_; }, [&] { return r_ - b_; });
    Value p3 = HueAsSmall(IsPositive(r_), big_[0], small_[1], true, [&] { return r_ - gr_; });
    Value p4 = HueAsMiddle(
        IsPositive(gr_), big_[1], small_[2], [&] { return gr_ - r_; }, [&] { return gr_ - b_; });
    Value p5 = HueAsSmall(IsPositive(gr_), big_[1], small_[0], false, [&] { return gr_ - r_; });
    return Sum({p1, p2, p3, p4, p5});
  }
  // Returns one term of the derivative of the hue with respect to a channel: that for pixels where
  // the channel is the largest.
  Value HueAsBig(const Value& positive, const Value& big, llvm::function_ref<Value()> difference) {
    Value scaled = positive * big * -1;
    Value part = scaled * difference();
    Value by_saturation = part * Inverse(Square(saturation_));
    return 60 * (by_saturation * Inverse(Square(value_)));
  }
  Value HueAsMiddle(const Value& positive, const Value& big, const Value& small,
                    llvm::function_ref<Value()> numerator,
                    llvm::function_ref<Value()> denominator) {
    Value part = positive * big * small;
    Value scaled = part * numerator();
    return 60 * (scaled * Inverse(Square(denominator())));
  }

  // Returns the incoming gradient of one channel of HSV, times the derivatives of this channel with
  // respect to red, green and blue.
  Value Join(int64_t channel, llvm::ArrayRef<Value> derivatives) {
    Values parts;
    for (const Value& derivative : derivatives)
      parts.push_back(Channel(g_.dy(), channel) * derivative);
    return g_.Op("Pack", {parts}, {{"axis", -1}}, "stack");
  }

  G& g_;
  const DataType dtype_;
  Value r_, gr_, b_, saturation_, value_, big_[3], small_[3];
};
GRAPNEL_GRADIENT("RGBToHSV", [](G& g) { return HsvGradient(g).Make(); });

// --- Projective transforms: applies the inverse transforms to the gradient.

InputGradients ProjectiveTransformOf(G& g) {
  Value transforms = g.x(1);
  Shape shape = transforms.shape();
  if (!shape.known_rank() || shape.rank() < 1 || shape.rank() > 2)
    return g.Fail("its transforms must be a vector or a matrix, of known rank");
  if (shape.rank() == 1) transforms = Slice(transforms, {kNewAxis});
  transforms = g.Reshape(transforms, std::vector<int>{-1, 8});
  Value count = g.At(g.ShapeOf(transforms), 0);
  Value ones = g.Ones(std::vector<Operand>{count, 1}, proto::DT_FLOAT);
  Value matrices = g.Reshape(g.Concat({transforms, ones}, 1), std::vector<int>{-1, 3, 3});
  Value inverse = g.Reshape(g.Op("MatrixInverse", {matrices}), std::vector<int>{-1, 9});
  Value scaled = inverse / Slice(inverse, {kAll, Span(8, 9)});
  Value back = Slice(scaled, {kAll, Span({}, 8)});
  std::vector<Operand> operands = {g.dy(), back, g.Cut(g.ShapeOf(g.x(0)), 1, 3)};
  if (g.num_inputs() == 4) operands.push_back(0.0);
  return {g.Op(g.node().op(), operands, g.Attrs({"interpolation", "fill_mode"}))};
}
GRAPNEL_GRADIENT("ImageProjectiveTransformV2", ProjectiveTransformOf);
GRAPNEL_GRADIENT("ImageProjectiveTransformV3", ProjectiveTransformOf);

// --- Fake quantization.

GRAPNEL_GRADIENT("FakeQuantWithMinMaxArgs", [](G& g) -> InputGradients {
  return {g.Op("FakeQuantWithMinMaxArgsGradient", {g.dy(), g.x()},
               g.Attrs({"min", "max", "num_bits", "narrow_range"}))};
});
InputGradients FakeQuantOf(G& g, const char* op) {
  Operation made =
      g.Op(op, {g.dy(), g.x(0), g.x(1), g.x(2)}, g.Attrs({"num_bits", "narrow_range"}));
  return {made.output(0), made.output(1), made.output(2)};
}
GRAPNEL_GRADIENT("FakeQuantWithMinMaxVars",
                 [](G& g) { return FakeQuantOf(g, "FakeQuantWithMinMaxVarsGradient"); });
GRAPNEL_GRADIENT("FakeQuantWithMinMaxVarsPerChannel",
                 [](G& g) { return FakeQuantOf(g, "FakeQuantWithMinMaxVarsPerChannelGradient"); });
GRAPNEL_NO_GRADIENT("FakeQuantWithMinMaxArgsGradient");
GRAPNEL_NO_GRADIENT("FakeQuantWithMinMaxVarsGradient");
GRAPNEL_NO_GRADIENT("FakeQuantWithMinMaxVarsPerChannelGradient");
GRAPNEL_GRADIENT("QuantizeAndDequantizeV4", [](G& g) -> InputGradients {
  Operation made =
      g.Op("QuantizeAndDequantizeV4Grad", {g.dy(), g.x(0), g.x(1), g.x(2)}, g.Attrs({"axis"}));
  return {made.output(0), made.output(1), made.output(2)};
});

// This op is linear in the gradient that it takes, so its own gradient is the same op: zeros where
// the values are outside the range. TensorFlow's rule for it fails.
GRAPNEL_GRADIENT(
    "QuantizeAndDequantizeV4Grad",
    [](G& g) -> InputGradients {
      return {g.Op("QuantizeAndDequantizeV4Grad", {g.dy(0), g.x(1), g.x(2), g.x(3)},
                   g.Attrs({"axis"}))};
    },
    0b110);

}  // namespace
}  // namespace grapnel
