// A log, quotient or root of what can be zero, without a guard:
//   - a log of a softmax or sigmoid, which underflow to 0;
//   - a quotient, log or inverse root of a sum of squares, absolute values or counts;
//   - the root of such a sum that a gradient goes through: its derivative there is infinite.
//
// Guards are what stands between: + 1e-7, a maximum, a clip, a where. Without values a sum is only
// possibly zero; with values it is said where it was.
#include <cmath>

#include "lib/check/doctor/doctor.h"
#include "lib/check/doctor/numbers.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

struct Suspect {
  Node node;        // the log, quotient or root
  Node operand;     // what may be zero
  bool underflows;  // a log of probabilities
  bool has_values = false;
  double least = std::numeric_limits<double>::infinity();
  int step = 0;  // in which it was least
};

// Whether a tensor is never negative, and may be zero throughout.
bool MayBeAllZero(const Flow& flow, const BodyPort& port) {
  if (!port) return false;
  Node node = port.node();
  llvm::StringRef op = node.op();
  if (op == "Square" || op == "Abs" || op == "SquaredDifference" || op == "Relu") return true;
  if (op == "Mul") return flow.SourceOf(node, 0) == flow.SourceOf(node, 1);
  return op == "Cast" && node.GetType("SrcT") == proto::DT_BOOL;
}

bool IsSumThatMayBeZero(const Flow& flow, const Node& node) {
  if (node.op() != "Sum" && node.op() != "Mean") return false;
  return MayBeAllZero(flow, flow.SourceOf(node, 0, true));
}

bool Divides(const Flow& flow, const Node& node) {
  return llvm::any_of(flow.Readers({node, 0}), [](const auto& reader) {
    return (reader.first.op() == "RealDiv" || reader.first.op() == "Div") && reader.second == 1;
  });
}

class UnguardedOp : public Check {
 public:
  void Watch(const Patient& patient, Watchlist& watchlist) override {
    FindSuspects(*patient.network);
    for (const auto& suspect : suspects_) {
      suspect->has_values = true;
      watchlist.Add({suspect->operand, 0}, [suspect](int step, const Tensor& value) {
        Tally numbers = TallyOf(value);
        if (numbers.min < suspect->least) suspect->least = numbers.min, suspect->step = step + 1;
      });
    }
  }

  std::string Look(const Patient& patient) override {
    if (patient.steps == 0) FindSuspects(*patient.network);
    for (const auto& suspect : suspects_) Report(*patient.network, *suspect);
    return "";
  }

 private:
  void FindSuspects(const Network& network) {
    const Flow& flow = network.flow();
    suspects_.clear();
    for (const Node& node : network.nodes()) {
      llvm::StringRef op = node.op();
      bool divides = op == "RealDiv" || op == "Div";
      bool is_root = op == "Sqrt", is_log = op == "Log";
      if (!divides && !is_root && !is_log && op != "Rsqrt" && op != "Reciprocal") continue;
      if (!network.IsForward(node)) continue;
      BodyPort operand = flow.SourceOf(node, divides ? 1 : 0, true);
      if (!operand) continue;
      Node from = operand.node();
      bool underflows = is_log && (from.op() == "Softmax" || from.op() == "Sigmoid");
      bool is_sum = IsSumThatMayBeZero(flow, from);
      bool matters = !is_root || Divides(flow, node) || network.HasGradients();
      if (underflows || (is_sum && matters))
        suspects_.push_back(std::make_shared<Suspect>(Suspect{node, from, underflows}));
    }
  }

  void Report(const Network& network, const Suspect& suspect) {
    constexpr double kZero = 1e-30, kNear = 1e-6;
    llvm::StringRef op = suspect.node.op();
    bool was_zero = suspect.least <= kZero;
    if (!was_zero && suspect.underflows && !network.HasGradients()) return;
    if (!was_zero && !suspect.underflows && suspect.has_values && suspect.least > kNear) return;
    std::string verb = op == "Log"                      ? "takes the log of"
                       : op == "RealDiv" || op == "Div" ? "divides by"
                       : op == "Reciprocal"             ? "divides by"
                       : op == "Sqrt"                   ? "takes the root of"
                                                        : "divides by the root of";
    std::string what = Sentence("this {0} {1} '{2}' ({3}) without a guard", op, verb,
                                suspect.operand.name(), suspect.operand.op());
    if (was_zero)
      what += Sentence(", which was 0 in step {0}", suspect.step);
    else if (suspect.has_values && std::isfinite(suspect.least))
      what += Sentence(", which was {0} at least in this run", Short(suspect.least));
    else
      what += ", which can be 0";
    std::string advice =
        suspect.underflows
            ? "take the cross-entropy of the logits, or log_softmax; else the log of max(x, 1e-7)"
        : op == "Sqrt" ? "take the root of x + 1e-12: at 0 its gradient is infinite"
                       : "add 1e-7 to it, take max(x, 1e-7), or use divide_no_nan";
    Find(was_zero             ? Sureness::kCertain
         : suspect.underflows ? Sureness::kLikely
                              : Sureness::kPossible,
         suspect.node, what, advice);
  }

  std::vector<std::shared_ptr<Suspect>> suspects_;
};

GRAPNEL_CHECK(UnguardedOp,
              {.name = "unguarded_op",
               .stage = CheckStage::kModel,
               .looks_for = "a log, quotient or root of what can be zero, without a guard",
               .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
