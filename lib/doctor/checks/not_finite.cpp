// Finds losses, checkpoints and records with NaN or infinity and, without a loss, outputs with NaN.
// `grapnel blame` finds the op that produced the first NaN or infinity.
#include <cmath>

#include "lib/doctor/doctor.h"
#include "lib/doctor/loss_curves.h"
#include "lib/doctor/numbers.h"
#include "lib/support/text.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {
namespace {

class NotFinite : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    const Network& network = *context.network;
    std::vector<BodyPort> ends = network.losses();
    // Without a loss, checks the fetches. They may legitimately have infinities, which masks
    // produce, but not NaN.
    bool has_loss = !ends.empty();
    if (!has_loss) {
      for (const BodyPort& fetch : network.ends().fetches)
        ends.push_back(network.flow().Source(fetch));
    }
    for (const BodyPort& end : ends) {
      seen_.push_back({end.node(), -1});
      size_t i = seen_.size() - 1;
      watches.Add(end, [this, i, has_loss](int step, const Tensor& value) {
        if (!IsFloating(value.dtype())) return;
        NumberStatistics tally = StatisticsOf(value);
        bool is_bad = has_loss ? tally.bad() > 0 : tally.nan > 0;
        if (is_bad && seen_[i].second < 0) seen_[i].second = step;
      });
    }
  }

  std::string Run(const DoctorContext& context) override {
    if (context.debug) return CheckRecords(*context.debug);
    for (const auto& [node, step] : seen_) {
      if (step < 0) continue;
      Find(Confidence::kCertain, node,
           Sentence("this tensor first has NaN or infinity in step {0}", step + 1),
           Sentence("grapnel blame{0} names the op that produced the first NaN or infinity",
                    step > 0 ? " --repeat " + std::to_string(step + 1) : std::string()));
    }
    for (const VariableHistory& history : context.saved) {
      for (size_t i = 0; i < history.moments.size(); ++i) {
        if (history.moments[i].bad == 0) continue;
        Find(Confidence::kCertain, history.name,
             Sentence("{0} of its numbers are NaN or infinite in '{1}', and none before",
                      WithCommas(history.moments[i].bad), llvm::StringRef(context.checkpoints[i])),
             "go back to the checkpoint before, and run grapnel blame on the step");
        break;
      }
    }
    if (context.scalars) CheckScalars(context);
    return "";
  }

 private:
  void CheckScalars(const DoctorContext& context) {
    for (const LossCurve& curve : LossCurvesOf(*context.scalars, context.loss_tag)) {
      for (const ScalarPoint& point : curve.series->points) {
        if (std::isfinite(point.value)) continue;
        Find(Confidence::kCertain, curve.series->name(),
             Sentence("this loss is first {0} at step {1}",
                      std::isnan(point.value) ? "NaN" : "infinite", point.step),
             "go back to a checkpoint before, and run grapnel blame on the step");
        break;
      }
    }
  }

  std::string CheckRecords(const DebugRun& run) {
    int64_t bad = 0;
    bool tells = false;
    std::string first;
    for (const DebugTrace& trace : run.traces) {
      tells |= trace.value.TellsBad();
      if (!trace.value.TellsBad() || !trace.value.bad) continue;
      if (bad++ == 0) first = trace.op_name.str();
    }
    for (const DebugExecution& execution : run.executions) {
      for (const RecordedTensor& output : execution.outputs) {
        tells |= output.TellsBad();
        if (!output.TellsBad() || !output.bad) continue;
        if (bad++ == 0) first = execution.op_type.str();
      }
    }
    if (!tells)
      return Lacks("debug mode " + DebugModeName(run.mode) +
                   " does not record it, FULL_HEALTH does");
    if (bad > 0)
      Find(Confidence::kCertain, first,
           Sentence("{0} in the records have NaN or infinity", Plural(bad, "tensor")),
           "grapnel blame on this folder names the op that produced the first NaN or infinity");
    return "";
  }

  std::vector<std::pair<Node, int>> seen_;  // the first step in which the tensor was bad; -1: none
};

GRAPNEL_CHECK(NotFinite, {.name = "not_finite",
                          .stage = CheckStage::kStep,
                          .looks_for = "a loss, output or checkpoint that holds NaN or infinity",
                          .needs = {Evidence::kValues, Evidence::kCheckpoints,
                                    Evidence::kDebugFolder, Evidence::kScalars}});

}  // namespace
}  // namespace grapnel
