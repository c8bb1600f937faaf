// Finds batch normalization in the wrong mode:
//   - an inference graph that normalizes by the statistics of the batch;
//   - a training step that uses them and does not update the moving averages (in TensorFlow 1 a
//     step has to run UPDATE_OPS), so that inference will differ from training;
//   - a training step that trains the scale with averages that are never updated.
//
// Skips normalization over features (LayerNorm), which does not depend on the batch.
#include "lib/doctor/doctor.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

const char* const kPredict = "call the model with training=False, or export it again in that mode";

bool IsTraining(const Network& network) {
  return network.Trains() || network.HasGradients() || !network.losses().empty();
}

// True if a Mean reduces axis 0, the batch, but not all axes.
bool IsOverBatch(const Network& network, const Node& mean) {
  const Literal* axes =
      mean.num_inputs() == 2 ? network.ConstantOf(network.flow().SourceOf(mean, 1)) : nullptr;
  Shape shape = network.ShapeOf(network.flow().SourceOf(mean, 0));
  if (!axes || !shape.known_rank() || shape.rank() < 2) return false;
  std::vector<int64_t> reduced = axes->AsInts();
  bool all = static_cast<int>(reduced.size()) == shape.rank();
  return !all && llvm::is_contained(reduced, 0);
}

// Matches (x - mean(x))^2 over the batch, as in tf.nn.moments: the mean of this square is a
// variance.
bool IsMomentsOfBatch(const Network& network, const Node& square) {
  if (square.op() != "SquaredDifference" || square.num_inputs() < 2) return false;
  BodyPort x = network.flow().SourceOf(square, 0), mean = network.flow().SourceOf(square, 1);
  if (!x || !mean || mean.node().op() != "Mean") return false;
  if (network.flow().SourceOf(mean.node(), 0) != x || !IsOverBatch(network, mean.node()))
    return false;
  // Searches for the root of this variance, by which batch normalization divides.
  std::vector<BodyPort> open = {{square, 0}};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : network.flow().Readers(at)) {
      llvm::StringRef op = reader.op();
      if (op == "Rsqrt" || op == "Sqrt") return true;
      BodyPort made(reader, 0);
      bool goes_on = op == "Mean" || op == "Squeeze" || op == "Identity" || op == "Cast" ||
                     op == "Add" || op == "AddV2" || op == "Reshape";
      if (goes_on && seen.Insert(made)) open.push_back(made);
    }
  }
  return false;
}

class BatchNormMode : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    if (network.weighted_ops().empty()) return "there are no layers";
    bool has_any = false, is_training = IsTraining(network);
    for (const Node& node : network.nodes()) {
      if (node.op() == "FusedBatchNorm" || node.op() == "FusedBatchNormV2" ||
          node.op() == "FusedBatchNormV3") {
        has_any = true;
        CheckFused(network, node, is_training);
      } else if (IsMomentsOfBatch(network, node)) {
        has_any = true;
        if (!is_training)
          Find(Confidence::kLikely, node,
               "this inference graph normalizes by the mean and variance of the batch (axis 0)",
               kPredict);
      }
    }
    return has_any ? "" : "there is no batch normalization";
  }

 private:
  void CheckFused(const Network& network, const Node& node, bool is_training) {
    bool by_batch = node.GetBool("is_training", true);
    if (by_batch && !is_training) {
      Find(Confidence::kLikely, node,
           "this inference graph normalizes by the statistics of the batch (is_training=true)",
           kPredict);
    } else if (by_batch && network.Trains() && !Updates(network, node)) {
      Find(Confidence::kLikely, node,
           "this step trains, and does not update the moving averages of this normalization: "
           "inference will use their initial values",
           "run tf.GraphKeys.UPDATE_OPS with the step, or call the layer with training=True");
    } else if (!by_batch && network.Trains() && TrainsScale(network, node) &&
               IsVariableRead(network, node)) {
      Find(Confidence::kPossible, node,
           "this step trains the scale of this normalization, and normalizes by moving averages "
           "that it does not update (is_training=false)",
           "call the layer with training=True, or freeze its scale and offset too");
    }
  }

  // True if the mean or variance of the batch, an output of `node`, flows into an assignment.
  static bool Updates(const Network& network, const Node& node) {
    PortSet made = network.flow().Forward({{node, 1}, {node, 2}});
    return llvm::any_of(network.variables(), [&](const NetworkVariable& variable) {
      return llvm::any_of(variable.updates,
                          [&](const VariableUpdate& update) { return made.Has(update.value); });
    });
  }

  static bool TrainsScale(const Network& network, const Node& node) {
    int variable = network.VariableOf(network.flow().SourceOf(node, 1, true));
    return variable >= 0 && !network.variables()[variable].updates.empty();
  }

  static bool IsVariableRead(const Network& network, const Node& node) {
    int mean = network.VariableOf(network.flow().SourceOf(node, 3, true));
    return mean >= 0 && network.variables()[mean].updates.empty();
  }
};

GRAPNEL_CHECK(BatchNormMode,
              {.name = "batch_norm_mode",
               .stage = CheckStage::kModel,
               .looks_for = "batch normalization in training mode during inference, or the other "
                            "way round",
               .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
