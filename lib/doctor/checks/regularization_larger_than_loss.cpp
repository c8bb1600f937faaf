// Finds a loss that is a sum in which the terms that depend only on weights are larger than those
// that depend on the input: then training makes the weights small instead of the predictions right.
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr double kFarLarger = 3;

struct Term {
  bool is_penalty = false;
  Node node;
  NumberStatistics numbers;
};

struct Sum {
  Node loss;
  std::vector<std::shared_ptr<Term>> terms;
};

class RegularizationLargerThanLoss : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    const Network& network = *context.network;
    for (const BodyPort& loss : network.losses()) {
      Sum sum{loss.node(), {}};
      for (const BodyPort& part : network.TermsOf(loss)) {
        auto term = std::make_shared<Term>();
        term->node = part.node();
        PortSet before = network.flow().Backward({part}, PassesValue);
        bool has_input = llvm::any_of(network.inputs(),
                                      [&](const BodyPort& input) { return before.Has(input); });
        bool has_variable = llvm::any_of(network.variables(), [&](const NetworkVariable& variable) {
          return llvm::any_of(variable.reads,
                              [&](const BodyPort& read) { return before.Has(read); });
        });
        if (!has_input && !has_variable) continue;
        term->is_penalty = !has_input;
        watches.Add(part,
                    [term](int, const Tensor& value) { term->numbers += StatisticsOf(value); });
        sum.terms.push_back(term);
      }
      sums_.push_back(sum);
    }
  }

  std::string Run(const DoctorContext&) override {
    bool has_penalty = false;
    for (const Sum& sum : sums_) {
      double penalty = 0, loss = 0;
      Node largest;
      double most = 0;
      for (const auto& term : sum.terms) {
        has_penalty |= term->is_penalty;
        double mean = term->numbers.mean();
        (term->is_penalty ? penalty : loss) += mean;
        if (term->is_penalty && mean > most) largest = term->node, most = mean;
      }
      if (penalty <= loss || loss <= 0 || !largest) continue;
      // Unless the regularization is far larger, the finding is only possible: late in training,
      // the rest of the loss may be small.
      Find(penalty > kFarLarger * loss ? Confidence::kLikely : Confidence::kPossible, largest,
           Sentence("of the loss '{0}', {1} is regularization (its largest term: {2}), and {3} "
                    "depends on the input",
                    sum.loss.name(), Short(penalty), Short(most), Short(loss)),
           "reduce its factor, by ten times or more; a mean instead of a sum over weights "
           "does that too");
    }
    return has_penalty ? "" : "no part of a loss is regularization";
  }

 private:
  std::vector<Sum> sums_;
};

GRAPNEL_CHECK(RegularizationLargerThanLoss, {.name = "regularization_larger_than_loss",
                                             .stage = CheckStage::kModel,
                                             .looks_for = "a loss that is mostly regularization",
                                             .needs = {Evidence::kValues}});

}  // namespace
}  // namespace grapnel
