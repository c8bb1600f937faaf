// Simplifies arithmetic: what cancels goes, what is computed twice over is computed once, and what
// has a cheaper form gets it.
//
//   Before:  Neg(Neg(x)) * Neg(Neg(x)) -> y       After:  Square(x) -> y
//
// Nodes are looked at from the results back, and again when something near them changed. Each stage
// is a file of this folder; the first that has an answer for a node ends the visit. A stage either
// changes the node in place or makes another, "ArithmeticOptimizer/<Stage>_<node>" in the node's
// scope, which all readers then read. The node that was replaced stays where it is for the pruner.
//
// Refuses, beside what each stage says: shapes are not trusted of what is fed, unless
// arithmetic_optimization is AGGRESSIVE.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel::arithmetic {
namespace {

struct Stage {
  StageFn apply;
  std::vector<const char*> ops;
};

// In the order in which TensorFlow tries them.
const std::vector<Stage>& Stages() {
  static const std::vector<const char*> aggregates = {"Add", "AddV2", "AddN", "AccumulateNV2",
                                                      "RiscAdd"};
  static const std::vector<const char*> transposes = {"Transpose", "ConjugateTranspose"};
  static const std::vector<const char*> products = {"Mul", "MulNoNan"};
  static const std::vector<const char*> divisions = {"Div", "RealDiv", "TruncateDiv", "Xdivy"};
  static const std::vector<const char*> segment_reductions = {
      "SparseSegmentSum",   "SparseSegmentSumWithNumSegments",
      "SparseSegmentMean",  "SparseSegmentMeanWithNumSegments",
      "SparseSegmentSqrtN", "SparseSegmentSqrtNWithNumSegments"};
  static const std::vector<Stage> stages = {
      {RewriteAddOps, {"Add", "AddV2", "AddN"}},
      {FoldConjugateIntoTranspose, {"Conj", "Transpose", "ConjugateTranspose"}},
      {FoldMultiplyIntoConv, {"Conv2D", "Conv3D"}},
      {FoldTransposeIntoMatMul,
       {"MatMul", "SparseMatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"}},
      {HoistCommonFactor, aggregates},
      {MinimizeBroadcasts, {"Mul", "Add", "AddV2"}},
      {RemoveIdentityTranspose, transposes},
      {RemoveInvolution, {"Conj", "Reciprocal", "Invert", "Neg", "LogicalNot"}},
      {RemoveRedundantBitcast, {"Bitcast"}},
      {RemoveRedundantCast, {"Cast"}},
      {ReplacePackWithTileReshape, {"Pack"}},
      {ReplaceMulWithTile, {"Mul"}},
      {ReduceUpsamplingDims, {"Reshape"}},
      {RemoveRedundantReshape, {"Reshape", "BroadcastTo"}},
      {RemoveNegation, {"Add", "AddV2", "Sub"}},
      {ReplaceMulWithSquare, products},
      {RemoveLogicalNot, {"LogicalNot"}},
      {ReorderCastLike, {"Angle",          "Bucketize",
                         "Cast",           "CompareAndBitpack",
                         "Dequantize",     "HistogramFixedWidth",
                         "Imag",           "IsFinite",
                         "IsInf",          "IsNan",
                         "Quantize",       "QuantizeDownAndShrinkRange",
                         "QuantizeV2",     "QuantizedInstanceNorm",
                         "QuantizedRelu",  "QuantizedRelu6",
                         "QuantizedReluX", "Real",
                         "Requantize",     "InvertPermutation",
                         "Reverse",        "ReverseV2",
                         "Roll",           "Transpose",
                         "DepthToSpace",   "SpaceToDepth",
                         "BatchToSpace",   "BatchToSpaceND",
                         "SpaceToBatch",   "SpaceToBatchND",
                         "ExpandDims",     "Reshape",
                         "Squeeze",        "DebugGradientIdentity",
                         "DeepCopy",       "PreventGradient",
                         "Print",          "Snapshot",
                         "StopGradient",   "Identity",
                         "RefIdentity",    "AddN",
                         "AccumulateNV2"}},
      {SimplifyAggregation, aggregates},
      {HoistUnaryChains, {"Concat", "ConcatV2", "Split", "SplitV"}},
      {ConvertSqrtDiv, divisions},
      {RemoveIdempotent,
       {"CheckNumerics", "DebugGradientIdentity", "DeepCopy", "PreventGradient", "Print",
        "Snapshot", "StopGradient", "Identity", "AddN", "AccumulateNV2"}},
      {ConvertPow, {"Pow"}},
      {ConvertLog1p, {"Log"}},
      {ConvertLogSoftmax, {"Log"}},
      {OptimizeMaxOrMinOfMonotonic,
       {"Max", "Min", "ArgMax", "ArgMin", "MaxPool", "MaxPoolV2", "MaxPool3D", "MaxPoolWithArgmax",
        "FractionalMaxPool"}},
      {ConvertExpm1, {"Sub"}},
      {ComposeUnaryOps,
       {"Abs",  "Acos",   "Acosh", "Asin", "Asinh",      "Atan", "Atanh", "Ceil",
        "Cos",  "Cosh",   "Expm1", "Exp",  "Floor",      "Inv",  "Log",   "Log1p",
        "Neg",  "Rint",   "Round", "Sin",  "Reciprocal", "Sinh", "Rsqrt", "Sigmoid",
        "Sqrt", "Square", "Tan",   "Tanh", "Elu",        "Relu", "Relu6", "Selu"}},
      {RemoveStackSlice, {"StridedSlice", "Slice"}},
      {SimplifyEmbeddingLookup, segment_reductions},
      {RemoveCastIntoSegmentReduction, segment_reductions},
      {FuseSquaredDiff, {"Square"}},
  };
  return stages;
}

class ArithmeticOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Arithmetic arithmetic(edit);
    const std::vector<Stage>& stages = Stages();
    llvm::DenseMap<StringId, uint64_t> stages_of_op;
    StringTable& strings = edit.module().strings;
    for (size_t i = 0; i < stages.size(); ++i) {
      for (const char* op : stages[i].ops) stages_of_op[strings.Intern(op)] |= uint64_t{1} << i;
    }
    std::vector<NodeId> order = GrapplerOrder(edit.graph(), edit.ranks());
    edit.SetOrder(order);
    for (NodeId id : order) arithmetic.Enqueue(edit.graph().node(id));
    edit.TakeTouched();
    while (std::optional<NodeId> id = arithmetic.Pop()) {
      Node node = edit.graph().node(*id);
      // The op may change on the way through the stages.
      for (size_t i = 0; i < stages.size() && !arithmetic.stopped; ++i) {
        auto found = stages_of_op.find(node.op_id());
        if (found == stages_of_op.end()) break;
        if (!(found->second >> i & 1)) continue;
        Simplified by = stages[i].apply(arithmetic, node);
        if (by && by->node != node.id()) Replace(arithmetic, node, *by);
        if (arithmetic.is_open()) arithmetic.End();
        if (by) break;
      }
      if (arithmetic.stopped) break;
    }
    return Error::success();
  }

 private:
  static void Replace(Arithmetic& arithmetic, const Node& node, Port by) {
    if (!arithmetic.is_open()) return;
    Graph& graph = arithmetic.graph;
    arithmetic.Enqueue(graph.node(by.node));
    llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
    std::vector<Node> readers, waiting;
    for (const Use& use : uses) {
      Node reader = graph.node(use.node);
      if (arithmetic.IsPassedBy(reader, node)) continue;
      readers.push_back(reader);
      if (reader.input(use.slot).IsControl()) {
        waiting.push_back(reader);
      } else {
        arithmetic.edit.SetInput(reader, static_cast<int>(use.slot), by);
      }
    }
    for (const Node& reader : waiting) {
      arithmetic.edit.RemoveControl(reader, node);
      arithmetic.edit.AddControl(reader, graph.node(by.node));
    }
    arithmetic.edit.Used(node);
    llvm::sort(readers, [](const Node& a, const Node& b) { return a.name() < b.name(); });
    for (const Node& reader : readers) arithmetic.Enqueue(reader);
  }
};

}  // namespace

GRAPNEL_PASS(
    ArithmeticOptimizer,
    (PassInfo{
        "arithmetic_optimizer", "arithmetic", 11, true, false, "arithmetic_optimization",
        "simplifies arithmetic: removes what cancels, puts cheaper forms in place",
        "nodes that are fetched, fed or read elsewhere; shapes that are not known; some need a "
        "device or AGGRESSIVE"}),
    {"add_ops_rewrite", "a tree of additions becomes AddN"},
    {"compose_unary_ops", "elementwise ops in a row on a CPU become one _UnaryOpsComposition"},
    {"convert_expm1", "Exp(x) - 1 becomes Expm1"}, {"convert_log1p", "Log(1 + x) becomes Log1p"},
    {"convert_log_softmax", "Log(Softmax(x)) becomes LogSoftmax"},
    {"convert_pow", "powers of 2, 3, 1, 0.5, 0, -0.5 and -1 become cheaper ops"},
    {"convert_sqrt_div", "x / Sqrt(y) becomes x * Rsqrt(y)"},
    {"fold_conjugate_into_transpose", "Transpose and Conj become ConjugateTranspose, and back"},
    {"fold_multiply_into_conv", "scales the weights of a convolution instead of its input"},
    {"fold_transpose_into_matmul", "a matrix product transposes its operands itself"},
    {"fuse_squared_diff", "Square(x - y) becomes SquaredDifference"},
    {"hoist_common_factor", "x * a + x * b becomes x * (a + b); only when AGGRESSIVE"},
    {"hoist_unary_chains", "the same op on all inputs of Concat, or outputs of Split, runs once"},
    {"max_or_min_of_monotonic", "Max(Sqrt(x)) becomes Sqrt(Max(x))"},
    {"minimize_broadcasts", "adds and multiplies what is small first"},
    {"reduce_upsampling_dims", "upsampling by Tile with four dimensions instead of six"},
    {"remove_cast_into_segment_reduction", "indices of sparse segment reductions without a Cast"},
    {"remove_idempotent", "Identity(Identity(x)) and the like become one"},
    {"remove_identity_transpose", "transposes that cancel, or change nothing"},
    {"remove_involution", "Neg(Neg(x)) and the like become x"},
    {"remove_logical_not", "Not(x < y) becomes x >= y"},
    {"remove_negation", "x + -y becomes x - y"},
    {"remove_redundant_bitcast", "bitcasts to the same dtype, or one after the other"},
    {"remove_redundant_cast", "casts to the same dtype"},
    {"remove_redundant_reshape", "reshapes to the same shape, or one after the other"},
    {"remove_stack_slice", "a slice of a stack that is one of its inputs"},
    {"reorder_cast_like", "moves elements while they are small, then casts; needs a device"},
    {"replace_mul_with_square", "x * x becomes Square"},
    {"replace_mul_with_tile", "multiplying by ones that broadcasts becomes Tile"},
    {"replace_pack_with_tile_reshape", "stacking the same tensor becomes Tile and Reshape"},
    {"simplify_aggregation", "x + x becomes 2 * x"},
    {"simplify_embedding_lookup", "a sparse segment reduction reads the table itself"});

}  // namespace grapnel::arithmetic
