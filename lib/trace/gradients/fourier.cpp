// Fourier transforms: the gradient of one direction is the other direction, multiplied or divided
// by the number of elements. Transforms of real tensors omit half of the frequencies; the gradient
// adds their part.
#include <cmath>

#include "lib/trace/array_ops.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// The number of elements of one transform.
Value TransformSize(G& g, const Value& x, int rank) {
  return ReduceProd(g.Cut(g.ShapeOf(x), -rank, G::kEnd));
}
DataType RealOf(DataType dtype) {
  return dtype == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
}
DataType ComplexOf(DataType dtype) {
  return dtype == proto::DT_FLOAT ? proto::DT_COMPLEX64 : proto::DT_COMPLEX128;
}

InputGradients FftOf(G& g, const char* other, int rank) {
  Value size = Cast(TransformSize(g, g.dy(), rank), g.dy().dtype());
  return {g.Op(other, {g.dy()}) * size};
}
InputGradients IfftOf(G& g, const char* other, int rank) {
  DataType dtype = g.dy().dtype();
  Value share = 1.0 / Cast(TransformSize(g, g.dy(), rank), RealOf(dtype));
  share = Cast(share, dtype);
  return {g.Op(other, {g.dy()}) * share};
}
GRAPNEL_GRADIENT("FFT", [](G& g) { return FftOf(g, "IFFT", 1); });
GRAPNEL_GRADIENT("FFT2D", [](G& g) { return FftOf(g, "IFFT2D", 2); });
GRAPNEL_GRADIENT("FFT3D", [](G& g) { return FftOf(g, "IFFT3D", 3); });
GRAPNEL_GRADIENT("IFFT", [](G& g) { return IfftOf(g, "FFT", 1); });
GRAPNEL_GRADIENT("IFFT2D", [](G& g) { return IfftOf(g, "FFT2D", 2); });
GRAPNEL_GRADIENT("IFFT3D", [](G& g) { return IfftOf(g, "FFT3D", 3); });

// --- Real tensors.

// Returns the lengths of a transform: as a new constant if they are known while tracing, else
// `lengths`.
Value LengthsOf(G& g, const Value& lengths) {
  auto known = g.IntegersOf(lengths);
  return known ? g.ConstantInts(*known) : lengths;
}

// Pads `x` to the size that a transform of these lengths reads; an inverse transform reads half of
// the last length, plus one.
Value Padded(G& g, const Value& x, const Value& lengths, int rank, bool is_inverse) {
  Shape shape = x.shape();
  auto known = g.IntegersOf(lengths);
  auto is_known = [&](int i) { return shape.IsKnown(shape.rank() - rank + i); };
  bool all_known = known && shape.known_rank();
  for (int i = 0; all_known && i < rank; ++i) all_known = is_known(i);
  if (shape.known_rank() && llvm::is_contained(shape.dims(), 0)) return x;
  if (all_known) {
    if (is_inverse) known->back() = known->back() / 2 + 1;
    std::vector<int64_t> pads(2 * shape.rank(), 0);
    for (int i = 0; i < rank; ++i) {
      int at = shape.rank() - rank + i;
      pads[2 * at + 1] = std::max<int64_t>((*known)[i] - shape.dim(at), 0);
    }
    if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; })) return x;
    return g.Op("Pad", {x, g.MatrixConstant(pads, 2)});
  }
  Value input_rank = Rank(x);
  Value inner = g.Cut(g.ShapeOf(x), -rank, G::kEnd);
  Value outer_rank = g.Op("Maximum", {0, input_rank - rank});
  Value outer = g.Zeros(std::vector<Operand>{outer_rank}, proto::DT_INT32);
  Value wanted = lengths;
  if (is_inverse) {
    Value before = Slice(lengths, {Span({}, -1)});
    Value half = FloorDiv(Slice(lengths, {Span(-1)}), 2);
    wanted = g.Concat({before, half + 1}, 0);
  }
  Value missing = g.Op("Maximum", {0, wanted - inner});
  Value pads = g.Concat({outer, missing}, 0);
  return g.Op("Pad", {x, g.Stack({g.ZerosLike(pads), pads}, 1)});
}

// Returns how much of each inner dimension of x a transform reads, if this is known and less than
// the whole of x (TensorFlow's gradient fails then); else nullopt.
std::optional<std::vector<int64_t>> OtherLengths(G& g, int rank, bool is_inverse) {
  Shape shape = g.x(0).shape();
  auto read = g.IntegersOf(g.x(1));
  if (!read || !shape.known_rank() || shape.rank() < rank) return std::nullopt;
  if (is_inverse) read->back() = read->back() / 2 + 1;
  bool differs = false;
  for (int i = 0; i < rank; ++i) {
    int64_t dim = shape.dim(shape.rank() - rank + i);
    if (dim < 0) return std::nullopt;
    differs |= dim > (*read)[i];
  }
  return differs ? read : std::nullopt;
}
// Pads a gradient, which covers the part of x that the transform read, with zeros to the size of x.
Value FittedTo(G& g, const Value& gradient, const std::vector<int64_t>& read) {
  Shape shape = g.x(0).shape();
  const int rank = shape.rank(), outer = rank - static_cast<int>(read.size());
  std::vector<int64_t> pads(2 * rank, 0);
  for (int i = outer; i < rank; ++i)
    pads[2 * i + 1] = std::max<int64_t>(shape.dim(i) - read[i - outer], 0);
  return g.Op("Pad", {gradient, g.MatrixConstant(pads, 2)});
}

// The vector 1, -1, 1, ...
Value Alternating(G& g, const Value& length, DataType dtype) {
  Value odd = g.Range(0, length) % 2;
  return Cast(1 - 2 * odd, dtype);
}

Literal MinusTwoPiI(DataType dtype) {
  const double value = -2 * std::acos(-1.0);
  auto bytes = [](const auto& parts) {
    return llvm::StringRef(reinterpret_cast<const char*>(parts), sizeof(parts));
  };
  const float narrow[] = {0, static_cast<float>(value)};
  const double wide[] = {0, value};
  return Literal::Make(dtype, {}, dtype == proto::DT_COMPLEX64 ? bytes(narrow) : bytes(wide));
}
// The matrix of exp(-2 pi i j k / length), for row j and column k.
Value Roots(G& g, const Value& length, DataType dtype) {
  Value row = g.ExpandDims(g.Range(0, length), 0);
  Value rows = g.Op("Tile", {row, g.Stack({length, 1}, 0, "multiples")});
  Value columns = g.Transpose(rows, std::vector<int>{1, 0});
  Value products = Cast(rows * columns, dtype);
  Value turned = MinusTwoPiI(dtype) * products;
  return Exp(turned / Cast(length, dtype));
}
// Returns the matrix, repeated for each matrix in `like`.
Value ForEachMatrix(G& g, const Value& matrix, const Value& like) {
  Value rank = Rank(like);
  Value ones = g.Ones(std::vector<Operand>{rank - 2}, proto::DT_INT32);
  Value expanded = g.Reshape(matrix, g.Concat({ones, g.ShapeOf(matrix)}, 0));
  Value outer = g.Cut(g.ShapeOf(like), 0, -2);
  return g.Op("Tile", {expanded, g.Concat({outer, std::vector<int>{1, 1}}, 0)});
}

// The contribution of the frequencies without a mirror image: the first, and the last if the length
// is even.
Value Unpaired(G& g, const Value& shape, int rank) {
  Value dy = g.dy(), length = g.x(1);
  DataType dtype = dy.dtype();
  Value even = 1 - g.At(length, -1) % 2;
  Value is_even = Cast(even, dtype);
  Value first = Slice(dy, {kEllipsis, Span(0, 1)});
  if (rank == 1) {
    Value last = Slice(dy, {kEllipsis, Span(-1)});
    Value scaled = is_even * last;
    return first + scaled * Alternating(g, g.At(shape, -1), dtype);
  }
  Value roots = ForEachMatrix(g, Roots(g, g.At(shape, -2), dtype), first);
  Value of_first = g.MatMul(roots, g.Conj(first));
  Value last = Slice(dy, {kEllipsis, Span(-1)});
  Value of_last = g.MatMul(roots, g.Conj(last));
  Value columns = g.At(shape, -1);
  Value ones = g.Ones(std::vector<Operand>{Rank(dy) - 1}, proto::DT_INT32);
  Value tiled = g.Op("Tile", {of_last, g.Concat({ones, Values{columns}}, 0)});
  Value alternating = tiled * Alternating(g, columns, dtype);
  return of_first + is_even * alternating;
}

InputGradients RealFftOf(G& g, const char* inverse, int rank) {
  DataType real = RealOf(g.dy().dtype());
  auto other = OtherLengths(g, rank, false);
  Value shape = other ? g.ConstantInts(*other) : g.ShapeOf(g.x(0));
  Value unpaired = Unpaired(g, shape, rank);
  Value size = Cast(other ? ReduceProd(shape) : TransformSize(g, g.x(0), rank), real);
  Value padded = Padded(g, g.dy(), g.x(1), rank, true);
  Value whole = g.Op(inverse, {padded, LengthsOf(g, g.x(1))}, {{"Treal", real}});
  Value scaled = whole * size;
  Value both = scaled + g.Scoped("Real", {unpaired}, {{"Tout", real}});
  Value gradient = 0.5 * both;
  return {other ? FittedTo(g, gradient, *other) : gradient};
}
GRAPNEL_GRADIENT("RFFT", [](G& g) { return RealFftOf(g, "IRFFT", 1); });
GRAPNEL_GRADIENT("RFFT2D", [](G& g) { return RealFftOf(g, "IRFFT2D", 2); });

InputGradients RealIfftOf(G& g, const char* forward, int rank) {
  Value dy = g.dy();
  DataType real = dy.dtype(), dtype = ComplexOf(real);
  auto lengths = g.IntegersOf(g.x(1));
  Value is_odd = lengths ? g.Op("FloorMod", {static_cast<int>(lengths->back()), 2}).output()
                         : g.At(g.x(1), -1) % 2;
  auto other = OtherLengths(g, rank, true);
  Value shape = other ? g.ConstantInts(*other) : g.ShapeOf(g.x(0));
  Value count = g.At(shape, -1);
  // A frequency also stands for its mirror image, except the first frequency and, if the length is
  // even, the last.
  Value paired = count - 2 + is_odd;
  Value twice = 2.0 * g.Ones(std::vector<Operand>{paired}, real);
  Value once = g.Ones(std::vector<Operand>{1 - is_odd}, real);
  Value mask = g.Concat({std::vector<float>{1}, twice, once}, 0);
  Value share = g.Op("Reciprocal", {Cast(TransformSize(g, dy, rank), real)});
  Value padded = Padded(g, dy, g.x(1), rank, false);
  Value whole = g.Op(forward, {padded, LengthsOf(g, g.x(1))}, {{"Tcomplex", dtype}});
  Value gradient = whole * Cast(share * mask, dtype);
  return {other ? FittedTo(g, gradient, *other) : gradient};
}
GRAPNEL_GRADIENT("IRFFT", [](G& g) { return RealIfftOf(g, "RFFT", 1); });
GRAPNEL_GRADIENT("IRFFT2D", [](G& g) { return RealIfftOf(g, "RFFT2D", 2); });

}  // namespace
}  // namespace grapnel
