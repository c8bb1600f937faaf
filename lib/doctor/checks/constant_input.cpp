// Finds inputs all of whose elements have the same value in every step: zeros from a loader, an
// image that was not read, labels of one class.
//
// Skips inputs with fewer than 16 elements, floats that are all 1 (a mask), floats that a Select
// reads, integers that are neither ids nor labels, and states of a loop.
#include "lib/doctor/cross_entropy.h"
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int64_t kFewest = 16;

class ConstantInput : public Check {
 public:
  void Watch(const DoctorContext& context, TensorWatches& watches) override {
    const std::vector<BodyPort>& feeds = context.network->ends().feeds;
    seen_.resize(feeds.size());
    for (size_t i = 0; i < feeds.size(); ++i)
      watches.Add(feeds[i],
                  [this, i](int, const Tensor& value) { seen_[i] += StatisticsOf(value); });
  }

  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    const std::vector<BodyPort>& feeds = network.ends().feeds;
    for (size_t i = 0; i < feeds.size(); ++i) {
      const NumberStatistics& seen = seen_[i];
      if (!seen.IsConstant() || seen.elements() < kFewest) continue;
      // If other inputs vary, report only a possible problem: this input may be a recurrent state,
      // which is zero in the first step.
      bool others_vary = false;
      for (size_t j = 0; j < feeds.size(); ++j) {
        bool varies = seen_[j].elements() >= kFewest && !seen_[j].IsConstant();
        others_vary |= varies && network.IsHidden(feeds[j]);
      }
      bool is_label = IsLabel(network, feeds[i]);
      if (!is_label && !ShouldVary(network, feeds[i], seen.min)) continue;
      std::string all =
          Sentence("all {0} elements of this input are {1}", seen.elements(), Short(seen.min));
      if (context.batches > 1) all += Sentence(", in all {0} batches", context.batches);
      if (is_label) {
        Find(Confidence::kLikely, feeds[i].node(), all + ": there is only one class",
             "shuffle before batching, and check the labels that the loader returns");
      } else {
        Find(others_vary ? Confidence::kPossible : Confidence::kLikely, feeds[i].node(),
             all + ": there is nothing in it to learn from",
             "check what the loader returns: a file that was not read, a wrong column, a scale "
             "that makes all numbers equal");
      }
    }
    return feeds.empty() ? "nothing is fed" : "";
  }

 private:
  static bool IsLabel(const Network& network, const BodyPort& feed) {
    return llvm::any_of(CrossEntropiesOf(network), [&](const CrossEntropy& loss) {
      return loss.kind == CrossEntropy::kSparse &&
             network.flow().Backward({loss.labels}).Has(feed) &&
             !network.flow().Backward({loss.logits}).Has(feed);
    });
  }

  static bool ShouldVary(const Network& network, const BodyPort& feed, double value) {
    bool is_floating = IsFloating(TypeOfPort(*feed.graph, feed.port));
    if (is_floating && value == 1) return false;
    for (const auto& [reader, slot] : network.flow().Readers(feed)) {
      llvm::StringRef op = reader.op();
      if (is_floating && (op == "Select" || op == "SelectV2" || IsInLoop(reader))) return false;
      if (!is_floating && slot == 1 && op.contains("Gather")) return true;
    }
    return is_floating;
  }

  static bool IsInLoop(const Node& node) {
    const Function* own = FunctionOf(node.graph());
    if (!own) return false;
    auto calls = [&](const Graph& graph) {
      for (Node caller : graph.nodes()) {
        if (HasSuffix(caller.op(), "While") &&
            llvm::is_contained(CalledFunctions(caller), own->name()))
          return true;
      }
      return false;
    };
    const Module& module = node.graph().module();
    return calls(module.main) ||
           llvm::any_of(module.functions, [&](const auto& f) { return calls(f->body); });
  }

  std::vector<NumberStatistics> seen_;
};

GRAPNEL_CHECK(ConstantInput, {.name = "constant_input",
                              .stage = CheckStage::kInput,
                              .looks_for = "an input in which all numbers are equal: zeros, one "
                                           "class among the labels",
                              .needs = {Evidence::kValues}});

}  // namespace
}  // namespace grapnel
