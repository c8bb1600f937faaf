#include "lib/doctor/number_range.h"

#include <algorithm>
#include <cmath>

#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

using enum NumberRange;

// The longest chain of ops to follow: guards are near the values that they guard.
constexpr int kDeepest = 100;
constexpr int64_t kMostElements = 1 << 20;  // larger constants are not searched

bool IsSigned(NumberRange range) { return range == kAny || range == kInput; }

// For ops whose output has the same range for any inputs: returns this range; else nullopt.
std::optional<NumberRange> AlwaysOf(llvm::StringRef op) {
  return llvm::StringSwitch<std::optional<NumberRange>>(op)
      .Cases("Relu", "Relu6", "ComplexAbs", "SquaredDifference", kNotNegative)
      .Cases("L2Loss", "EuclideanNorm", "OneHot", kNotNegative)
      .Cases("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2", kNotNegative)
      .Cases("RandomStandardNormal", "StatelessRandomNormal", "StatelessRandomNormalV2", kAny)
      .Cases("Exp", "Softplus", "Cosh", kPositive)
      .Cases("Softmax", "Sigmoid", kUnderflows)
      .Default(std::nullopt);
}

// True if the output has the same range as the first input.
bool KeepsSign(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Identity", "StopGradient", "PreventGradient", "Snapshot", "EnsureShape", true)
      .Cases("CheckNumerics", "CheckNumericsV2", "OptimizationBarrier", true)
      .Cases("Reshape", "Transpose", "Squeeze", "ExpandDims", "Slice", "StridedSlice", true)
      .Cases("Gather", "GatherV2", "GatherNd", "Tile", "BroadcastTo", "Unpack", true)
      .Cases("Reverse", "ReverseV2", "Roll", "Sort", "TopKV2", true)
      .Cases("SpaceToBatchND", "BatchToSpaceND", "SpaceToDepth", "DepthToSpace", true)
      .Cases("MaxPool", "AvgPool", "Cumsum", "SegmentSum", "UnsortedSegmentSum", true)
      .Cases("Tanh", "Elu", "Selu", "LeakyRelu", "Softsign", "Erf", "Expm1", true)
      .Cases("Sin", "Sinh", "Asinh", "Atan", true)
      .Cases("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", true)
      .Default(false);
}

bool IsLayer(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", true)
      .Cases("Conv1D", "Conv2D", "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", true)
      .Case("SparseTensorDenseMatMul", true)
      .Default(false);
}

bool IsReduction(llvm::StringRef op) {
  return op == "Sum" || op == "Mean" || op == "Max" || op == "Min" || op == "Prod";
}

bool Compares(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", true)
      .Default(false);
}

struct Signs {
  bool has_zero = false, has_negative = false, has_positive = false;
};

// Returns the signs of a constant's elements; nullopt if it has no real numbers, or too many.
std::optional<Signs> SignsOf(const Literal* value) {
  if (!value || !IsNumeric(value->dtype()) || IsComplex(value->dtype())) return std::nullopt;
  int64_t stored = value->is_splat() ? 1 : value->num_elements();
  if (stored > kMostElements) return std::nullopt;
  Signs signs;
  for (int64_t i = 0; i < stored; ++i) {
    double number = value->AsDouble(i);
    signs.has_zero |= number == 0;
    signs.has_negative |= number < 0;
    signs.has_positive |= number > 0;
  }
  return signs;
}

// Returns the operands of the comparisons in the condition of an If or a Case; the comparisons may
// be joined by "and", "or" and similar ops.
std::vector<BodyPort> ComparedBy(const Flow& flow, const Node& chooser) {
  std::vector<BodyPort> open = {flow.SourceOf(chooser, 0)}, compared;
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    if (!at || !seen.Insert(at)) continue;
    Node node = at.node();
    bool compares = Compares(node.op());
    bool joins = HasPrefix(node.op(), "Logical") || node.op() == "All" || node.op() == "Any" ||
                 node.op() == "Cast";
    for (int i = 0; (compares || joins) && i < node.num_inputs(); ++i)
      (compares ? compared : open).push_back(flow.SourceOf(node, i));
  }
  return compared;
}

}  // namespace

NumberRanges::NumberRanges(const Network& network) : network_(network) {
  for (const BodyPort& input : network.inputs()) inputs_.Insert(input);
}

NumberRange NumberRanges::OfInput(const Node& node, int slot) {
  if (slot >= node.num_inputs() || node.input(slot).node == kNoNode) return kUnknown;
  return Of({node.graph(), node.input(slot)});
}

NumberRange NumberRanges::Of(const BodyPort& port) {
  if (!port || depth_ >= kDeepest) return kUnknown;
  // Stores kUnknown first, so that the search ends at a value of a loop that depends on itself.
  auto [at, added] = known_.try_emplace(port.key(), kUnknown);
  if (!added) return at->second;
  ++depth_;
  NumberRange range = OfNode(port);
  --depth_;
  return known_[port.key()] = range;
}

NumberRange NumberRanges::OfNode(const BodyPort& port) {
  Node node = port.node();
  llvm::StringRef op = node.op();
  if (IsGuardedByCondition(port)) return kUnknown;
  if (op == "_Arg" || op == "IdentityN" || MayCallFunctions(node)) {
    std::vector<BodyPort> before = network_.flow().Before(port);
    return before.empty() ? OfFed(port) : WorstOf(before);
  }
  if (inputs_.Has(port) || HasPrefix(op, "Placeholder")) return OfFed(port);
  if (auto always = AlwaysOf(op)) return *always;
  if (op == "Const") return OfConstant(port);
  if (op == "Cast") return node.GetType("SrcT") == proto::DT_BOOL ? kNotNegative : OfInput(node, 0);
  if (port.port.index == 0 && KeepsSign(op)) return OfInput(node, 0);
  if (op == "Split") return OfInput(node, 1);
  if (op == "ConcatV2" || op == "Pack") {
    NumberRange worst = kUnknown;
    for (int i = 0; i < node.num_inputs(); ++i) worst = std::max(worst, OfInput(node, i));
    return worst;
  }
  if (IsReduction(op)) return OfReduction(node);
  if (IsLayer(op)) return OfLayer(node);
  if (op == "Add" || op == "AddV2" || op == "BiasAdd") return OfSum(node);
  if (op == "Sub") return OfDifference(node);
  if (op == "Mul") return OfProduct(node);
  if (op == "RealDiv" || op == "Div") return OfQuotient(node);
  if (op == "Neg") return OfNegated(OfInput(node, 0));
  if (op == "Abs" || op == "Square") return OfMagnitude(node);
  if (op == "Sqrt") {
    NumberRange of = OfInput(node, 0);
    // The check reports such a root itself, so it need not report what is done with its output.
    if (of == kAny || of == kNegative) return kUnknown;
    return of == kInput ? kNotNegative : of;
  }
  if (op == "Pow") return OfPower(node);
  if (op == "Maximum") return OfMaximum(OfInput(node, 0), OfInput(node, 1));
  if (op == "Minimum") return OfMinimum(OfInput(node, 0), OfInput(node, 1));
  if (op == "ClipByValue")
    return OfMaximum(OfMinimum(OfInput(node, 0), OfInput(node, 2)), OfInput(node, 1));
  return kUnknown;
}

// The range of an absolute value or a square.
NumberRange NumberRanges::OfMagnitude(const Node& node) {
  NumberRange of = OfInput(node, 0);
  if (of == kPositive || of == kNegative) return kPositive;
  std::optional<Signs> signs =
      SignsOf(network_.ConstantOf(network_.flow().SourceOf(node, 0, true)));
  return signs && !signs->has_zero ? kPositive : kNotNegative;
}

NumberRange NumberRanges::OfNegated(NumberRange range) const {
  if (range == kPositive) return kNegative;
  if (range == kNegative) return kPositive;
  return IsSigned(range) || range == kNotNegative ? kAny : kUnknown;
}

// A sum of probabilities is far from 0, unless a product (with a mask) selects only a few of them.
NumberRange NumberRanges::OfReduction(const Node& node) {
  NumberRange range = OfInput(node, 0);
  if (range != kUnderflows || node.op() == "Prod") return range;
  BodyPort source = network_.flow().SourceOf(node, 0, true);
  return node.op() == "Sum" && source && source.node().op() == "Mul" ? kUnderflows : kUnknown;
}

// Adding a positive scalar constant is a guard; adding a bias is not.
NumberRange NumberRanges::OfSum(const Node& node) {
  NumberRange a = OfInput(node, 0), b = OfInput(node, 1);
  for (auto [slot, constant, other] : {std::tuple(1, b, a), std::tuple(0, a, b)}) {
    if (constant == kPositive && IsSigned(other) && IsScalarConstant(node, slot)) return kPositive;
  }
  if (IsSigned(a) || IsSigned(b)) return kAny;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (a == kNegative || b == kNegative) return a == b ? kNegative : kUnknown;
  return a == kPositive || b == kPositive ? kPositive : std::max(a, b);
}

NumberRange NumberRanges::OfDifference(const Node& node) {
  NumberRange a = OfInput(node, 0), b = OfInput(node, 1);
  const Literal* from = network_.ConstantOf(network_.flow().SourceOf(node, 0, true));
  if (from && b == kUnderflows) {
    double least = 1;
    for (int64_t i = 0; i < std::min<int64_t>(from->num_elements(), kMostElements); ++i)
      least = std::min(least, from->AsDouble(from->is_splat() ? 0 : i));
    bool is_one = from->AllEqualTo(1);
    return is_one ? kUnderflows : least < 1 ? kAny : kPositive;
  }
  if (IsSigned(a) || IsSigned(b)) return kAny;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (a == kNegative && (b == kPositive || b == kNotNegative)) return kNegative;
  if (b == kNegative) return a == kNegative ? kUnknown : kPositive;
  return b == kNotNegative ? kAny : kUnknown;
}

NumberRange NumberRanges::OfProduct(const Node& node) {
  NumberRange a = OfInput(node, 0), b = OfInput(node, 1);
  if (network_.flow().SourceOf(node, 0) == network_.flow().SourceOf(node, 1))
    return a == kPositive || a == kNegative ? kPositive : kNotNegative;
  if (a == kNegative && b == kNegative) return kPositive;
  if (a == kAny || b == kAny || a == b) return IsSigned(a) || IsSigned(b) ? kAny : std::max(a, b);
  if (a == kInput || b == kInput) return kInput;
  if (a == kUnderflows || b == kUnderflows) return kUnderflows;
  if (a == kNegative || b == kNegative)
    return a == kPositive || b == kPositive ? kNegative : kUnknown;
  return a == kUnknown || b == kUnknown ? kUnknown : kNotNegative;
}

NumberRange NumberRanges::OfQuotient(const Node& node) {
  NumberRange a = OfInput(node, 0), b = OfInput(node, 1);
  if (IsSigned(a)) return kAny;
  // Matches a softmax or a sigmoid that consists of single ops.
  auto is_exp = [](const BodyPort& port) { return port && port.node().op() == "Exp"; };
  if (a == kPositive && b == kPositive &&
      (is_exp(network_.flow().SourceOf(node, 0, true)) ||
       llvm::any_of(network_.TermsOf(network_.flow().SourceOf(node, 1)), is_exp)))
    return kUnderflows;
  if (b == kNegative) return a == kPositive || a == kNegative ? OfNegated(a) : kUnknown;
  return IsSigned(b) || b == kUnknown ? kUnknown : a;
}

// The output of a layer has any sign, unless the ranges of its operands exclude negative numbers.
NumberRange NumberRanges::OfLayer(const Node& node) {
  auto is_positive = [](NumberRange range) { return range == kPositive || range == kUnderflows; };
  auto is_negative = [](NumberRange range) {
    return range == kUnknown || range == kNegative || IsSigned(range);
  };
  if (node.num_inputs() != 2) return kAny;
  if (IsSumOfSquares(node)) return kNotNegative;
  NumberRange a = OfInput(node, 0), b = OfInput(node, 1);
  if (is_negative(a) || is_negative(b)) return kAny;
  return is_positive(a) && is_positive(b) ? kPositive : kNotNegative;
}

// Matches sums of squares such as einsum("ij,ij->i", x, x).
bool NumberRanges::IsSumOfSquares(const Node& einsum) const {
  const Flow& flow = network_.flow();
  if (einsum.op() != "Einsum" || flow.SourceOf(einsum, 0) != flow.SourceOf(einsum, 1)) return false;
  std::string equation = einsum.GetString("equation");
  auto [first, second] = llvm::StringRef(equation).split("->").first.split(',');
  return first == second;
}

NumberRange NumberRanges::OfPower(const Node& node) {
  const Literal* power = network_.ConstantOf(network_.flow().SourceOf(node, 1, true));
  NumberRange range = OfInput(node, 0);
  if (range == kPositive) return kPositive;
  if (!power || power->num_elements() != 1 || power->AsDouble(0) <= 0) return kUnknown;
  bool is_even = std::fmod(power->AsDouble(0), 2) == 0;
  if (range == kNegative) return is_even ? kPositive : kUnknown;
  return is_even ? kNotNegative : range;
}

NumberRange NumberRanges::OfMaximum(NumberRange a, NumberRange b) const {
  if (a == kPositive || b == kPositive) return kPositive;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  if (a == kNegative || b == kNegative) return a == kNegative ? b : a;
  return std::min(a, b);
}

NumberRange NumberRanges::OfMinimum(NumberRange a, NumberRange b) const {
  if (a == kNegative || b == kNegative) return kNegative;
  if (a == kUnknown || b == kUnknown) return kUnknown;
  return std::max(a, b);
}

NumberRange NumberRanges::OfConstant(const BodyPort& port) const {
  std::optional<Signs> signs = SignsOf(network_.ConstantOf(port));
  if (!signs) return kUnknown;
  if (signs->has_zero) return signs->has_negative ? kAny : kNotNegative;
  if (!signs->has_negative) return kPositive;
  return signs->has_positive ? kUnknown : kNegative;
}

// Fed scalars, such as a rate or a temperature, and fed integers, such as lengths, are kUnknown, so
// that they are not reported: users know the range of the former, and too little is known about the
// latter.
NumberRange NumberRanges::OfFed(const BodyPort& port) const {
  if (!IsFloating(TypeOfPort(*port.graph, port.port))) return kUnknown;
  Shape shape = network_.ShapeOf(port);
  return shape.known_rank() && shape.NumElements() == 1 ? kUnknown : kInput;
}

// Returns, for each If or Case that has `body` as a branch, the operands of the comparisons in its
// condition; empty if the body is not a branch.
llvm::ArrayRef<std::vector<BodyPort>> NumberRanges::LookedAtBefore(const Graph& body) {
  if (!branches_) {
    branches_.emplace();
    for (const Node& node : network_.nodes()) {
      llvm::StringRef op = node.op();
      if (!HasSuffix(op, "If") && !HasSuffix(op, "Case")) continue;
      std::vector<BodyPort> compared = ComparedBy(network_.flow(), node);
      for (llvm::StringRef name : CalledFunctions(node)) (*branches_)[name].push_back(compared);
    }
  }
  const Function* function = FunctionOf(body);
  auto found = function ? branches_->find(function->name()) : branches_->end();
  if (found == branches_->end()) return {};
  return found->second;
}

// True if the tensor is in a branch whose condition probably keeps it from being zero: it is a
// scalar argument of the branch, or in every If or Case with this branch the condition compares the
// same value, computed again.
bool NumberRanges::IsGuardedByCondition(const BodyPort& port) {
  llvm::ArrayRef<std::vector<BodyPort>> conditions = LookedAtBefore(*port.graph);
  if (conditions.empty()) return false;
  if (port.node().op() == "_Arg") {
    Shape shape = network_.ShapeOf(port);
    return shape.known_rank() && shape.rank() == 0;
  }
  return llvm::all_of(conditions, [&](llvm::ArrayRef<BodyPort> compared) {
    return llvm::any_of(compared, [&](const BodyPort& seen) { return IsSame(port, seen, 0); });
  });
}

// True if both tensors are computed by the same ops from the same inputs. Attributes, such as axes,
// may differ: they do not make a number zero.
bool NumberRanges::IsSame(const BodyPort& a, const BodyPort& b, int depth) const {
  constexpr int kDeepestAlike = 8;
  BodyPort from_a = network_.flow().Source(a), from_b = network_.flow().Source(b);
  if (from_a == from_b) return true;
  if (!from_a || !from_b || depth == kDeepestAlike || from_a.port.index != from_b.port.index)
    return false;
  Node node_a = from_a.node(), node_b = from_b.node();
  const OpInfo* info = FindOp(node_a.op());
  if (node_a.op() != node_b.op() || !info || info->is_stateful || MayCallFunctions(node_a) ||
      node_a.num_inputs() != node_b.num_inputs())
    return false;
  if (node_a.op() == "Const") {
    const Literal *value_a = network_.ConstantOf(from_a), *value_b = network_.ConstantOf(from_b);
    return value_a && value_b && value_a->Hash() == value_b->Hash();
  }
  for (int i = 0; i < node_a.num_inputs(); ++i) {
    if (!IsSame({node_a.graph(), node_a.input(i)}, {node_b.graph(), node_b.input(i)}, depth + 1))
      return false;
  }
  return node_a.num_inputs() > 0;
}

NumberRange NumberRanges::WorstOf(llvm::ArrayRef<BodyPort> ports) {
  NumberRange worst = kUnknown;
  for (const BodyPort& port : ports) worst = std::max(worst, Of(port));
  return worst;
}

bool NumberRanges::IsScalarConstant(const Node& node, int slot) const {
  const Literal* value = network_.ConstantOf(network_.flow().SourceOf(node, slot, true));
  return value && (value->num_elements() == 1 || value->is_splat());
}

}  // namespace grapnel
