// Linear algebra, segments, images.
#include "grapnel/trace/image_ops.h"
#include "programs.h"

namespace grapnel {
namespace {

Values SolveAndDet(Tracer&, Value a, Value b) {
  Value x = Solve(a, b);
  Value det = Det(a);
  Value inverse = Inv(a);
  return {x, det, inverse, Trace(a)};
}
PROGRAM(SolveAndDet, {{"a", kFloat, {3, 3}}, {"b", kFloat, {3, 2}}});

Values CholeskyLogDet(Tracer&, Value a) {
  Value factor = Cholesky(a);
  Value diagonal = DiagPart(factor);
  return {2.0f * ReduceSum(Log(diagonal)), factor};
}
PROGRAM(CholeskyLogDet, {{"a", kFloat, {4, 4}}});

Values EinsumAndNorms(Tracer&, Value x, Value y, Value z) {
  Value product = Einsum("bij,bjk->bik", {x, y});
  Value outer = Einsum("ij,kj->ik", {z, z});
  Value lower = BandPart(z, -1, 0);
  Value norm = Norm(z);
  return {product, outer, lower, norm, MatVec(z, Slice(z, {0}))};
}
PROGRAM(EinsumAndNorms,
        {{"x", kFloat, {2, 3, 4}}, {"y", kFloat, {2, 4, 5}}, {"z", kFloat, {3, 3}}});

Values SegmentMeans(Tracer& t, Value x) {
  Value ids = t.Constant({0, 0, 1, 2, 2});
  Value mean = SegmentMean(x, ids);
  return {mean, SegmentMax(x, ids)};
}
PROGRAM(SegmentMeans, {{"x", kFloat, {5, 2}}});

Values UnsortedSegments(Tracer& t, Value x, Value ids) {
  Value total = UnsortedSegmentSum(x, ids, 3);
  Value added = TensorScatterNdAdd(x, {{1}, {3}}, {1.0f, 2.0f});
  return {total, added, ScatterNd(t, {{0}, {2}}, {5.0f, 6.0f}, {4})};
}
PROGRAM(UnsortedSegments, {{"x", kFloat, {6}}, {"ids", kInt32, {6}}});

Values Colors(Tracer&, Value x) {
  Value bounded = x / ReduceMax(x);
  Value hsv = image::RgbToHsv(bounded);
  Value back = image::HsvToRgb(hsv);
  return {hsv, back, Reverse(x, {2})};
}
PROGRAM(Colors, {{"x", kFloat, {1, 4, 4, 3}}});

Values ResizeAndPatch(Tracer&, Value x) {
  Value larger = image::Resize(x, 6, 8);
  Value nearest = image::Resize(x, 2, 2, image::Method::kNearest);
  Value deep = image::SpaceToDepth(x, 2);
  return {larger, nearest, image::DepthToSpace(deep, 2), deep};
}
PROGRAM(ResizeAndPatch, {{"x", kFloat, {1, 4, 4, 2}}});

}  // namespace
}  // namespace grapnel
