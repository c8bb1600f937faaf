#include "passes/layout/families.h"

#include <numeric>

#include "llvm/ADT/StringMap.h"

namespace grapnel::layout {
namespace {

struct Row {
  Family family;
  std::vector<const char*> ops;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {Family::kFirstInput,
       {"AvgPool", "Conv2D", "DepthwiseConv2dNative", "DepthToSpace", "FusedBatchNorm",
        "FusedBatchNormV2", "FusedBatchNormV3", "FusedConv2DBiasActivation", "MaxPool",
        "SpaceToDepth"}},
      {Family::kBiasAdd, {"BiasAdd"}},
      {Family::kBiasAddGrad, {"BiasAddGrad"}},
      {Family::kAvgPoolGrad, {"AvgPoolGrad"}},
      {Family::kConvBackpropFilter,
       {"Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"}},
      {Family::kConvBackpropInput, {"Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"}},
      {Family::kConv3D, {"Conv3D"}},
      {Family::kConv3DBackpropFilter, {"Conv3DBackpropFilterV2"}},
      {Family::kConv3DBackpropInput, {"Conv3DBackpropInputV2"}},
      {Family::kBatchNormEx, {"_FusedBatchNormEx"}},
      {Family::kBatchNormGrad,
       {"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"}},
      {Family::kMaxPoolV2, {"MaxPoolV2"}},
      {Family::kMaxPoolGrad, {"MaxPoolGrad", "MaxPoolGradGrad"}},
      {Family::kMaxPoolGradV2, {"MaxPoolGradV2", "MaxPoolGradGradV2"}},
      {Family::kElementwise, {"Abs",          "Acos",     "Acosh",
                              "Angle",        "Asin",     "Asinh",
                              "Atan",         "Atanh",    "Bitcast",
                              "Cast",         "Ceil",     "CheckNumerics",
                              "ComplexAbs",   "Conj",     "Cos",
                              "Cosh",         "Digamma",  "Elu",
                              "Enter",        "Erf",      "Erfc",
                              "Exit",         "Exp",      "Expm1",
                              "Floor",        "Identity", "GuaranteeConst",
                              "Imag",         "Inv",      "IsFinite",
                              "IsInf",        "IsNan",    "LeakyRelu",
                              "Lgamma",       "Log",      "Log1p",
                              "LogicalNot",   "Neg",      "NextIteration",
                              "OnesLike",     "Real",     "PreventGradient",
                              "Reciprocal",   "Relu",     "Relu6",
                              "Rint",         "Round",    "Rsqrt",
                              "Selu",         "Sigmoid",  "Sign",
                              "Sin",          "Sinh",     "Snapshot",
                              "Softplus",     "Sqrt",     "Square",
                              "StopGradient", "Tan",      "Tanh",
                              "ZerosLike"}},
      {Family::kAddN, {"AddN"}},
      {Family::kBinary,
       {"Add",
        "AddV2",
        "ApproximateEqual",
        "Atan2",
        "Complex",
        "Div",
        "Equal",
        "FloorDiv",
        "Greater",
        "GreaterEqual",
        "Igamma",
        "Igammac",
        "Less",
        "LessEqual",
        "LogicalAnd",
        "LogicalOr",
        "Maximum",
        "Minimum",
        "Mod",
        "Mul",
        "NotEqual",
        "Polygamma",
        "Pow",
        "RealDiv",
        "SquaredDifference",
        "Sub",
        "TruncateDiv",
        "TruncateMod",
        "Zeta"}},
      {Family::kConcat, {"Concat", "ConcatV2"}},
      {Family::kFill, {"Fill"}},
      {Family::kIdentityN, {"IdentityN"}},
      {Family::kMerge, {"Merge", "RefMerge", "_XlaMerge"}},
      {Family::kPad, {"MirrorPad", "MirrorPadGrad", "Pad"}},
      {Family::kReduce, {"All", "Any", "Max", "Mean", "Min", "Prod", "Sum"}},
      {Family::kReverse, {"ReverseV2"}},
      {Family::kSelect, {"Select", "SelectV2"}},
      {Family::kShape, {"Shape"}},
      {Family::kShapeN, {"ShapeN"}},
      {Family::kSlice, {"Slice"}},
      {Family::kSplit, {"Split"}},
      {Family::kSplitV, {"SplitV"}},
      {Family::kSqueeze, {"Squeeze"}},
      {Family::kStridedSlice, {"StridedSlice"}},
      {Family::kSwitch, {"Switch", "RefSwitch", "_SwitchN"}},
      {Family::kTernary, {"Betainc"}},
      {Family::kTile, {"Tile"}},
      {Family::kUnaryGrad,
       {"EluGrad", "InvGrad", "ReciprocalGrad", "Relu6Grad", "ReluGrad", "RsqrtGrad", "SeluGrad",
        "SigmoidGrad", "SoftplusGrad", "SoftsignGrad", "SqrtGrad", "TanhGrad"}},
  };
  return rows;
}

std::vector<int> Range(int first, int count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace

Family FamilyOf(llvm::StringRef op) {
  static const llvm::StringMap<Family> families = [] {
    llvm::StringMap<Family> map;
    for (const Row& row : Rows()) {
      for (const char* name : row.ops) map[name] = row.family;
    }
    return map;
  }();
  return families.lookup(op);
}

std::vector<int> DataInputs(const Node& node) {
  switch (FamilyOf(node)) {
    case Family::kAvgPoolGrad:
    case Family::kSplit:
      return {1};
    case Family::kBinary:
    case Family::kUnaryGrad:
      return {0, 1};
    case Family::kTernary:
    case Family::kSelect:
    case Family::kMaxPoolGrad:
    case Family::kMaxPoolGradV2:
      return {0, 1, 2};
    case Family::kShapeN:
    case Family::kIdentityN:
    case Family::kAddN:
    case Family::kMerge:
      return Range(0, node.num_inputs());
    case Family::kConcat:
      return Range(node.op() == "Concat" ? 1 : 0, node.num_inputs() - 1);
    default:
      return Range(0, node.num_inputs() > 0 ? 1 : 0);
  }
}

std::vector<int> DataOutputs(const Node& node) {
  switch (FamilyOf(node)) {
    case Family::kIdentityN:
    case Family::kShapeN:
      return Range(0, node.num_inputs());
    case Family::kSplit:
    case Family::kSplitV:
      return Range(0, static_cast<int>(node.GetInt("num_split")));
    case Family::kSwitch:
      return Range(0, static_cast<int>(node.GetInt("num_outs", 2)));
    default:
      return {0};
  }
}

}  // namespace grapnel::layout
