// Shape functions of collective ops and mesh ops, for the outputs of one member.
#include "lib/shape/functions.h"

namespace grapnel {
namespace {

void SameShape(ShapeContext& c) { c.Out(0, c.in(0)); }
void ShapeOfAttr(ShapeContext& c) {
  if (std::optional<Shape> shape = c.ShapeAttr("shape")) c.Out(0, *shape);
}
void ReceivedShape(ShapeContext& c) { c.Out(0, c.ShapeFrom(3)); }

// The first dimension of the output is f(first dimension, number of members); input 1 is the
// number.
template <typename F>
void WithRows(ShapeContext& c, F f) {
  Shape shape = c.WithRankAtLeast(0, 1);
  if (!shape.known_rank() || shape.rank() == 0) return;
  Dims dims(shape.dims().begin(), shape.dims().end());
  dims[0] = f(dims[0], c.SizeFrom(1));
  c.Out(0, Shape(dims));
}
void GatheredShape(ShapeContext& c) { WithRows(c, MulDims); }
void ScatteredShape(ShapeContext& c) { WithRows(c, DivDims); }

void AllToAllShape(ShapeContext& c) {
  Shape shape = c.in(0);
  if (!shape.known_rank()) return;
  auto joined = c.Axis(c.Int("concat_dimension"), shape.rank());
  auto split = c.Axis(c.Int("split_dimension"), shape.rank());
  int64_t count = c.Int("split_count");
  if (!joined || !split || count < 1) return;
  if (shape.IsKnown(*joined)) shape.set_dim(*joined, MulDims(shape.dim(*joined), count));
  if (shape.IsKnown(*split)) shape.set_dim(*split, DivDims(shape.dim(*split), count));
  c.Out(0, std::move(shape));
}

void FullShape(ShapeContext& c) {
  if (std::optional<Shape> shape = c.ShapeAttr("full_shape")) c.Out(0, *shape);
}
// This function does not parse `manual_sharding`, so with such an attribute every dimension of the
// output is unknown: the sharding may divide it.
void ShardShape(ShapeContext& c) {
  if (c.String("manual_sharding").empty())
    c.Out(0, c.in(0));
  else if (c.in(0).known_rank())
    c.Out(0, Shape(Dims(c.in(0).rank(), kUnknownDim)));
}

constexpr ShapeRule kRules[] = {
    {"XlaSpmdFullToShardShape", ShardShape},
    {"XlaSpmdShardToFullShape", FullShape},
    {"Relayout", SameShape},
    {"RelayoutLike", SameShape},
    {"CopyToMesh", SameShape},
    {"CopyToMeshGrad", SameShape},
    {"AllToAll", AllToAllShape},
    {"CollectivePermute", SameShape},
    {"CrossReplicaSum", SameShape},
    {"CollectiveReduce", SameShape},
    {"CollectiveReduceV2", SameShape},
    {"CollectiveReduceV3", SameShape},
    {"CollectiveAllToAllV2", SameShape},
    {"CollectiveAllToAllV3", SameShape},
    {"CollectiveBcastSend", SameShape},
    {"CollectiveBcastSendV2", SameShape},
    {"CollectiveBcastRecv", ShapeOfAttr},
    {"CollectiveBcastRecvV2", ReceivedShape},
    {"CollectiveGather", ShapeOfAttr},
    {"CollectiveGatherV2", GatheredShape},
    {"CollectiveReduceScatterV2", ScatteredShape},
    {"NcclAllReduce", SameShape},
    {"NcclReduce", SameShape},
    {"NcclBroadcast", ShapeOfAttr},
};

}  // namespace

llvm::ArrayRef<ShapeRule> CollectiveShapeRules() { return kRules; }

}  // namespace grapnel
