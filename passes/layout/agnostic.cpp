// Ops that work in any layout follow what they read into the new one, so that the transposes around
// them cancel out.
//
//   Before:  c:NCHW -> Transpose -> Relu -> y      After:  c -> Relu -> Transpose -> y
//   Before:  c -> Transpose -> Mean [1, 2] -> y    After:  c, DataFormatDimMap([1, 2]) -> Mean -> y
//
// What an op knows of dimensions is translated with it: axes by DataFormatDimMap, shapes and
// paddings by DataFormatVecPermute, masks and squeeze_dims in place, a vector that is added to the
// last dimension by a Reshape.
//
// Refuses: ops on another device, fetched ones; reductions that leave other than whole groups of
// dimensions; slices with other than begin and end masks.
#include "llvm/ADT/STLExtras.h"
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

constexpr const char* kRule = "convert_agnostic";
constexpr Conversion::Kind kTranspose = Conversion::kTranspose;
constexpr Conversion::Kind kVecPermute = Conversion::kVecPermute;
constexpr Conversion::Kind kDimMap = Conversion::kDimMap;

// Whether `axes` are those with these letters, in any order.
bool AreAxes(llvm::ArrayRef<int64_t> axes, llvm::StringRef letters, const Formats& formats) {
  if (axes.size() != letters.size()) return false;
  return llvm::all_of(axes, [&](int64_t axis) {
    if (axis < 0) axis += formats.rank();
    return axis >= 0 && axis < formats.rank() && letters.contains(formats.from[axis]);
  });
}

class AgnosticRule {
 public:
  AgnosticRule(Conversion& conversion, const Node& node)
      : conversion_(conversion), node_(node), family_(FamilyOf(node)) {}

  bool Apply() {
    if (family_ == Family::kIdentityN) return ConvertIdentityN();
    bool by_input = family_ == Family::kShape || family_ == Family::kShapeN ||
                    family_ == Family::kReduce || family_ == Family::kSwitch ||
                    family_ == Family::kSqueeze;
    int rank = by_input ? conversion_.RankOfInput(node_, 0) : conversion_.RankOf({node_.id(), 0});
    bool takes_5 =
        family_ == Family::kElementwise || family_ == Family::kAddN || family_ == Family::kBinary ||
        family_ == Family::kConcat || family_ == Family::kUnaryGrad || family_ == Family::kSlice ||
        family_ == Family::kShape || family_ == Family::kShapeN || family_ == Family::kReduce;
    if (rank != 4 && !(rank == 5 && takes_5)) return false;
    formats_ = &conversion_.OfRank(rank);
    bool is_after = family_ == Family::kMerge    ? IsEveryInputConverted()
                    : family_ == Family::kShapeN ? !ConvertedInputs(rank).empty()
                                                 : conversion_.IsAfterConversion(node_, *formats_);
    if (!is_after || !conversion_.MayChange(kRule, node_) || !Fits()) return false;
    if (!Begin()) return false;
    Convert();
    conversion_.edit.End();
    return true;
  }

 private:
  bool Begin() {
    if (conversion_.edit.Begin(kRule, node_)) return true;
    conversion_.out_of_rewrites = true;
    return false;
  }
  bool Refuse(const char* why) {
    conversion_.edit.Refuse(kRule, node_, "'{0}' {1}", node_.name(), why);
    return false;
  }

  // The tensor at input `i` comes, in whole, from what was converted.
  bool IsConverted(int i, int rank) const {
    Node input = node_.input_node(i);
    if (!input || conversion_.RankOf(node_.input(i)) != rank) return false;
    const Formats& formats = conversion_.OfRank(rank);
    bool passes_on = IsAgnostic(FamilyOf(input)) && conversion_.IsAfterConversion(input, formats);
    bool is_back = input.op() == "Transpose" && conversion_.IsConversionBack(input, formats);
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

  // Whether what the op knows of dimensions can be translated. Refuses.
  bool Fits() {
    auto are_of = [&](llvm::ArrayRef<int> inputs, llvm::ArrayRef<int64_t> dims) {
      return llvm::all_of(inputs,
                          [&](int i) { return conversion_.HasDimsIfConstant(node_, i, dims); });
    };
    int64_t rank = formats_->rank();
    switch (family_) {
      case Family::kBinary:
        return BinaryFits() || Refuse("combines tensors of other ranks");
      case Family::kFill:
        return are_of({0}, {4}) || Refuse("has an odd shape");
      case Family::kPad:
        return are_of({1}, {4, 2}) || Refuse("has odd paddings");
      case Family::kTile:
        return are_of({1}, {4}) || Refuse("has odd multiples");
      case Family::kSlice:
        return are_of({1, 2}, {rank}) || Refuse("has an odd beginning or size");
      case Family::kStridedSlice:
        if (!are_of({1, 2, 3}, {4})) return Refuse("has an odd beginning, end or strides");
        return (node_.GetInt("ellipsis_mask") == 0 && node_.GetInt("new_axis_mask") == 0 &&
                node_.GetInt("shrink_axis_mask") == 0) ||
               Refuse("adds or drops dimensions");
      case Family::kReduce:
        return ReductionFits() || Refuse("reduces other than whole groups of dimensions");
      case Family::kSqueeze:
        return SqueezeFits() || Refuse("squeezes other than height and width");
      case Family::kSelect: {
        int rank_of_condition = conversion_.RankOfInput(node_, 0);
        return rank_of_condition == 0 || rank_of_condition == 1 || rank_of_condition == 4 ||
               Refuse("has a condition of another rank");
      }
      case Family::kSplit:
      case Family::kSplitV:
        return llvm::all_of(DataOutputs(node_), [&](int output) {
          return conversion_.RankOf({node_.id(), output}) == 4;
        });
      default:
        return true;
    }
  }

  bool BinaryFits() const {
    int a = conversion_.RankOfInput(node_, 0), b = conversion_.RankOfInput(node_, 1);
    int rank = formats_->rank();
    if (a != rank && b != rank) return false;
    int other = a == rank ? b : a;
    return other == rank || other == 0 || other == 1;
  }

  bool ReductionFits() const {
    if (node_.GetBool("keep_dims")) return true;
    const Literal* axes = conversion_.edit.ConstantOf(node_.input(1));
    if (!axes || axes->dims().size() != 1) return false;
    llvm::ArrayRef<const char*> groups;
    static const char* const of_4[] = {"NHWC", "HWC", "NHW", "HW", "C"};
    static const char* const of_5[] = {"NDHWC", "DHWC", "NDHW", "DHW", "C"};
    groups = formats_->rank() == 5 ? of_5 : of_4;
    return llvm::any_of(
        groups, [&](const char* group) { return AreAxes(axes->AsInts(), group, *formats_); });
  }

  bool SqueezeFits() const {
    Shape shape = conversion_.ShapeOf(node_.input(0));
    if (shape.dim(formats_->IndexIn('H')) != 1 || shape.dim(formats_->IndexIn('W')) != 1)
      return false;
    std::vector<int64_t> dims = node_.GetInts("squeeze_dims");
    int rank = conversion_.RankOf({node_.id(), 0});
    if (rank == 2) return dims.empty() || AreAxes(dims, "HW", *formats_);
    return rank == 1 && (dims.empty() || AreAxes(dims, "NHW", *formats_));
  }

  void Inputs(llvm::ArrayRef<int> inputs, Conversion::Kind kind) {
    conversion_.ConvertInputs(node_, inputs, kind, *formats_);
  }
  void Outputs(llvm::ArrayRef<int> outputs, Conversion::Kind kind = kTranspose) {
    conversion_.ConvertOutputs(node_, outputs, kind, *formats_);
  }

  void Convert() {
    switch (family_) {
      case Family::kBinary:
        ConvertBinary();
        break;
      case Family::kConcat:
        Inputs(DataInputs(node_), kTranspose);
        Inputs({node_.op() == "Concat" ? 0 : node_.num_inputs() - 1}, kDimMap);
        Outputs({0});
        break;
      case Family::kFill:
        Inputs({0}, kVecPermute);
        Outputs({0});
        break;
      case Family::kPad:
      case Family::kTile:
        Inputs({0}, kTranspose);
        Inputs({1}, kVecPermute);
        Outputs({0});
        break;
      case Family::kReduce:
        Inputs({0}, kTranspose);
        Inputs({1}, kDimMap);
        if (node_.GetBool("keep_dims")) Outputs({0});
        break;
      case Family::kReverse:
        Inputs({0}, kTranspose);
        Inputs({1}, kDimMap);
        Outputs({0});
        break;
      case Family::kSelect:
        if (conversion_.RankOfInput(node_, 0) == 4) Inputs({0}, kTranspose);
        Inputs({1, 2}, kTranspose);
        Outputs({0});
        break;
      case Family::kShape:
        Inputs({0}, kTranspose);
        Outputs({0}, kVecPermute);
        break;
      case Family::kShapeN: {
        std::vector<int> which = ConvertedInputs(formats_->rank());
        Inputs(which, kTranspose);
        Outputs(which, kVecPermute);
        break;
      }
      case Family::kSlice:
        Inputs({0}, kTranspose);
        Inputs({1, 2}, kVecPermute);
        Outputs({0});
        break;
      case Family::kStridedSlice:
        Inputs({0}, kTranspose);
        PermuteMask("begin_mask");
        PermuteMask("end_mask");
        Inputs({1, 2, 3}, kVecPermute);
        Outputs({0});
        break;
      case Family::kSplit:
        Inputs({1}, kTranspose);
        Inputs({0}, kDimMap);
        Outputs(DataOutputs(node_));
        break;
      case Family::kSplitV:
        Inputs({0}, kTranspose);
        Inputs({2}, kDimMap);
        Outputs(DataOutputs(node_));
        break;
      case Family::kSqueeze:
        Inputs({0}, kTranspose);
        MapSqueezeDims();
        break;
      case Family::kSwitch:
        Inputs({0}, kTranspose);
        Outputs(DataOutputs(node_));
        break;
      default:
        Inputs(DataInputs(node_), kTranspose);
        Outputs({0});
    }
  }

  void ConvertBinary() {
    int rank = formats_->rank(), vector = -1;
    for (int i = 0; i < 2; ++i) {
      int own = conversion_.RankOfInput(node_, i);
      if (own == rank) Inputs({i}, kTranspose);
      if (own == 1) vector = i;
    }
    if (vector >= 0) ReshapeVector(vector);
    Outputs({0});
  }

  // A vector goes with the last dimension, wherever that is now. (TensorFlow puts it second, which
  // is right only when the last one holds the channels.)
  void ReshapeVector(int input) {
    Port source = node_.input(input);
    Shape shape = conversion_.ShapeOf(source);
    std::vector<int32_t> dims(formats_->rank(), 1);
    dims[formats_->to.find(formats_->from.back())] = static_cast<int32_t>(shape.dim(0));
    std::string prefix = llvm::formatv("{0}-{1}-", node_.name(), input).str();
    llvm::SmallVector<Node, 1> controls;
    if (conversion_.IsInLoop(node_)) controls.push_back(conversion_.graph.node(source.node));
    Editor& edit = conversion_.edit;
    Node constant = edit.AddConstant(prefix + "ReshapeConst-LayoutOptimizer",
                                     Literal::Vector32(dims), node_.device(), controls);
    Node reshape =
        edit.AddNode(prefix + "Reshape" + formats_->from + "To" + formats_->to + "-LayoutOptimizer",
                     "Reshape", node_.device());
    edit.AddInput(reshape, source);
    edit.AddInput(reshape, {constant.id(), 0});
    edit.SetAttr(reshape, "T", attr::Type(node_.GetType("T")));
    edit.SetAttr(reshape, "Tshape", attr::Type(proto::DT_INT32));
    edit.SetInput(node_, input, {reshape.id(), 0});
  }

  void PermuteMask(const char* key) {
    int64_t mask = node_.GetInt(key), permuted = 0;
    for (int i = 0; i < formats_->rank(); ++i) permuted |= ((mask >> formats_->perm[i]) & 1) << i;
    conversion_.edit.SetAttr(node_, key, attr::Int(permuted));
  }

  void MapSqueezeDims() {
    std::vector<int64_t> mapped;
    for (int64_t dim : node_.GetInts("squeeze_dims"))
      mapped.push_back(formats_->back[dim < 0 ? dim + formats_->rank() : dim]);
    llvm::sort(mapped);
    conversion_.edit.SetAttr(node_, "squeeze_dims", attr::Ints(mapped));
  }

  // Each of its tensors is on its own.
  bool ConvertIdentityN() {
    std::vector<int> of_4 = ConvertedInputs(4), of_5 = ConvertedInputs(5);
    if ((of_4.empty() && of_5.empty()) || !conversion_.MayChange(kRule, node_) || !Begin())
      return false;
    for (int rank : {4, 5}) {
      formats_ = &conversion_.OfRank(rank);
      Inputs(rank == 4 ? of_4 : of_5, kTranspose);
      Outputs(rank == 4 ? of_4 : of_5);
    }
    conversion_.edit.End();
    return true;
  }

  Conversion& conversion_;
  const Node node_;
  const Family family_;
  const Formats* formats_ = nullptr;
};

}  // namespace

bool ConvertAgnostic(Conversion& conversion, const Node& node) {
  if (!IsAgnostic(FamilyOf(node)) || node.num_inputs() == 0) return false;
  return AgnosticRule(conversion, node).Apply();
}

}  // namespace grapnel::layout
