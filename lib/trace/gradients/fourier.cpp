// Fourier transforms: of one direction by the other, scaled by the number of elements. Those of
// real tensors leave out half of the frequencies, which are added here.
#include <cmath>

#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// The elements that one transform is over.
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

// 1, -1, 1, ...
Value Alternating(G& g, const Value& length, DataType dtype) {
  Value odd = g.Range(0, length) % 2;
  return Cast(1 - 2 * odd, dtype);
}
// exp(-2 pi i j k / length)
Value Roots(G& g, const Value& length, DataType dtype) {
  Value row = g.ExpandDims(g.Range(0, length), 0);
  Value column = g.ExpandDims(g.Range(0, length), 1);
  Value products = Cast(row * column, dtype) / Cast(length, dtype);
  Value zero = g.Constant(0, RealOf(dtype));
  Value angle = g.Constant(-2 * std::acos(-1.0), RealOf(dtype));
  return Exp(g.Scoped("Complex", {zero, angle}, {{"Tout", dtype}}) * products);
}

InputGradients RealFftOf(G& g, const char* inverse, int rank) {
  Value dy = g.dy(), length = g.x(1);
  DataType dtype = dy.dtype(), real = RealOf(dtype);
  Value shape = g.ShapeOf(g.x(0));
  Value even = 1 - g.At(length, -1) % 2;
  Value is_even = Cast(even, dtype);
  Value last = g.At(shape, -1);
  // Of the frequencies that have no mirror image: the first, and the last where the length is even.
  Value first = g.CutLast(dy, {{0, 1}});
  Value middle = g.CutLast(dy, {{-1, G::kEnd}});
  if (rank == 2) {
    Value roots = Roots(g, g.At(shape, -2), dtype);
    first = g.MatMul(roots, g.Conj(first));
    middle = g.MatMul(roots, g.Conj(middle));
  }
  Value scaled = is_even * middle;
  Value unpaired = first + scaled * Alternating(g, last, dtype);
  Value size = Cast(TransformSize(g, g.x(0), rank), real);
  Value whole = g.Op(inverse, {dy, length}, {{"Treal", real}}) * size;
  Value both = whole + g.Scoped("Real", {unpaired}, {{"Tout", real}});
  return {0.5 * both};
}
GRAPNEL_GRADIENT("RFFT", [](G& g) { return RealFftOf(g, "IRFFT", 1); });
GRAPNEL_GRADIENT("RFFT2D", [](G& g) { return RealFftOf(g, "IRFFT2D", 2); });

InputGradients RealIfftOf(G& g, const char* forward, int rank) {
  Value dy = g.dy(), length = g.x(1);
  DataType real = dy.dtype(), dtype = ComplexOf(real);
  Value is_odd = g.At(length, -1) % 2;
  Value count = g.At(g.ShapeOf(g.x(0)), -1);
  // Each frequency but the first, and the last of an even length, stands for its mirror image too.
  Value paired = count - 2 + is_odd;
  Value twice = 2.0 * g.Ones(std::vector<Operand>{paired}, real);
  Value once = g.Ones(std::vector<Operand>{1 - is_odd}, real);
  Value mask = g.Concat({std::vector<float>{1}, twice, once}, 0);
  Value share = g.Op("Reciprocal", {Cast(TransformSize(g, dy, rank), real)});
  Value factors = Cast(share * mask, dtype);
  return {g.Op(forward, {dy, length}, {{"Tcomplex", dtype}}) * factors};
}
GRAPNEL_GRADIENT("IRFFT", [](G& g) { return RealIfftOf(g, "RFFT", 1); });
GRAPNEL_GRADIENT("IRFFT2D", [](G& g) { return RealIfftOf(g, "RFFT2D", 2); });

}  // namespace
}  // namespace grapnel
