#include "passes/auto_mixed_precision/lists.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel::auto_mixed_precision {
namespace {

// The ops common to both precisions, followed by those of one precision alone. TensorFlow has
// separate lists for each precision.
constexpr const char* kAllow[] = {"BatchMatMul",
                                  "BatchMatMulV2",
                                  "Conv2D",
                                  "Conv2DBackpropFilter",
                                  "Conv2DBackpropInput",
                                  "Conv3D",
                                  "Conv3DBackpropFilterV2",
                                  "Conv3DBackpropInputV2",
                                  "DepthwiseConv2dNative",
                                  "DepthwiseConv2dNativeBackpropFilter",
                                  "DepthwiseConv2dNativeBackpropInput",
                                  "Einsum",
                                  "MatMul"};

constexpr const char* kAllowHalf[] = {"BlockLSTM",
                                      "BlockLSTMGrad",
                                      "BlockLSTMGradV2",
                                      "BlockLSTMV2",
                                      "Conv3DBackpropFilter",
                                      "Conv3DBackpropInput",
                                      "CudnnRNN",
                                      "CudnnRNNBackprop",
                                      "CudnnRNNBackpropV2",
                                      "CudnnRNNBackpropV3",
                                      "CudnnRNNV2",
                                      "CudnnRNNV3",
                                      "FastUnsortedSegmentMax",
                                      "FusedConv2DBiasActivation",
                                      "FusedSparseConvGpuV2",
                                      "GRUBlockCell",
                                      "GRUBlockCellGrad",
                                      "LSTMBlockCell",
                                      "LSTMBlockCellGrad",
                                      "Mha",
                                      "MhaV2",
                                      "Pmlp",
                                      "Tmlp",
                                      "TmlpV2",
                                      "TmlpV3"};

constexpr const char* kAllowBfloat16[] = {"FusedPadConv2D"};

constexpr const char* kInfer[] = {"Add",
                                  "AddN",
                                  "AddV2",
                                  "AvgPool",
                                  "AvgPool3D",
                                  "AvgPool3DGrad",
                                  "AvgPoolGrad",
                                  "BiasAdd",
                                  "BiasAddGrad",
                                  "BiasAddV1",
                                  "Elu",
                                  "EluGrad",
                                  "Erf",
                                  "Erfc",
                                  "FloorDiv",
                                  "FusedBatchNormGradV2",
                                  "FusedBatchNormGradV3",
                                  "FusedBatchNormV2",
                                  "FusedBatchNormV3",
                                  "Inv",
                                  "LeakyRelu",
                                  "LeakyReluGrad",
                                  "Log",
                                  "Log1p",
                                  "LogSoftmax",
                                  "Mul",
                                  "Prod",
                                  "RealDiv",
                                  "Reciprocal",
                                  "Selu",
                                  "SeluGrad",
                                  "Sigmoid",
                                  "SigmoidGrad",
                                  "Softmax",
                                  "Softplus",
                                  "SoftplusGrad",
                                  "Softsign",
                                  "SoftsignGrad",
                                  "Sqrt",
                                  "Sub",
                                  "Tanh",
                                  "TanhGrad",
                                  "_FusedBatchNormEx"};

constexpr const char* kInferBfloat16[] = {"Mean", "Rsqrt", "Square", "SquaredDifference", "Sum"};

constexpr const char* kDeny[] = {"Exp",
                                 "Expm1",
                                 "L2Loss",
                                 "Pow",
                                 "SaveV2",
                                 "SoftmaxCrossEntropyWithLogits",
                                 "SparseSoftmaxCrossEntropyWithLogits"};

constexpr const char* kDenyHalf[] = {"Mean", "Sum"};

constexpr const char* kClear[] = {"Abs",
                                  "ArgMax",
                                  "ArgMin",
                                  "BatchToSpace",
                                  "BatchToSpaceND",
                                  "BroadcastTo",
                                  "Ceil",
                                  "CheckNumerics",
                                  "ClipByValue",
                                  "Concat",
                                  "ConcatV2",
                                  "DepthToSpace",
                                  "DynamicPartition",
                                  "DynamicStitch",
                                  "EnsureShape",
                                  "Enter",
                                  "Equal",
                                  "Exit",
                                  "ExpandDims",
                                  "Fill",
                                  "Floor",
                                  "Gather",
                                  "GatherNd",
                                  "GatherV2",
                                  "Greater",
                                  "GreaterEqual",
                                  "Identity",
                                  "IdentityN",
                                  "IsFinite",
                                  "IsInf",
                                  "IsNan",
                                  "Less",
                                  "LessEqual",
                                  "Max",
                                  "MaxPool",
                                  "MaxPool3D",
                                  "MaxPool3DGrad",
                                  "MaxPoolGrad",
                                  "MaxPoolGradGrad",
                                  "MaxPoolGradGradV2",
                                  "MaxPoolGradV2",
                                  "MaxPoolV2",
                                  "Maximum",
                                  "Merge",
                                  "Min",
                                  "Minimum",
                                  "MirrorPad",
                                  "MirrorPadGrad",
                                  "Neg",
                                  "NextIteration",
                                  "NotEqual",
                                  "OnesLike",
                                  "Pack",
                                  "Pad",
                                  "PadV2",
                                  "PreventGradient",
                                  "Rank",
                                  "Relu",
                                  "Relu6",
                                  "Relu6Grad",
                                  "ReluGrad",
                                  "Reshape",
                                  "ResizeNearestNeighbor",
                                  "ResizeNearestNeighborGrad",
                                  "Reverse",
                                  "ReverseSequence",
                                  "ReverseV2",
                                  "Round",
                                  "Select",
                                  "SelectV2",
                                  "Shape",
                                  "ShapeN",
                                  "Sign",
                                  "Slice",
                                  "Snapshot",
                                  "SpaceToBatch",
                                  "SpaceToBatchND",
                                  "SpaceToDepth",
                                  "Split",
                                  "SplitV",
                                  "Squeeze",
                                  "StopGradient",
                                  "StridedSlice",
                                  "StridedSliceGrad",
                                  "Switch",
                                  "TensorListConcat",
                                  "TensorListConcatLists",
                                  "TensorListConcatV2",
                                  "TensorListFromTensor",
                                  "TensorListGather",
                                  "TensorListGetItem",
                                  "TensorListPopBack",
                                  "TensorListPushBack",
                                  "TensorListPushBackBatch",
                                  "TensorListScatter",
                                  "TensorListScatterIntoExistingList",
                                  "TensorListScatterV2",
                                  "TensorListSetItem",
                                  "TensorListSplit",
                                  "TensorListStack",
                                  "Tile",
                                  "TopK",
                                  "TopKV2",
                                  "Transpose",
                                  "Unpack",
                                  "Where",
                                  "ZerosLike"};

constexpr const char* kClearHalf[] = {"MaxPool3DGradGrad", "OneHot", "Size"};

constexpr const char* kClearBfloat16[] = {"ResizeBilinear", "ScatterNd", "StatelessWhile", "While"};

template <size_t N>
void Insert(llvm::StringSet<>* set, const char* const (&ops)[N]) {
  for (const char* op : ops) set->insert(op);
}

// Ops in these lists that have no half kernel on the CPU.
constexpr const char* kNoHalfOnCpu[] = {"AvgPool3D",     "AvgPool3DGrad",     "MaxPool3D",
                                        "MaxPool3DGrad", "MaxPool3DGradGrad", "_FusedBatchNormEx"};

}  // namespace

OpLists ListsFor(Mode mode) {
  OpLists lists;
  Insert(&lists.allow, kAllow);
  Insert(&lists.infer, kInfer);
  Insert(&lists.deny, kDeny);
  Insert(&lists.clear, kClear);
  if (mode == Mode::kBf16) {
    Insert(&lists.allow, kAllowBfloat16);
    Insert(&lists.infer, kInferBfloat16);
    Insert(&lists.clear, kClearBfloat16);
  } else {
    Insert(&lists.allow, kAllowHalf);
    Insert(&lists.deny, kDenyHalf);
    Insert(&lists.clear, kClearHalf);
  }
  return lists;
}

bool HasCpuKernel(llvm::StringRef op, DataType type) {
  return type != proto::DT_HALF || !llvm::is_contained(kNoHalfOnCpu, op);
}

}  // namespace grapnel::auto_mixed_precision
