// Finds a softmax or log-softmax over a single class, which is 1 or 0 for any input.
//
// Skips one that a BatchMatMul, Einsum, Reshape or Transpose reads: it may be attention, for which
// a sequence of length 1 is valid.
#include "lib/doctor/doctor.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsAttention(const Network& network, const Node& softmax) {
  return llvm::any_of(network.flow().Readers({softmax, 0}), [](const auto& reader) {
    llvm::StringRef op = reader.first.op();
    return HasPrefix(op, "BatchMatMul") || op == "Einsum" || op == "Reshape" || op == "Transpose";
  });
}

class SoftmaxOfOne : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    bool has_any = false;
    for (const Node& node : context.network->nodes()) {
      if (node.op() != "Softmax" && node.op() != "LogSoftmax") continue;
      has_any = true;
      Shape shape = context.network->ShapeOf({node, 0});
      if (!shape.known_rank() || shape.rank() == 0 || shape.dim(shape.rank() - 1) != 1) continue;
      if (IsAttention(*context.network, node)) continue;
      Find(Confidence::kCertain, node,
           Sentence("the last dimension of this {0} is 1, so it returns {1} for any input",
                    node.op(), node.op() == "Softmax" ? 1 : 0),
           "use sigmoid for one unit, or two units");
    }
    return has_any ? "" : "there is no softmax";
  }
};

GRAPNEL_CHECK(SoftmaxOfOne, {.name = "softmax_of_one",
                             .stage = CheckStage::kModel,
                             .looks_for = "a softmax over one class, which is always 1",
                             .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
