// Finds trained variables that are the same after several steps, or in all checkpoints.
#include "lib/doctor/doctor.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True if an Assign sets the variable to a value that does not depend on the previous value: the
// variable may then legitimately stay the same.
bool IsReset(const Network& network, const NetworkVariable& variable) {
  return llvm::any_of(variable.updates, [&](const VariableUpdate& update) {
    llvm::StringRef op = update.node.op();
    return (op == "AssignVariableOp" || op == "Assign") &&
           !network.flow().Backward({update.value}).Has(variable.handle);
  });
}

class UnchangedVariable : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    CheckCheckpoints(context);
    if (!context.network || !context.trained) return "";
    const Network& network = *context.network;
    std::vector<const NetworkVariable*> given, left_out;
    for (size_t i = 0; i < network.variables().size(); ++i) {
      const NetworkVariable& variable = network.variables()[i];
      const VariableHistory* history = context.HistoryOf(static_cast<int>(i));
      bool is_seen = history && history->moments.size() > 1 && IsFloating(history->dtype);
      if (!is_seen || !variable.IsTrained() || history->Changed()) continue;
      bool is_connected = network.losses().empty() || network.ReachesLoss(variable);
      // loss_not_connected reports unconnected variables.
      if (!is_connected || IsReset(network, variable)) continue;
      (variable.updates.empty() ? left_out : given).push_back(&variable);
    }
    std::string after = "the same after " + Plural(context.steps, "step");
    if (!given.empty()) {
      Find(Confidence::kLikely, given[0]->name,
           Sentence("{0} {1}, though '{2}' assigns to it", Subject(given), after,
                    given[0]->updates.back().node.name()),
           "check the learning rate and the gradient");
    }
    if (!left_out.empty()) {
      Find(Confidence::kPossible, left_out[0]->name,
           Sentence("{0} {1}: no op of the run assigns to it", Subject(left_out), after),
           "pass it to the optimizer (var_list, trainable_variables), or set trainable=False if it "
           "is frozen on purpose");
    }
    return "";
  }

 private:
  // Returns the subject of a finding: "this variable is", or "this variable and 2 others ('a', 'b')
  // are".
  static std::string Subject(llvm::ArrayRef<const NetworkVariable*> variables) {
    if (variables.size() == 1) return "this variable is";
    constexpr size_t kMost = 4;
    std::string names;
    for (size_t i = 1; i < std::min(variables.size(), kMost + 1); ++i)
      names += (i > 1 ? ", '" : "'") + variables[i]->name + "'";
    if (variables.size() > kMost + 1) names += ", ...";
    return Sentence("this variable and {0} ({1}) are", Plural(variables.size() - 1, "other"),
                    names);
  }

  void CheckCheckpoints(const DoctorContext& context) {
    if (context.saved.empty()) return;
    bool some_change = llvm::any_of(context.saved, [](const VariableHistory& history) {
      return history.IsWeight() && IsFloating(history.dtype) && history.Changed();
    });
    std::vector<std::string> same;
    for (const VariableHistory& history : context.saved) {
      bool is_weight = history.IsWeight() && IsFloating(history.dtype) && !history.is_slot;
      // weight_norm reports zeros.
      if (is_weight && history.moments.size() > 1 && !history.Changed() &&
          history.moments[0].norm > 0)
        same.push_back(history.name);
    }
    if (same.empty()) return;
    std::string between = Sentence("from '{0}' to '{1}'", llvm::StringRef(context.checkpoints[0]),
                                   llvm::StringRef(context.checkpoints.back()));
    if (!some_change) {
      Find(Confidence::kLikely, same[0], Sentence("no weights change {0}", between),
           "check the learning rate, and that the training step runs");
      return;
    }
    for (const std::string& name : same)
      Find(Confidence::kPossible, name,
           Sentence("these weights are the same in all checkpoints {0}, while others change",
                    between),
           "pass them to the optimizer, unless they are frozen on purpose");
  }
};

GRAPNEL_CHECK(UnchangedVariable,
              {.name = "unchanged_variable",
               .stage = CheckStage::kStep,
               .looks_for = "a trained variable that does not change over steps or checkpoints",
               .needs = {Evidence::kSteps, Evidence::kCheckpoints}});

}  // namespace
}  // namespace grapnel
