// Switches ops with a data_format to the other format, between transposes of their inputs and
// outputs.
//
//   Before:  x -> Conv2D c {data_format=NHWC, strides=[1,2,3,1]} -> y
//   After:   x -> Transpose -> c {data_format=NCHW, strides=[1,1,2,3]} -> Transpose -> y
//
// Inputs that hold sizes or windows are permuted by DataFormatVecPermute; filters have no layout.
//
// Refuses: ops on another device; nodes that are fetched, fed or kept; convolutions of integers;
// gradients of batch normalization outside training; unknown ranks.
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

// The tensor whose rank decides which formats apply: the first output or, for some ops, the input
// that has the layout.
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

// For BiasAdd and BiasAddGrad, data_format only says where the channels are, with the same letters
// for every rank.
bool IsBias(Family family) { return family == Family::kBiasAdd || family == Family::kBiasAddGrad; }

// True if input_sizes has four elements; two elements are height and width, which keep their order.
bool HasFullSizes(Conversion& rule, const Node& node) {
  Shape sizes = rule.ShapeOf(node.input(0));
  return sizes.known_rank() && sizes.rank() == 1 && sizes.IsKnown(0) && sizes.dim(0) == 4;
}

// The inputs to convert. Filters have no layout.
Conversion::Inputs InputsOf(Conversion& rule, const Node& node) {
  constexpr Conversion::Kind kTranspose = Conversion::kTranspose, kSizes = Conversion::kVecPermute;
  switch (FamilyOf(node)) {
    case Family::kAvgPoolGrad:
      return {{0, kSizes}, {1, kTranspose}};
    case Family::kConvBackpropFilter:
    case Family::kConv3DBackpropFilter:
      return {{0, kTranspose}, {2, kTranspose}};
    case Family::kConvBackpropInput:
      if (!HasFullSizes(rule, node)) return {{2, kTranspose}};
      return {{0, kSizes}, {2, kTranspose}};
    case Family::kConv3DBackpropInput:
      return {{0, kSizes}, {2, kTranspose}};
    case Family::kBatchNormEx:
      if (node.num_inputs() != 6) return {{0, kTranspose}};
      return {{0, kTranspose}, {5, kTranspose}};
    case Family::kBatchNormGrad:
      return {{0, kTranspose}, {1, kTranspose}};
    case Family::kMaxPoolV2:
      return {{0, kTranspose}, {1, kSizes}, {2, kSizes}};
    case Family::kMaxPoolGrad:
      return {{0, kTranspose}, {1, kTranspose}, {2, kTranspose}};
    case Family::kMaxPoolGradV2:
      return {{0, kTranspose}, {1, kTranspose}, {2, kTranspose}, {3, kSizes}, {4, kSizes}};
    default:
      return {{0, kTranspose}};
  }
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
  if (rank < 0) {
    conversion.edit.Refuse(kConvertSensitive, node,
                           "the rank of the tensor that decides the layout of '{0}' is not known\n"
                           "make the shapes of the inputs known",
                           node.name());
    return nullptr;
  }
  if (!fits || format != conversion.OfRank(IsBias(family) ? 4 : rank).from) return nullptr;
  return &conversion.OfRank(rank);
}

namespace {

Verdict ConvertSensitive(Conversion& rule, const Node& node) {
  const Formats* formats = FormatsOfSensitive(rule, node);
  if (!formats) return rule.NotMine();
  if (!rule.MayChange(kConvertSensitive, node)) return rule.Refused();
  Family family = FamilyOf(node);
  if (IsOfIntegers(node))
    return rule.Refuse("'{0}' is a convolution of integers\ncompute it in floating point",
                       node.name());
  if (family == Family::kBatchNormGrad && !node.GetBool("is_training"))
    return rule.Refuse(
        "'{0}' is the gradient of a batch normalization outside training\n"
        "take gradients in training mode",
        node.name());
  rule.UpdateFormat(node, IsBias(family) ? rule.OfRank(4) : *formats);
  rule.ConvertInputs(node, InputsOf(rule, node), *formats);
  bool has_no_layout = family == Family::kBiasAddGrad || family == Family::kConvBackpropFilter ||
                       family == Family::kConv3DBackpropFilter;  // of its result
  if (!has_no_layout) rule.ConvertOutputs(node, {0}, Conversion::kTranspose, *formats);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "layout",
     .phase = kSensitive,
     .name = kConvertSensitive,
     .ops = {},  // those of the sensitive families
     .help = "switches ops with a data_format to the other format",
     .refuses = "other devices; nodes that are fetched, fed or kept; convolutions of integers; "
                "gradients of batch normalization outside training; unknown ranks",
     .apply = ConvertSensitive});

}  // namespace
}  // namespace grapnel::layout
