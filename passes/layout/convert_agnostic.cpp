// Converts ops that work in any layout to the new layout of their inputs, so that the transposes
// around them cancel.
//
//   Before:  c:NCHW -> Transpose -> Relu -> y      After:  c -> Relu -> Transpose -> y
//   Before:  c -> Transpose -> Mean [1, 2] -> y    After:  c, DataFormatDimMap([1, 2]) -> Mean -> y
//
// Dimensions that an op names are translated: axes by DataFormatDimMap, shapes and paddings by
// DataFormatVecPermute, masks and squeeze_dims in place, a vector that is added to the last
// dimension by a Reshape.
//
// Refuses: ops on another device; nodes that are fetched, fed or kept; reductions without keep_dims
// of anything but all dimensions, all but N, all but C, all spatial ones, or C; slices with masks
// other than begin and end masks; Squeeze of other dimensions than height and width (and N);
// operands, conditions and constant shapes or paddings of ranks that do not fit.
#include "llvm/ADT/STLExtras.h"
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

constexpr char kName[] = "convert_agnostic";
constexpr Conversion::Kind kTranspose = Conversion::kTranspose;
constexpr Conversion::Kind kVecPermute = Conversion::kVecPermute;
constexpr Conversion::Kind kDimMap = Conversion::kDimMap;

// True if `axes` are the axes of `letters` (such as "HW") in the old format, in any order.
bool AreAxes(llvm::ArrayRef<int64_t> axes, llvm::StringRef letters, const Formats& formats) {
  if (axes.size() != letters.size()) return false;
  return llvm::all_of(axes, [&](int64_t axis) {
    if (axis < 0) axis += formats.rank();
    return axis >= 0 && axis < formats.rank() && letters.contains(formats.from[axis]);
  });
}

// One node whose op works in any layout.
class AgnosticOp {
 public:
  AgnosticOp(Conversion& rule, const Node& node)
      : rule_(rule), node_(node), family_(FamilyOf(node)) {}

  Verdict Follow() {
    if (family_ == Family::kIdentityN) return FollowEachOnItsOwn();
    int rank = DecidingRank();
    if (rank != 4 && !(rank == 5 && TakesRank5())) return rule_.NotMine();
    formats_ = &rule_.OfRank(rank);
    bool is_after = family_ == Family::kMerge    ? IsEveryInputConverted()
                    : family_ == Family::kShapeN ? !ConvertedInputs(rank).empty()
                                                 : rule_.IsAfterConversion(node_, *formats_);
    if (!is_after) return rule_.NotMine();
    if (!rule_.MayChange(kName, node_) || !Fits()) return rule_.Refused();
    Convert();
    return rule_.Done();
  }

 private:
  // Converts the tensors of an IdentityN one by one, because they may differ in rank.
  Verdict FollowEachOnItsOwn() {
    std::vector<int> of_4 = ConvertedInputs(4), of_5 = ConvertedInputs(5);
    if (of_4.empty() && of_5.empty()) return rule_.NotMine();
    if (!rule_.MayChange(kName, node_)) return rule_.Refused();
    for (int rank : {4, 5}) {
      const std::vector<int>& which = rank == 4 ? of_4 : of_5;
      rule_.ConvertInputs(node_, AllBy(kTranspose, which), rule_.OfRank(rank));
      rule_.ConvertOutputs(node_, which, kTranspose, rule_.OfRank(rank));
    }
    return rule_.Done();
  }

  int DecidingRank() const {
    bool by_input = family_ == Family::kShape || family_ == Family::kShapeN ||
                    family_ == Family::kReduce || family_ == Family::kSwitch ||
                    family_ == Family::kSqueeze;
    return by_input ? rule_.RankOfInput(node_, 0) : rule_.RankOf({node_.id(), 0});
  }
  bool TakesRank5() const {
    return family_ == Family::kElementwise || family_ == Family::kAddN ||
           family_ == Family::kBinary || family_ == Family::kConcat ||
           family_ == Family::kUnaryGrad || family_ == Family::kSlice ||
           family_ == Family::kShape || family_ == Family::kShapeN || family_ == Family::kReduce;
  }

  // True if input `i` has this rank and is a Transpose back from the new layout, or is an agnostic
  // op that reads a conversion back, possibly through others.
  bool IsConverted(int i, int rank) const {
    Node input = node_.input_node(i);
    if (!input || rule_.RankOf(node_.input(i)) != rank) return false;
    const Formats& formats = rule_.OfRank(rank);
    bool passes_on = IsAgnostic(FamilyOf(input)) && rule_.IsAfterConversion(input, formats);
    bool is_back = input.op() == "Transpose" && rule_.IsConversionBack(input, formats);
    return passes_on || is_back;
  }
  std::vector<int> ConvertedInputs(int rank) const {
    std::vector<int> inputs;
    for (int i = 0; i < node_.num_inputs(); ++i) {
      if (IsConverted(i, rank)) inputs.push_back(i);
    }
    return inputs;
  }
  bool IsEveryInputConverted() const {
    return static_cast<int>(ConvertedInputs(4).size()) == node_.num_inputs();
  }

  bool Fails(const char* why) { return rule_.Fails("'{0}' {1}", node_.name(), why); }

  // True if the dimensions that the op names can be translated to the new layout; otherwise records
  // a refusal, except for Split and SplitV.
  bool Fits() {
    int64_t rank = formats_->rank();
    switch (family_) {
      case Family::kBinary:
        return BinaryFits() || Fails(
                                   "combines tensors of ranks that cannot be converted\nadd a "
                                   "tensor of rank 4, a vector or a number");
      case Family::kFill:
        return HaveDims({0}, {4}) ||
               Fails("has an unsupported shape input\nuse a shape of 4 dimensions");
      case Family::kPad:
        return HaveDims({1}, {4, 2}) ||
               Fails("has unsupported paddings\nuse paddings of 4 dimensions");
      case Family::kTile:
        return HaveDims({1}, {4}) ||
               Fails("has unsupported multiples\nuse multiples of 4 dimensions");
      case Family::kSlice:
        return HaveDims({1, 2}, {rank}) ||
               Fails("has an unsupported begin or size\ngive them for each dimension");
      case Family::kStridedSlice:
        if (!HaveDims({1, 2, 3}, {4}))
          return Fails(
              "has an unsupported begin, end or strides\ngive them for each of 4 dimensions");
        return KeepsDimensions() ||
               Fails("has an ellipsis, or adds or drops dimensions\nslice without");
      case Family::kReduce:
        return ReductionFits() ||
               Fails(
                   "has axes that are not constant, or not a group that TensorFlow converts\nuse "
                   "keep_dims=True, or reduce height and width");
      case Family::kSqueeze:
        return SqueezeFits() || Fails(
                                    "is not known to squeeze only height and width, or these and "
                                    "the batch\nsqueeze height and width");
      case Family::kSelect:
        return ConditionFits() ||
               Fails(
                   "has a condition whose rank is not known to be 0, 1 or 4\nuse such a condition");
      case Family::kSplit:
      case Family::kSplitV:
        return llvm::all_of(DataOutputs(node_), [&](int output) {
          return rule_.RankOf({node_.id(), output}) == 4;
        });
      default:
        return true;
    }
  }

  // True if each of `inputs` that is constant has the dimensions `dims`.
  bool HaveDims(llvm::ArrayRef<int> inputs, llvm::ArrayRef<int64_t> dims) const {
    return llvm::all_of(inputs, [&](int i) { return rule_.HasDimsIfConstant(node_, i, dims); });
  }

  bool KeepsDimensions() const {
    return node_.GetInt("ellipsis_mask") == 0 && node_.GetInt("new_axis_mask") == 0 &&
           node_.GetInt("shrink_axis_mask") == 0;
  }

  bool ConditionFits() const {
    int rank = rule_.RankOfInput(node_, 0);
    return rank == 0 || rank == 1 || rank == 4;
  }

  bool BinaryFits() const {
    int a = rule_.RankOfInput(node_, 0), b = rule_.RankOfInput(node_, 1);
    int rank = formats_->rank();
    if (a != rank && b != rank) return false;
    int other = a == rank ? b : a;
    return other == rank || other == 0 || other == 1;
  }

  bool ReductionFits() const {
    if (node_.GetBool("keep_dims")) return true;
    const Literal* axes = rule_.ConstantOf(node_.input(1));
    if (!axes || axes->dims().size() != 1) return false;
    static const char* const of_4[] = {"NHWC", "HWC", "NHW", "HW", "C"};
    static const char* const of_5[] = {"NDHWC", "DHWC", "NDHW", "DHW", "C"};
    llvm::ArrayRef<const char*> groups = formats_->rank() == 5 ? of_5 : of_4;
    return llvm::any_of(
        groups, [&](const char* group) { return AreAxes(axes->AsInts(), group, *formats_); });
  }

  bool SqueezeFits() const {
    Shape shape = rule_.ShapeOf(node_.input(0));
    if (shape.dim(formats_->IndexIn('H')) != 1 || shape.dim(formats_->IndexIn('W')) != 1)
      return false;
    std::vector<int64_t> dims = node_.GetInts("squeeze_dims");
    int rank = rule_.RankOf({node_.id(), 0});
    if (rank == 2) return dims.empty() || AreAxes(dims, "HW", *formats_);
    return rank == 1 && (dims.empty() || AreAxes(dims, "NHW", *formats_));
  }

  static Conversion::Inputs AllBy(Conversion::Kind kind, llvm::ArrayRef<int> which) {
    Conversion::Inputs inputs;
    for (int i : which) inputs.emplace_back(i, kind);
    return inputs;
  }

  // The inputs to convert.
  Conversion::Inputs InputsOf() const {
    switch (family_) {
      case Family::kBinary:
        return AllBy(kTranspose, OperandsOfRank(formats_->rank()));
      case Family::kConcat: {
        Conversion::Inputs inputs = AllBy(kTranspose, DataInputs(node_));
        inputs.emplace_back(node_.op() == "Concat" ? 0 : node_.num_inputs() - 1, kDimMap);
        return inputs;
      }
      case Family::kFill:
        return {{0, kVecPermute}};
      case Family::kPad:
      case Family::kTile:
        return {{0, kTranspose}, {1, kVecPermute}};
      case Family::kReduce:
      case Family::kReverse:
        return {{0, kTranspose}, {1, kDimMap}};
      case Family::kSelect:
        if (rule_.RankOfInput(node_, 0) == 4) return AllBy(kTranspose, {0, 1, 2});
        return AllBy(kTranspose, {1, 2});
      case Family::kShapeN:
        return AllBy(kTranspose, ConvertedInputs(formats_->rank()));
      case Family::kSlice:
        return {{0, kTranspose}, {1, kVecPermute}, {2, kVecPermute}};
      case Family::kStridedSlice:
        return {{0, kTranspose}, {1, kVecPermute}, {2, kVecPermute}, {3, kVecPermute}};
      case Family::kSplit:
        return {{1, kTranspose}, {0, kDimMap}};
      case Family::kSplitV:
        return {{0, kTranspose}, {2, kDimMap}};
      default:
        return AllBy(kTranspose, DataInputs(node_));
    }
  }

  // The outputs to convert.
  std::vector<int> OutputsOf() const {
    if (family_ == Family::kSqueeze) return {};
    if (family_ == Family::kReduce && !node_.GetBool("keep_dims")) return {};
    return family_ == Family::kShapeN ? ConvertedInputs(formats_->rank()) : DataOutputs(node_);
  }

  void Convert() {
    std::vector<int> outputs = OutputsOf();  // before the inputs change
    rule_.ConvertInputs(node_, InputsOf(), *formats_);
    if (family_ == Family::kBinary) {
      for (int vector : OperandsOfRank(1)) ReshapeVector(vector);
    }
    if (family_ == Family::kStridedSlice) {
      PermuteMask("begin_mask");
      PermuteMask("end_mask");
    }
    if (family_ == Family::kSqueeze) MapSqueezeDims();
    bool gives_shapes = family_ == Family::kShape || family_ == Family::kShapeN;
    if (!outputs.empty())
      rule_.ConvertOutputs(node_, outputs, gives_shapes ? kVecPermute : kTranspose, *formats_);
  }

  // The operands of a binary op that have this rank.
  std::vector<int> OperandsOfRank(int rank) const {
    std::vector<int> operands;
    for (int i : {0, 1}) {
      if (rule_.RankOfInput(node_, i) == rank) operands.push_back(i);
    }
    return operands;
  }

  // Broadcasting aligns a vector with the last dimension of the old layout, so the vector is
  // reshaped to lie along that dimension in the new one. (TensorFlow always uses the second
  // dimension, which is right only if the last one was the channels.)
  void ReshapeVector(int input) {
    Port source = node_.input(input);
    Shape shape = rule_.ShapeOf(source);
    std::vector<int32_t> dims(formats_->rank(), 1);
    dims[formats_->to.find(formats_->from.back())] = static_cast<int32_t>(shape.dim(0));
    std::string prefix = llvm::formatv("{0}-{1}-", node_.name(), input).str();
    llvm::SmallVector<Node, 1> controls;
    if (rule_.IsInLoop(node_)) controls.push_back(rule_.graph.node(source.node));
    Editor& edit = rule_.edit;
    Node constant = edit.AddConstant(prefix + "ReshapeConst-LayoutOptimizer",
                                     Literal::Vector32(dims), node_.device(), controls);
    Node reshape =
        rule_.Make(prefix + "Reshape" + formats_->from + "To" + formats_->to + "-LayoutOptimizer",
                   "Reshape", node_.device(), {source, {constant.id(), 0}});
    rule_.SetType(reshape, "T", node_.GetType("T"));
    rule_.SetType(reshape, "Tshape", proto::DT_INT32);
    edit.SetInput(node_, input, {reshape.id(), 0});
  }

  void PermuteMask(const char* key) {
    int64_t mask = node_.GetInt(key), permuted = 0;
    for (int i = 0; i < formats_->rank(); ++i) permuted |= ((mask >> formats_->perm[i]) & 1) << i;
    rule_.edit.SetAttr(node_, key, attr::Int(permuted));
  }

  void MapSqueezeDims() {
    std::vector<int64_t> mapped;
    for (int64_t dim : node_.GetInts("squeeze_dims"))
      mapped.push_back(formats_->back[dim < 0 ? dim + formats_->rank() : dim]);
    llvm::sort(mapped);
    rule_.edit.SetAttr(node_, "squeeze_dims", attr::Ints(mapped));
  }

  Conversion& rule_;
  const Node node_;
  const Family family_;
  const Formats* formats_ = nullptr;
};

Verdict ConvertAgnostic(Conversion& rule, const Node& node) {
  if (!IsAgnostic(FamilyOf(node)) || node.num_inputs() == 0) return rule.NotMine();
  return AgnosticOp(rule, node).Follow();
}

GRAPNEL_RULE({.optimizer = "layout",
              .phase = kAgnostic,
              .name = kName,
              .ops = {},  // the ops of the agnostic families
              .help = "converts ops that work in any layout to the new layout of their inputs",
              .refuses = "other devices; nodes that are fetched, fed or kept; operands, axes, "
                         "shapes, paddings and masks that cannot be converted",
              .apply = ConvertAgnostic});

}  // namespace
}  // namespace grapnel::layout
