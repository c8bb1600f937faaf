// Shapes and data movement: identities, reshapes, concatenations, slices, pads, permutations.
#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- Ops whose output is their input, or its quantized values.

InputGradients AsItCame(G& g) { return {g.gradient()}; }
GRAPNEL_GRADIENT("Identity", AsItCame);
GRAPNEL_GRADIENT("PlaceholderWithDefault", AsItCame);
GRAPNEL_GRADIENT("RefIdentity", AsItCame);
GRAPNEL_GRADIENT("QuantizeAndDequantize", AsItCame);
GRAPNEL_GRADIENT("QuantizeAndDequantizeV2", AsItCame);
GRAPNEL_GRADIENT("QuantizeAndDequantizeV3", AsItCame);
GRAPNEL_GRADIENT("EnsureShape", AsItCame);
GRAPNEL_GRADIENT("DebugIdentityV2", AsItCame);
GRAPNEL_GRADIENT("DebugGradientIdentity", AsItCame);
GRAPNEL_GRADIENT("DebugGradientRefIdentity", AsItCame);
GRAPNEL_GRADIENT("Print", AsItCame);
GRAPNEL_GRADIENT("IdentityN", [](G& g) {
  InputGradients gradients;
  for (int i = 0; i < g.num_outputs(); ++i) gradients.push_back(g.gradient(i));
  return gradients;
});

GRAPNEL_REFUSED_GRADIENT("_EagerConst", "it must never be in a graph");

GRAPNEL_GRADIENT("PreventGradient", [](G& g) {
  return g.Fail("its gradient must not be requested: " + g.node().GetString("message"));
});

InputGradients CheckNumericsOf(G& g) {
  std::string message = "Not a number (NaN) or infinity (Inf) values detected in gradient. b'" +
                        g.node().GetString("message") + "'";
  return {g.Op(g.node().op(), {g.dy()}, {{"message", llvm::StringRef(message)}})};
}
GRAPNEL_GRADIENT("CheckNumerics", CheckNumericsOf);
GRAPNEL_GRADIENT("CheckNumericsV2", CheckNumericsOf);

// --- Shapes.

InputGradients ReshapeToInput(G& g) { return {g.Reshape(g.dy(), g.ShapeOf(g.x(0)))}; }
GRAPNEL_GRADIENT("ExpandDims", ReshapeToInput);
GRAPNEL_GRADIENT("Squeeze", ReshapeToInput);

InputGradients ReshapeOf(G& g) {
  Shape shape = g.x(0).shape();
  if (shape.known_rank() && !shape.IsFullyKnown() && !llvm::is_contained(shape.dims(), 0)) {
    // If one dimension is unknown, the new shape is a constant with -1 in place of that dimension.
    std::vector<int> dims;
    for (int64_t dim : shape.dims()) dims.push_back(dim < 0 ? -1 : static_cast<int>(dim));
    if (llvm::count(dims, -1) == 1) return {g.Reshape(g.dy(), dims)};
  }
  return ReshapeToInput(g);
}
GRAPNEL_GRADIENT("Reshape", ReshapeOf);

InputGradients TransposeOf(G& g, bool conjugate) {
  Value dy = g.dy();
  Value back = g.Op("InvertPermutation", {g.x(1)});
  return {g.Transpose(dy, back, conjugate)};
}
GRAPNEL_GRADIENT("Transpose", [](G& g) { return TransposeOf(g, false); });
GRAPNEL_GRADIENT("ConjugateTranspose", [](G& g) { return TransposeOf(g, true); });

InputGradients TileOf(G& g) {
  Value times = g.x(1);
  Value shape = g.ShapeOf(g.x(0), times.dtype());
  Value pairs = g.Stack({times, shape});
  Value flat = g.Transpose(pairs, std::vector<int>{1, 0});
  Value split_shape = g.Reshape(flat, std::vector<int>{-1});
  Value axes = g.Range(0, g.Size(split_shape), 2);
  Gradient gradient = g.gradient();
  if (gradient.is_slices()) {
    // Tile repeats each row, so slices of all copies of a row are summed first. The sum over the
    // copies along the other axes follows.
    Value rows = Cast(g.At(shape, 0), gradient.indices.dtype());
    Value source = g.Op("FloorMod", {gradient.indices, rows});
    gradient = g.Op("UnsortedSegmentSum", {gradient.values, source, rows});
    split_shape = g.Concat({std::vector<int>{1}, g.Cut(split_shape, 1, G::kEnd)}, 0);
  }
  return {ReduceSum(g.Reshape(gradient.values, split_shape), axes)};
}
GRAPNEL_GRADIENT("Tile", TileOf);

InputGradients BroadcastToOf(G& g) {
  Value shape = g.x(1);
  Value x_shape = g.ShapeOf(g.x(0), shape.dtype());
  if (auto dims = g.IntegersOf(shape)) shape = g.ConstantInts(*dims, shape.dtype());
  BroadcastAxes axes = AxesOf(g, shape, x_shape);
  Value sum = ReduceSum(g.dy(), axes.y, /*keep_dims=*/true);
  return {g.Reshape(sum, x_shape)};
}
GRAPNEL_GRADIENT("BroadcastTo", BroadcastToOf);

InputGradients FillOf(G& g) { return {Gradient(), ReduceSum(g.dy())}; }
GRAPNEL_GRADIENT("Fill", FillOf);

// --- Concatenation.

InputGradients PackOf(G& g) {
  Values parts = g.Unstack(g.dy(), g.node().GetInt("N"), static_cast<int>(g.node().GetInt("axis")));
  return InputGradients(parts.begin(), parts.end());
}
GRAPNEL_GRADIENT("Pack", PackOf);

InputGradients UnpackOf(G& g) {
  Values parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
  return {g.Op("Pack", {parts}, {{"axis", g.node().GetInt("axis")}}, "stack")};
}
GRAPNEL_GRADIENT("Unpack", UnpackOf);

// Returns the shapes of the inputs: constants if all are known, else the outputs of one ShapeN.
// Nodes made before the first unknown shape then stay unread, as in TensorFlow.
Values InputShapes(G& g, const Values& inputs) {
  Values sizes;
  for (const Value& input : inputs) {
    Value shape = g.ShapeOf(input);
    if (!input.shape().IsFullyKnown()) return g.ShapeN(inputs);
    sizes.push_back(shape);
  }
  return sizes;
}

Value AxisFromFront(const Value& axis, const Value& input) { return axis % Rank(input); }

Values ConcatParts(G& g, const Values& inputs, const Value& axis) {
  Value dy = g.dy();
  Value positive = AxisFromFront(axis, inputs[0]);
  Values sizes = InputShapes(g, inputs);
  Values parts;
  if (sizes.size() > 16) {
    Value all = g.Op("Pack", {sizes}, {{"axis", 1}}, "stack");
    Value cut;
    {
      auto scope = g.Scope("Slice");
      Value begin = g.Stack({positive, 0}, 0, "begin");
      cut = g.Exact("Slice", {all, begin, std::vector<int>{1, -1}});
    }
    Value lengths = g.Op("Squeeze", {cut});
    int64_t count = static_cast<int64_t>(sizes.size());
    Operation split = g.Op("SplitV", {dy, lengths, positive}, {{"num_split", count}}, "split");
    for (int i = 0; i < count; ++i) parts.push_back(split.output(i));
    return parts;
  }
  Operation offsets = g.Op("ConcatOffset", {positive, sizes});
  for (size_t i = 0; i < sizes.size(); ++i)
    parts.push_back(g.Op("Slice", {dy, offsets.output(static_cast<int>(i)), sizes[i]}));
  return parts;
}

// The gradient of a concatenation along axis 0, as slices: each slice goes to the input that
// contains its row.
InputGradients ConcatRows(G& g, const Values& inputs, const Value& axis) {
  const Gradient& gradient = g.gradient();
  Value positive = AxisFromFront(axis, inputs[0]);
  Values sizes;
  for (const Value& input : inputs) sizes.push_back(g.ShapeOf(input));
  Value start = g.Constant(0, gradient.indices.dtype());
  InputGradients parts;
  for (const Value& size : sizes) {
    Value rows = Cast(g.Gather(size, positive), gradient.indices.dtype());
    Value end = start + rows;
    Value behind = gradient.indices >= start;
    Value before = gradient.indices < end;
    Value is_here = g.Op("LogicalAnd", {behind, before});
    Value chosen = g.Squeeze(g.Scoped("Where", {is_here}), {1});
    Value indices = g.Gather(gradient.indices, chosen) - start;
    Value values = g.Gather(gradient.values, chosen);
    parts.push_back(Gradient(values, indices, size));
    start = end;
  }
  return parts;
}

// The gradient of a concatenation along another axis, as slices: each input gets a part of each
// slice.
InputGradients ConcatColumns(G& g, const Values& inputs, const Value& axis) {
  const Gradient& gradient = g.gradient();
  Value positive = AxisFromFront(axis, inputs[0]);
  Values sizes;
  for (const Value& input : inputs) sizes.push_back(g.ShapeOf(input));
  Value rank = g.ShapeOf(sizes[0]);
  Value front = g.Zeros(g.ExpandDims(positive, 0), proto::DT_INT32);
  Value behind = rank - positive;
  Value back = g.Zeros(behind - 1, proto::DT_INT32);
  Value mask = g.Concat({front, std::vector<int>{1}, back}, 0);
  Value begin = g.Zeros(rank, proto::DT_INT32);
  InputGradients parts;
  for (const Value& size : sizes) {
    Value tail = g.Op("Slice", {size, std::vector<int>{1}, std::vector<int>{-1}});
    Value extent = g.Concat({std::vector<int>{-1}, tail}, 0);
    Value values = g.Op("Slice", {gradient.values, begin, extent});
    parts.push_back(Gradient(values, gradient.indices, size));
    begin = g.Scoped("AddV2", {begin, size * mask}, {}, "Add");
  }
  return parts;
}

InputGradients ConcatOf(G& g, bool axis_first) {
  int count = g.num_inputs() - 1;
  Value axis = g.x(axis_first ? 0 : count);
  Values inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(g.x(axis_first ? i + 1 : i));
  InputGradients parts;
  if (count == 1) {
    parts = {g.gradient()};
  } else if (g.gradient().is_slices()) {
    auto known = g.IntegersOf(axis);
    if (!known || (*known)[0] < 0 || (*known)[0] > 0) {
      Shape shape = inputs[0].shape();
      int64_t at = !known                                  ? -1
                   : (*known)[0] < 0 && shape.known_rank() ? (*known)[0] + shape.rank()
                                                           : (*known)[0];
      if (at < 0)
        return g.Fail(
            "its incoming gradient consists of slices, so its axis must be known while tracing");
      parts = at == 0 ? ConcatRows(g, inputs, axis) : ConcatColumns(g, inputs, axis);
    } else {
      parts = ConcatRows(g, inputs, axis);
    }
  } else {
    Values values = ConcatParts(g, inputs, axis);
    parts.assign(values.begin(), values.end());
  }
  if (axis_first) parts.insert(parts.begin(), Gradient());
  return parts;
}
GRAPNEL_GRADIENT("Concat", [](G& g) { return ConcatOf(g, true); });
GRAPNEL_GRADIENT("ConcatV2", [](G& g) { return ConcatOf(g, false); });

Value JoinOutputs(G& g, const Value& axis) {
  std::vector<Operand> parts;
  parts.reserve(g.num_outputs());
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
  return g.Concat(parts, axis);
}
GRAPNEL_GRADIENT("Split", [](G& g) -> InputGradients {
  return {Gradient(), JoinOutputs(g, g.x(0))};
});
GRAPNEL_GRADIENT("SplitV", [](G& g) -> InputGradients { return {JoinOutputs(g, g.x(2))}; });

// --- Slices and pads.

InputGradients SliceOf(G& g) {
  Value x = g.x(0), begin = g.x(1);
  Value rank = Rank(x);
  Value size = g.ShapeOf(g.y(), begin.dtype());
  Value column = g.Stack({rank, 1});
  Value before = g.Reshape(begin, column);
  Value shape = g.ShapeOf(x, begin.dtype());
  Value rest = shape - size;
  Value behind = g.Reshape(rest - begin, column);
  return {g.Op("Pad", {g.dy(), g.Concat({before, behind}, 1)})};
}
GRAPNEL_GRADIENT("Slice", SliceOf);

const char* const kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                              "shrink_axis_mask"};

// Returns a constant if the elements of x are known while tracing, else x.
Operand KnownOr(G& g, const Value& x) {
  auto known = g.IntegersOf(x);
  if (!known) return x;
  return Literal::Integers(x.dtype(), {static_cast<int64_t>(known->size())}, *known);
}

InputGradients StridedSliceOf(G& g) {
  Value shape = g.ShapeOf(g.x(0), g.x(1).dtype());
  return {
      g.Op("StridedSliceGrad",
           {KnownOr(g, shape), KnownOr(g, g.x(1)), KnownOr(g, g.x(2)), KnownOr(g, g.x(3)), g.dy()},
           g.Attrs(kMasks))};
}
GRAPNEL_GRADIENT("StridedSlice", StridedSliceOf);

GRAPNEL_GRADIENT("StridedSliceGrad", [](G& g) -> InputGradients {
  Value gradient = g.Op("StridedSlice", {g.dy(), g.x(1), g.x(2), g.x(3)}, g.Attrs(kMasks));
  return {Gradient(), Gradient(), Gradient(), Gradient(), gradient};
});

InputGradients StridedUpdateOf(G& g) {
  Value begin = g.x(1), end = g.x(2), strides = g.x(3);
  Value cut = g.Op("StridedSlice", {g.dy(), begin, end, strides}, g.Attrs(kMasks));
  Value zeros = g.ZerosLike(cut);
  Value gx =
      g.Op("TensorStridedSliceUpdate", {g.dy(), begin, end, strides, zeros}, g.Attrs(kMasks));
  Value slice_shape = g.ShapeOf(cut, begin.dtype());
  Value value_shape = g.ShapeOf(g.x(4), slice_shape.dtype());
  BroadcastAxes axes = AxesOf(g, slice_shape, value_shape);
  Value sum = ReduceSum(cut, axes.y, /*keep_dims=*/true);
  return {gx, Gradient(), Gradient(), Gradient(), g.Reshape(sum, value_shape)};
}
GRAPNEL_GRADIENT("TensorStridedSliceUpdate", StridedUpdateOf);

InputGradients PadOf(G& g) {
  Value rank = Rank(g.x(0));
  Value extent = g.Stack({rank, 1});
  Value before = g.Op("Slice", {g.x(1), std::vector<int>{0, 0}, extent});
  Value begin = g.Reshape(before, std::vector<int>{-1});
  Value size = g.ShapeOf(g.x(0), begin.dtype());
  return {g.Op("Slice", {g.dy(), begin, size})};
}
GRAPNEL_GRADIENT("Pad", PadOf);
GRAPNEL_GRADIENT("PadV2", PadOf);

GRAPNEL_GRADIENT("MirrorPad", [](G& g) -> InputGradients {
  return {g.Op("MirrorPadGrad", {g.dy(), g.x(1)}, g.Attrs({"mode"}))};
});
GRAPNEL_GRADIENT("MirrorPadGrad", [](G& g) -> InputGradients {
  return {g.Op("MirrorPad", {g.dy(), g.x(1)}, g.Attrs({"mode"}))};
});

// --- Other data movement.

GRAPNEL_GRADIENT("ReverseSequence", [](G& g) -> InputGradients {
  return {g.Op("ReverseSequence", {g.dy(), g.x(1)}, g.Attrs({"seq_dim", "batch_dim"}))};
});
GRAPNEL_GRADIENT("Reverse", [](G& g) -> InputGradients {
  return {g.Op("Reverse", {g.dy(), g.x(1)})};
});
GRAPNEL_GRADIENT("ReverseV2", [](G& g) -> InputGradients {
  return {g.Op("ReverseV2", {g.dy(), g.x(1)})};
});
GRAPNEL_GRADIENT("Roll", [](G& g) -> InputGradients {
  Value dy = g.dy();
  Value back = -g.x(1);
  return {g.Op("Roll", {dy, back, g.x(2)})};
});

// The gradient is the inverse op `op`, with the same block size or shape.
InputGradients Undo(G& g, const char* op, llvm::ArrayRef<const char*> keys, int inputs,
                    llvm::StringRef name = {}) {
  std::vector<Operand> operands = {g.dy()};
  for (int i = 1; i < inputs; ++i) operands.push_back(g.x(i));
  return {g.Op(op, operands, g.Attrs(keys), name)};
}
// SpaceToBatch and BatchToSpace, which have one block size, are older forms of the ND ops, which
// have a block shape: the gradient uses the ND ops.
InputGradients UndoBlocks(G& g, const char* op) {
  int64_t size = g.node().GetInt("block_size");
  return {g.Op(op, {g.dy(), std::vector<int64_t>{size, size}, g.x(1)},
               {{"Tblock_shape", proto::DT_INT64}})};
}
GRAPNEL_GRADIENT("SpaceToBatch", [](G& g) { return UndoBlocks(g, "BatchToSpaceND"); });
GRAPNEL_GRADIENT("BatchToSpace", [](G& g) { return UndoBlocks(g, "SpaceToBatchND"); });
GRAPNEL_GRADIENT("SpaceToBatchND", [](G& g) { return Undo(g, "BatchToSpaceND", {}, 3); });
GRAPNEL_GRADIENT("BatchToSpaceND", [](G& g) { return Undo(g, "SpaceToBatchND", {}, 3); });
GRAPNEL_GRADIENT("SpaceToDepth", [](G& g) {
  return Undo(g, "DepthToSpace", {"block_size", "data_format"}, 1);
});
GRAPNEL_GRADIENT("DepthToSpace", [](G& g) {
  return Undo(g, "SpaceToDepth", {"block_size", "data_format"}, 1);
});

// --- Sizes, indices, constants and StopGradient: no gradient.

GRAPNEL_NO_GRADIENT("Const");
GRAPNEL_NO_GRADIENT("ConcatOffset");
GRAPNEL_NO_GRADIENT("EditDistance");
GRAPNEL_NO_GRADIENT("ZerosLike");
GRAPNEL_NO_GRADIENT("OnesLike");
GRAPNEL_NO_GRADIENT("StopGradient");
GRAPNEL_NO_GRADIENT("InvertPermutation");
GRAPNEL_NO_GRADIENT("Shape");
GRAPNEL_NO_GRADIENT("ShapeN");
GRAPNEL_NO_GRADIENT("Rank");
GRAPNEL_NO_GRADIENT("Size");
GRAPNEL_NO_GRADIENT("BroadcastGradientArgs");
GRAPNEL_NO_GRADIENT("OneHot");
GRAPNEL_NO_GRADIENT("Range");
GRAPNEL_NO_GRADIENT("LinSpace");

}  // namespace
}  // namespace grapnel
