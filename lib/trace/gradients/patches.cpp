// Patches of images and volumes.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// The gradient of a pixel is the sum over the patches that contain the pixel. To find them,
// extracts the patches of an image whose pixels are numbered.

InputGradients ImagePatchesOf(G& g) {
  std::vector<int64_t> sizes = g.node().GetInts("ksizes");
  Values in = g.Unstack(g.ShapeOf(g.x(), proto::DT_INT64), 4);
  Value out_shape = g.Cut(g.ShapeOf(g.y(), proto::DT_INT64), 1, 3);
  Values out = g.Unstack(out_shape, 2);
  Value batch = in[0], rows = in[1], columns = in[2], channels = in[3];
  Value pixels = rows * columns;
  Value end = pixels + 1;
  Value numbers;
  {
    auto scope = g.Scope("range");
    Value start = g.Constant(1, proto::DT_FLOAT, "start");
    Value step = g.Constant(1, proto::DT_FLOAT, "delta");
    numbers = g.Exact("Range", {start, Cast(end, proto::DT_FLOAT), step});
  }
  Value image = g.ReshapeTo(numbers, {1, rows, columns, 1});
  Value places =
      g.Op("ExtractImagePatches", {image}, g.Attrs({"ksizes", "strides", "rates", "padding"}));
  places = Cast(places, proto::DT_INT64);
  Value patches = g.ReshapeTo(g.dy(), {batch, out[0], out[1], sizes[1], sizes[2], channels});
  Value moved = g.Transpose(patches, std::vector<int>{1, 2, 3, 4, 0, 5});
  Value flat = g.ReshapeTo(moved, {-1, batch * channels});
  Value ids = g.Reshape(places, std::vector<int>{-1}) - 1;
  Value sums = g.Op("UnsortedSegmentSum", {flat, ids, pixels});
  Value whole = g.ReshapeTo(sums, {rows, columns, batch, channels});
  return {g.Transpose(whole, std::vector<int>{2, 0, 1, 3})};
}
GRAPNEL_GRADIENT("ExtractImagePatches", ImagePatchesOf);

// The gradient for a volume: the incoming gradient is multiplied by a sparse matrix of ones. The
// row of a one is an element of the volume, numbered from 1 (0 is the padding); its column is a
// position in the patches.
class VolumePatchesGradient {
 public:
  explicit VolumePatchesGradient(G& g) : g_(g), sizes_(g.node().GetInts("ksizes")) {}

  InputGradients Make() {
    if (!DimsOf(g_.x(), in_) || !DimsOf(g_.y(), out_))
      return g_.Fail(
          "its gradient needs the numbers of planes, rows and columns, which must be known while "
          "tracing");
    Value in_shape = g_.ShapeOf(g_.x());
    Value batch = g_.At(in_shape, 0);
    Value channels = g_.At(in_shape, 4);
    Value jacobian_indices = Indices();
    const int64_t elements = 1 + Product(in_), places = Product(out_) * PatchSize();
    Value ones = g_.Ones(llvm::ArrayRef<int64_t>(places), g_.dy().dtype());
    Value shape = Longs({elements, places});
    Operation jacobian = g_.Op("SparseSlice", {jacobian_indices, ones, shape, Longs({1, 0}),
                                               Longs({elements - 1, places})});
    std::vector<Operand> dims = {batch};
    for (int64_t dim : out_) dims.emplace_back(static_cast<int>(dim));
    for (int i : {1, 2, 3}) dims.emplace_back(static_cast<int>(sizes_[i]));
    dims.emplace_back(channels);
    Value patches = g_.ReshapeTo(g_.dy(), dims);
    Value moved = g_.Transpose(patches, std::vector<int>{1, 2, 3, 4, 5, 6, 0, 7});
    Value rows = g_.ReshapeTo(moved, {-1, batch * channels});
    Value sums = g_.Op("SparseTensorDenseMatMul",
                       {jacobian.output(0), jacobian.output(1), jacobian.output(2), rows});
    std::vector<Operand> whole;
    for (int64_t dim : in_) whole.emplace_back(static_cast<int>(dim));
    whole.emplace_back(batch);
    whole.emplace_back(channels);
    return {g_.Transpose(g_.ReshapeTo(sums, whole), std::vector<int>{3, 0, 1, 2, 4})};
  }

 private:
  static int64_t Product(const std::vector<int64_t>& dims) { return dims[0] * dims[1] * dims[2]; }
  int64_t PatchSize() const { return sizes_[1] * sizes_[2] * sizes_[3]; }
  Value Longs(llvm::ArrayRef<int64_t> values) { return g_.ConstantInts(values, proto::DT_INT64); }

  static bool DimsOf(const Value& x, std::vector<int64_t>& dims) {
    Shape shape = x.shape();
    if (!shape.known_rank() || shape.rank() != 5) return false;
    for (int i : {1, 2, 3}) {
      if (!shape.IsKnown(i)) return false;
      dims.push_back(shape.dim(i));
    }
    return true;
  }

  Value Numbers(int64_t begin, int64_t end, const std::vector<int64_t>& dims, int64_t depth) {
    Operand bounds[] = {Literal::Integers(proto::DT_INT64, {}, {begin}),
                        Literal::Integers(proto::DT_INT64, {}, {end}),
                        Literal::Integers(proto::DT_INT64, {}, {1})};
    std::vector<int> shape = {1};
    for (int64_t dim : dims) shape.push_back(static_cast<int>(dim));
    shape.push_back(static_cast<int>(depth));
    return g_.Reshape(g_.Op("Range", bounds, {{"Tidx", proto::DT_INT64}}), shape);
  }

  Value Indices() {
    Value elements = Numbers(1, 1 + Product(in_), in_, 1);
    Value from =
        g_.Op("ExtractVolumePatches", {elements}, g_.Attrs({"ksizes", "strides", "padding"}));
    Value to = Numbers(0, Product(out_) * PatchSize(), out_, PatchSize());
    Value from_column = g_.ExpandDims(from, -1);
    Value pairs = g_.Concat({from_column, g_.ExpandDims(to, -1)}, -1);
    return g_.Reshape(pairs, std::vector<int>{-1, 2});
  }

  G& g_;
  const std::vector<int64_t> sizes_;
  std::vector<int64_t> in_, out_;  // planes, rows, columns
};
GRAPNEL_GRADIENT("ExtractVolumePatches", [](G& g) { return VolumePatchesGradient(g).Make(); });

}  // namespace
}  // namespace grapnel
