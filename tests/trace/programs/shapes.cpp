// Shapes, slices, gathers, masks.
#include "programs.h"

namespace grapnel {
namespace {

Values Slicing(Tracer&, Value x) {
  Value part = Slice(x, {Span(1), Span({}, {}, 2)});
  Value last = Slice(x, {kEllipsis, -1});
  Value column = Slice(x, {kAll, kNewAxis, 2});
  return {part, last, column, Slice(x, {Span({}, {}, -1), Span(1, -1)})};
}
PROGRAM(Slicing, {{"x", kFloat, {4, 6}}});

Values Reshaping(Tracer&, Value x) {
  Value flat = Reshape(x, {2, -1});
  Value turned = Transpose(x, {2, 0, 1});
  Value deep = ExpandDims(flat, 0);
  Value back = Squeeze(deep, {0});
  Value more = back + 1.0f;
  return {flat, turned, deep, more, Transpose(flat)};
}
PROGRAM(Reshaping, {{"x", kFloat, {2, 3, 4}}});

Values PadAndTile(Tracer&, Value x) {
  Value border = Pad(x, {{1, 1}, {0, 2}});
  Value mirrored = Pad(x, {{0, 0}, {1, 1}}, PadMode::kReflect);
  Value filled = Pad(x, {{0, 1}, {0, 0}}, PadMode::kConstant, 9.0f);
  return {border, mirrored, filled, Tile(x, {2, 1})};
}
PROGRAM(PadAndTile, {{"x", kFloat, {2, 3}}});

Values SplitAndConcat(Tracer&, Value x) {
  Values thirds = Split(x, 3, 1);
  Values parts = Split(x, std::vector<int>{1, 3}, 0);
  Values rows = Unstack(x);
  Value turned = Concat({thirds[2], thirds[1], thirds[0]}, 1);
  Value swapped = Concat({parts[1], parts[0]}, 0);
  return {turned, swapped, Stack({rows[0], rows[2]}, 1)};
}
PROGRAM(SplitAndConcat, {{"x", kFloat, {4, 6}}});

Values GatherRows(Tracer&, Value x, Value i, Value j) {
  Value rows = Gather(x, i);
  Value columns = Gather(x, i % 3, 1);
  return {rows, columns, GatherNd(x, j)};
}
PROGRAM(GatherRows, {{"x", kFloat, {5, 3}}, {"i", kInt32, {4}}, {"j", kInt32, {2, 2}}});

Values DynamicShape(Tracer& t, Value x) {
  Value n = Slice(ShapeOf(x), {0});
  Value index = Range(t, 0, n);
  Value filled = Fill(t, {n, 2}, 0.5f);
  Value wide = Concat({x, filled}, 1);
  Value zeros = Zeros(t, {n});
  Value ones = OnesLike(x);
  return {wide, index, zeros, ones, ReshapeTo(x, {n * 3})};
}
PROGRAM(DynamicShape, {{"x", kFloat, {kAny, 3}}});

Values Masks(Tracer&, Value i, Value x) {
  Value chosen = OneHot(i, 4);
  Value picked = ReduceSum(x * chosen, 1);
  Value kept = BooleanMask(x, picked > 0.0f);
  Value lengths = SequenceMask(i, 4);
  return {chosen, picked, Slice(ShapeOf(kept), {1}), lengths};
}
PROGRAM(Masks, {{"i", kInt32, {5}}, {"x", kFloat, {5, 4}}});

}  // namespace
}  // namespace grapnel
