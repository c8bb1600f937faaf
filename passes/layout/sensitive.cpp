// Ops with a data_format take the other one, between transposes of what they read and give.
//
//   Before:  x -> Conv2D c {data_format=NHWC, strides=[1,2,3,1]} -> y
//   After:   x -> Transpose -> c {data_format=NCHW, strides=[1,1,2,3]} -> Transpose -> y
//
// Sizes and windows that are inputs are permuted by DataFormatVecPermute; filters have no layout.
//
// Refuses: ops on another device, fetched ones, convolutions of integers, ranks that are not known.
#include "llvm/ADT/STLExtras.h"
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

constexpr const char* kRule = "convert_sensitive";

// The tensor of which the rank decides: an output, or an input where outputs say nothing.
Port DecidingPort(const Node& node, Family family) {
  switch (family) {
    case Family::kBiasAddGrad:
    case Family::kMaxPoolV2:
      return node.input(0);
    case Family::kAvgPoolGrad:
      return node.input(1);
    default:
      return {node.id(), 0};
  }
}

bool IsOfIntegers(const Node& node) {
  bool is_conv = node.op() == "Conv2D" || node.op() == "Conv3D";
  DataType type = node.GetType("T");
  return is_conv && !IsFloating(type) && !IsComplex(type);
}

// input_sizes of two elements are height and width, which keep their order.
bool HasFullSizes(const Conversion& conversion, const Node& node) {
  Shape sizes = conversion.ShapeOf(node.input(0));
  return sizes.known_rank() && sizes.rank() == 1 && sizes.IsKnown(0) && sizes.dim(0) == 4;
}

}  // namespace

const Formats* FormatsOfSensitive(Conversion& conversion, const Node& node) {
  Family family = FamilyOf(node);
  if (!IsSensitive(family) || node.num_inputs() == 0) return nullptr;
  int rank = conversion.RankOf(DecidingPort(node, family));
  bool takes_5 = family == Family::kFirstInput || family == Family::kBiasAdd ||
                 family == Family::kBiasAddGrad || family == Family::kBatchNormGrad;
  bool only_5 = family == Family::kConv3D || family == Family::kConv3DBackpropFilter ||
                family == Family::kConv3DBackpropInput;
  bool fits = rank == 5 ? takes_5 || only_5 : rank == 4 && !only_5;
  std::string format = node.GetString("data_format");
  // These say where the channels are, no more, and do so with the same letters for every rank.
  bool is_bias = family == Family::kBiasAdd || family == Family::kBiasAddGrad;
  int rank_of_format = is_bias ? 4 : rank;
  if (rank < 0) {
    conversion.edit.Refuse(kRule, node, "the rank of '{0}' is not known", node.name());
    return nullptr;
  }
  if (!fits || format != conversion.OfRank(rank_of_format).from) return nullptr;
  return &conversion.OfRank(rank);
}

bool ConvertSensitive(Conversion& conversion, const Node& node) {
  const Formats* formats = FormatsOfSensitive(conversion, node);
  if (!formats || !conversion.MayChange(kRule, node)) return false;
  Family family = FamilyOf(node);
  if (IsOfIntegers(node)) {
    conversion.edit.Refuse(kRule, node, "'{0}' is of integers", node.name());
    return false;
  }
  if (family == Family::kBatchNormGrad && !node.GetBool("is_training")) {
    conversion.edit.Refuse(kRule, node, "'{0}' is not of training", node.name());
    return false;
  }
  if (!conversion.edit.Begin(kRule, node)) {
    conversion.out_of_rewrites = true;
    return false;
  }
  bool is_bias = family == Family::kBiasAdd || family == Family::kBiasAddGrad;
  conversion.UpdateFormat(node, is_bias ? conversion.OfRank(4) : *formats);
  auto inputs = [&](llvm::ArrayRef<int> which, Conversion::Kind kind) {
    conversion.ConvertInputs(node, which, kind, *formats);
  };
  constexpr Conversion::Kind kTranspose = Conversion::kTranspose, kSizes = Conversion::kVecPermute;
  bool converts_output = true;
  switch (family) {
    case Family::kAvgPoolGrad:
      inputs({0}, kSizes);
      inputs({1}, kTranspose);
      break;
    case Family::kBiasAddGrad:
      inputs({0}, kTranspose);
      converts_output = false;
      break;
    case Family::kConvBackpropFilter:
    case Family::kConv3DBackpropFilter:
      inputs({0, 2}, kTranspose);
      converts_output = false;
      break;
    case Family::kConvBackpropInput:
      if (HasFullSizes(conversion, node)) inputs({0}, kSizes);
      inputs({2}, kTranspose);
      break;
    case Family::kConv3DBackpropInput:
      inputs({0}, kSizes);
      inputs({2}, kTranspose);
      break;
    case Family::kBatchNormEx:
      inputs({0}, kTranspose);
      if (node.num_inputs() == 6) inputs({5}, kTranspose);
      break;
    case Family::kBatchNormGrad:
      inputs({0, 1}, kTranspose);
      break;
    case Family::kMaxPoolV2:
      inputs({0}, kTranspose);
      inputs({1, 2}, kSizes);
      break;
    case Family::kMaxPoolGrad:
      inputs({0, 1, 2}, kTranspose);
      break;
    case Family::kMaxPoolGradV2:
      inputs({0, 1, 2}, kTranspose);
      inputs({3, 4}, kSizes);
      break;
    default:
      inputs({0}, kTranspose);
  }
  if (converts_output) conversion.ConvertOutputs(node, {0}, kTranspose, *formats);
  conversion.edit.End();
  return true;
}

}  // namespace grapnel::layout
