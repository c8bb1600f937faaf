// Finds probabilities as the input of a loss that takes logits. The loss applies softmax or sigmoid
// itself, so the function is applied twice, and the gradient almost vanishes.
//
//   logits -> Softmax -> (Identity, Reshape) -> SparseSoftmaxCrossEntropyWithLogits
//
// Does not report a log between the two, which undoes the first softmax.
#include "lib/doctor/cross_entropy.h"
#include "lib/doctor/doctor.h"

namespace grapnel {
namespace {

class SoftmaxBeforeLoss : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    std::vector<CrossEntropy> losses = CrossEntropiesOf(*context.network);
    for (const CrossEntropy& loss : losses) {
      BodyPort source = context.network->flow().Source(loss.logits, true);
      llvm::StringRef op = source ? source.node().op() : "";
      if (op != "Softmax" && op != "Sigmoid") continue;
      Find(Confidence::kCertain, source.node(),
           Sentence("this {0} is the input of '{1}', which takes logits and applies {2} itself", op,
                    loss.node.name(), loss.kind == CrossEntropy::kBinary ? "sigmoid" : "softmax"),
           "pass the input of this node to the loss instead (in Keras: no activation in the last "
           "layer, or "
           "from_logits=False)");
    }
    return losses.empty() ? "there is no cross-entropy" : "";
  }
};

GRAPNEL_CHECK(SoftmaxBeforeLoss, {.name = "softmax_before_loss",
                                  .stage = CheckStage::kModel,
                                  .looks_for = "softmax or sigmoid before a loss that takes logits",
                                  .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
