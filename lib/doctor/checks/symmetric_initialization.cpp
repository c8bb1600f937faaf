// Finds hidden layers whose units all start with the same weights, so that they compute the same
// values.
//
// If the next layer also has the same weights for all these units, they get the same gradient in
// every step, and stay equal forever. Otherwise, they slowly become different, except units that
// start with zeros before a Relu, whose gradient at zero is zero.
//
// Skips the last layer, layers whose output is added to another tensor (a residual branch, for
// which zeros are right), and layers whose biases differ.
#include "lib/doctor/doctor.h"
#include "lib/doctor/numbers.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// A layer's weights, of shape [.., inputs, units]. at() reads single elements without copying the
// weights, because in most layers already the first two elements differ, and the comparison ends
// there.
struct Weights {
  Literal values;
  int64_t inputs = 0, units = 0;
  bool is_turned = false;  // transposed: [units, inputs]
  double at(int64_t input, int64_t unit) const {
    if (values.is_splat()) return values.AsDouble(0);
    return values.AsDouble(is_turned ? unit * inputs + input : input * units + unit);
  }
  bool IsZero() const { return values.AllEqualTo(0); }
};

std::optional<Weights> WeightsOf(const DoctorContext& context, const WeightedOp& layer) {
  Weights weights;
  if (const VariableHistory* history = context.HistoryOf(layer.variable)) {
    weights.values = history->first.ToLiteral();
  } else if (const Literal* literal = context.network->ConstantOf(layer.weights)) {
    weights.values = *literal;
  }
  llvm::StringRef op = layer.node.op();
  bool is_flat = op == "MatMul" || op == "Conv2D" || op == "Conv3D";
  llvm::ArrayRef<int64_t> dims = weights.values.dims();
  if (!is_flat || dims.size() < 2 || !IsFloating(weights.values.dtype())) return std::nullopt;
  weights.is_turned = layer.node.GetBool("transpose_b");
  weights.units = weights.is_turned ? dims.front() : dims.back();
  weights.inputs = weights.units > 0 ? weights.values.num_elements() / weights.units : 0;
  return weights;
}

bool UnitsBeginAlike(const Weights& weights) {
  for (int64_t i = 0; i < weights.inputs; ++i) {
    for (int64_t j = 1; j < weights.units; ++j) {
      if (weights.at(i, j) != weights.at(i, 0)) return false;
    }
  }
  return weights.units > 1 && weights.inputs > 0;
}

// True if a layer with these weights multiplies the outputs of the previous layer's `units` units
// by the same numbers. A convolution, or a layer that reads a flattened image, has several rows of
// weights for each of these units.
bool TreatsUnitsAlike(const Weights& weights, int64_t units) {
  if (units < 2 || weights.inputs % units != 0) return false;
  for (int64_t i = 0; i < weights.inputs; ++i) {
    int64_t first = i / units * units;
    for (int64_t j = 0; j < weights.units; ++j) {
      if (weights.at(i, j) != weights.at(first, j)) return false;
    }
  }
  return true;
}

// Determines whether biases that are added to the layer's output differ between units, and whether
// a Relu follows.
void CheckUpdates(const DoctorContext& context, const WeightedOp& layer, bool* biases_differ,
                  bool* has_relu) {
  const Network& network = *context.network;
  std::vector<BodyPort> open = {layer.output()};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : network.flow().Readers(at)) {
      if (!network.IsForward(reader)) continue;
      llvm::StringRef op = reader.op();
      *has_relu |= op == "Relu" || op == "Relu6";
      bool adds = op == "BiasAdd" || op == "Add" || op == "AddV2";
      if (adds) {
        BodyPort bias = network.flow().SourceOf(reader, 1 - slot, true);
        const VariableHistory* history = context.HistoryOf(network.VariableOf(bias));
        const Literal* literal = network.ConstantOf(bias);
        if (history) *biases_differ |= !StatisticsOf(history->first).IsConstant();
        if (literal && !literal->is_splat()) {
          for (int64_t i = 1; i < literal->num_elements(); ++i)
            *biases_differ |= literal->AsDouble(i) != literal->AsDouble(0);
        }
      }
      BodyPort made(reader, 0);
      if ((adds || op == "Identity" || op == "Cast") && seen.Insert(made)) open.push_back(made);
    }
  }
}

class SymmetricInitialization : public Check {
 public:
  std::string Run(const DoctorContext& context) override {
    const Network& network = *context.network;
    bool looked = false, has_variables = false;
    for (const WeightedOp& layer : network.weighted_ops()) {
      if (layer.variable < 0) continue;  // a constant matrix may be intended
      has_variables = true;
      auto weights = WeightsOf(context, layer);
      looked |= weights.has_value();
      if (!weights || !UnitsBeginAlike(*weights)) continue;
      std::vector<const WeightedOp*> after = network.WeightedOpsAfter(layer);
      bool biases_differ = false, has_relu = false;
      CheckUpdates(context, layer, &biases_differ, &has_relu);
      if (after.empty() || biases_differ) continue;
      bool stays = llvm::all_of(after, [&](const WeightedOp* next) {
        auto other = WeightsOf(context, *next);
        return other && TreatsUnitsAlike(*other, weights->units);
      });
      Report(network, layer, *weights, stays, has_relu);
    }
    if (!has_variables) return "no layer has variables";
    return looked ? "" : Lacks("the values of weights are not known");
  }

 private:
  void Report(const Network& network, const WeightedOp& layer, const Weights& weights, bool stays,
              bool has_relu) {
    bool is_zero = weights.IsZero();
    std::string what = Sentence("all {0} units of '{1}' start with the same weights{2}",
                                weights.units, layer.node.name(), is_zero ? ", zero" : "");
    bool is_stuck = is_zero && has_relu;
    what += stays      ? "; the next layer treats them alike too, so they stay one unit forever"
            : is_stuck ? "; the Relu after it passes no gradient at zero, so they stay the same"
                       : ", and only later layers make them differ";
    std::string advice = "start with random numbers: Glorot, or He before a Relu";
    Confidence confidence = stays      ? Confidence::kCertain
                            : is_stuck ? Confidence::kLikely
                                       : Confidence::kPossible;
    Find(confidence, network.variables()[layer.variable].name, what, advice);
  }
};

GRAPNEL_CHECK(SymmetricInitialization,
              {.name = "symmetric_initialization",
               .stage = CheckStage::kModel,
               .looks_for = "a hidden layer whose units all start with the same weights, or zeros",
               .needs = {Evidence::kGraph}});

}  // namespace
}  // namespace grapnel
