// Finds a log, quotient or root of a value that can be zero, without a guard:
//   - a log of a softmax or sigmoid, which underflow to 0;
//   - a quotient, log or inverse root of a sum of squares, absolute values or counts, or of a value
//     of any sign: the output of a layer, a difference, an input;
//   - a Log1p of a value that can be -1 or less;
//   - a root of a layer's output or a difference; in a graph with gradients, a root of any of these
//     values, since its derivative at 0 is infinite.
//
// Guards are ops between the value and the log, quotient or root: + 1e-7, a maximum, a clip, a
// where. Without a run, a finding is possible, or likely for a log of a softmax or sigmoid in a
// graph with gradients; with a run, it states the least value (Suspect::least), is certain if that
// is 0 or less, and is usually omitted if that is not close to 0.
#include <cmath>

#include "lib/doctor/doctor.h"
#include "lib/doctor/number_range.h"
#include "lib/doctor/numbers.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

enum class Kind : uint8_t { kQuotient, kInverseRoot, kRoot, kLog, kLogOfOneMore };

struct Suspect {
  Node node;         // the log, quotient or root
  BodyPort operand;  // the value that lacks a guard
  Kind kind;
  NumberRange range;
  bool has_values = false;
  // The least value of the operand (of a divisor, the least magnitude; for Log1p, of 1 more), and
  // the step that had it.
  double least = std::numeric_limits<double>::infinity();
  int step = 0;
};

struct Question {
  Kind kind;
  int slot;
};

// For a quotient, log or root: returns its kind, and the slot of the operand that needs a guard;
// nullopt for other nodes.
std::optional<Question> QuestionOf(const Network& network, const Node& node) {
  static const llvm::StringMap<Question> kOps = {
      {"RealDiv", {Kind::kQuotient, 1}},    {"Div", {Kind::kQuotient, 1}},
      {"Xdivy", {Kind::kQuotient, 1}},      {"Reciprocal", {Kind::kQuotient, 0}},
      {"Inv", {Kind::kQuotient, 0}},        {"Rsqrt", {Kind::kInverseRoot, 0}},
      {"Sqrt", {Kind::kRoot, 0}},           {"Log", {Kind::kLog, 0}},
      {"Xlogy", {Kind::kLog, 1}},           {"Log1p", {Kind::kLogOfOneMore, 0}},
      {"Xlog1py", {Kind::kLogOfOneMore, 1}}};
  auto found = kOps.find(node.op());
  if (found != kOps.end()) return found->second;
  if (node.op() != "Pow") return std::nullopt;
  const Literal* power = network.ConstantOf(network.flow().SourceOf(node, 1, true));
  if (!power || power->num_elements() != 1 || power->AsDouble(0) >= 0) return std::nullopt;
  return Question{Kind::kQuotient, 0};
}

bool Divides(const Network& network, const Node& node) {
  return llvm::any_of(network.flow().Readers({node, 0}), [&](const auto& reader) {
    auto question = QuestionOf(network, reader.first);
    return question && question->kind == Kind::kQuotient && question->slot == reader.second;
  });
}

bool IsOfAnySign(NumberRange range) {
  return range == NumberRange::kAny || range == NumberRange::kInput;
}

// True if all readers of the node remove a bad value from its output. A Select (tf.where) does so
// only if there are no gradients, since the gradient through it is still NaN. A Minimum or Maximum
// removes an infinity, but not a NaN.
bool IsGuardedAfter(const Network& network, const Node& node, NumberRange range) {
  auto readers = network.flow().Readers({node, 0});
  return !readers.empty() && llvm::all_of(readers, [&](const auto& read) {
    llvm::StringRef op = read.first.op();
    if (op == "Select" || op == "SelectV2") return read.second > 0 && !network.HasGradients();
    bool bounds = op == "Minimum" || op == "Maximum" || (op == "ClipByValue" && read.second == 0);
    return bounds && !IsOfAnySign(range);
  });
}

// True if a constant bounds x so that Log1p(x) is defined, or Log1p(-x) if `is_negated`.
bool IsBoundedByOne(const Network& network, const BodyPort& x, bool is_negated) {
  Node node = x ? x.node() : Node();
  for (int slot = 0; node && slot < node.num_inputs(); ++slot) {
    bool is_bound = node.op() == (is_negated ? "Minimum" : "Maximum") ||
                    (node.op() == "ClipByValue" && slot == (is_negated ? 2 : 1));
    const Literal* bound =
        is_bound ? network.ConstantOf(network.flow().SourceOf(node, slot, true)) : nullptr;
    if (!bound || bound->num_elements() != 1) continue;
    if ((is_negated ? -bound->AsDouble(0) : bound->AsDouble(0)) > -1) return true;
  }
  return false;
}

// Returns the range of x in Log1p(-x). If x grows without bound, -x may be below -1; other numbers
// that are 0 or more, such as random ones, may be bounded by 1.
NumberRange RangeOfNegated(const BodyPort& x, NumberRange range) {
  bool is_unbounded =
      x && llvm::is_contained({"Relu", "Abs", "Square", "SquaredDifference"}, x.node().op());
  return is_unbounded && range == NumberRange::kNotNegative ? NumberRange::kAny : range;
}

// True if an operand in `range` may be one for which the op is undefined.
bool MayFail(const Network& network, const Node& node, Kind kind, NumberRange range) {
  bool may_be_zero = range == NumberRange::kNotNegative || IsOfAnySign(range);
  switch (kind) {
    case Kind::kQuotient:
    case Kind::kInverseRoot:
      return may_be_zero;
    case Kind::kLog:
      return may_be_zero || range == NumberRange::kUnderflows;
    case Kind::kLogOfOneMore:
      return range == NumberRange::kAny || range == NumberRange::kUnderflows;
    case Kind::kRoot:
      // If another node divides by this root, that division is reported instead.
      return range == NumberRange::kAny ||
             (may_be_zero && network.HasGradients() && !Divides(network, node));
  }
  return false;
}

const char* VerbOf(Kind kind) {
  switch (kind) {
    case Kind::kQuotient:
      return "divides by";
    case Kind::kInverseRoot:
      return "divides by the root of";
    case Kind::kRoot:
      return "takes the root of";
    case Kind::kLog:
      return "takes the log of";
    case Kind::kLogOfOneMore:
      return "takes the log of 1 +";
  }
  return "";
}

class UnguardedOp : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    FindSuspects(*context.network);
    for (const auto& suspect : suspects_) {
      suspect->has_values = true;
      watches.Add(suspect->operand, [suspect](int step, const Tensor& value) {
        double least = LeastOf(suspect->kind, value);
        if (least < suspect->least) suspect->least = least, suspect->step = step + 1;
      });
    }
  }

  std::string Run(const DoctorContext& context) override {
    if (context.steps == 0) FindSuspects(*context.network);
    for (const auto& suspect : suspects_) Report(*context.network, *suspect);
    return "";
  }

 private:
  static double LeastOf(Kind kind, const Tensor& value) {
    double least = std::numeric_limits<double>::infinity();
    ForEachNumber(value, [&](double number) {
      if (kind == Kind::kQuotient) number = std::fabs(number);
      if (kind == Kind::kLogOfOneMore) number += 1;
      if (number < least) least = number;
    });
    return least;
  }

  void FindSuspects(const Network& network) {
    suspects_.clear();
    NumberRanges ranges(network);
    for (const Node& node : network.nodes()) {
      auto question = QuestionOf(network, node);
      if (question && network.IsForward(node)) Run(network, node, *question, ranges);
    }
  }

  void Run(const Network& network, const Node& node, Question question, NumberRanges& ranges) {
    const Flow& flow = network.flow();
    BodyPort operand = flow.SourceOf(node, question.slot, true);
    if (!operand || !IsFloating(TypeOfPort(*operand.graph, operand.port))) return;
    NumberRange range = ranges.OfInput(node, question.slot);
    if (question.kind == Kind::kLogOfOneMore) {
      bool is_negated = operand.node().op() == "Neg";
      BodyPort x = is_negated ? flow.SourceOf(operand.node(), 0, true) : operand;
      if (IsBoundedByOne(network, x, is_negated)) return;
      if (is_negated) range = RangeOfNegated(x, ranges.OfInput(operand.node(), 0));
      if (!is_negated && range == NumberRange::kUnderflows) return;
    }
    // Xlogy(x, x) is 0 if x is 0.
    if (node.op() == "Xlogy" && flow.SourceOf(node, 0, true) == operand) return;
    if (!MayFail(network, node, question.kind, range) || IsGuardedAfter(network, node, range))
      return;
    suspects_.push_back(std::make_shared<Suspect>(Suspect{node, operand, question.kind, range}));
  }

  static std::string WhatItWas(const Suspect& suspect, bool was_zero) {
    // `least` is that of the sum 1 + x for a Log1p, and of the magnitude for a quotient.
    const char* what = suspect.kind == Kind::kLogOfOneMore ? ", and the sum" : ", which";
    if (!suspect.has_values || !std::isfinite(suspect.least)) {
      bool matters = suspect.kind != Kind::kQuotient && IsOfAnySign(suspect.range);
      return Sentence("{0} can be 0{1}", what, matters ? " or less" : "");
    }
    if (!was_zero) {
      if (suspect.kind == Kind::kQuotient) what = ", whose magnitude";
      return Sentence("{0} was at least {1} in this run", what, Short(suspect.least));
    }
    bool is_negative = suspect.least < 0;
    return Sentence("{0} was {1} in step {2}", what, is_negative ? Short(suspect.least) : "0",
                    suspect.step);
  }

  static std::string AdviceOf(const Suspect& suspect) {
    if (suspect.range == NumberRange::kUnderflows)
      return "take the cross-entropy of the logits, or log_softmax; else the log of max(x, 1e-7)";
    if (suspect.kind == Kind::kRoot)
      return "take the root of x + 1e-12: at 0 its gradient is infinite";
    return "add 1e-7 to it, take max(x, 1e-7), or use divide_no_nan";
  }

  void Report(const Network& network, const Suspect& suspect) {
    constexpr double kZero = 1e-30, kNear = 1e-6;
    bool was_zero = suspect.least <= kZero;
    bool is_likely = suspect.range == NumberRange::kUnderflows && network.HasGradients();
    if (!was_zero && !is_likely && suspect.has_values && suspect.least > kNear) return;
    Node operand = suspect.operand.node();
    std::string what = Sentence("this {0} {1} '{2}' ({3}) without a guard", suspect.node.op(),
                                VerbOf(suspect.kind), operand.name(), operand.op());
    Find(was_zero    ? Confidence::kCertain
         : is_likely ? Confidence::kLikely
                     : Confidence::kPossible,
         suspect.node, what + WhatItWas(suspect, was_zero), AdviceOf(suspect));
  }

  std::vector<std::shared_ptr<Suspect>> suspects_;
};

GRAPNEL_CHECK(UnguardedOp,
              {.name = "unguarded_op",
               .stage = CheckStage::kModel,
               .looks_for = "a log, quotient or root of a value that can be zero, without a guard",
               .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
