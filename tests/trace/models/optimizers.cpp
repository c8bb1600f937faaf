// The models of tests/python/optimizers_test.py: each optimizer and each loss on a matrix and a
// table.
#include "grapnel/trace/optimizers.h"

#include "grapnel/trace/losses.h"
#include "grapnel/trace/registration.h"

using namespace grapnel;

struct Layer {
  explicit Layer(Tracer& t)
      : kernel(t, "kernel", initial::Glorot({4, 5}, /*seed=*/1)),
        table(t, "table", initial::Uniform({7, 5}, -0.5, 0.5, /*seed=*/2)) {}
  Value operator()(const Value& x, const Value& ids) const {
    Value product = MatMul(x, kernel);
    return product + table.Gather(ids);
  }
  Variable kernel, table;
};

using LossFn = Value (*)(Tracer&, const Value& y, const Value& p);

static Value Squared(Tracer&, const Value& y, const Value& p) { return MeanSquaredError(y, p); }

template <typename MakeOptimizer>
static Value Train(Tracer& t, const Value& x, const Value& ids, const Value& y, LossFn loss_of,
                   MakeOptimizer make) {
  Layer layer(t);
  Value loss = loss_of(t, y, layer(x, ids));
  make().Minimize(loss, Trainable(t));
  return loss;
}

#define SPECS                                                        \
  {                                                                  \
    {"x", proto::DT_FLOAT, {6, 4}}, {"ids", proto::DT_INT32, {6}}, { \
      "y", proto::DT_FLOAT, { 6, 5 }                                 \
    }                                                                \
  }

#define OPTIMIZER(name, type, ...)                                             \
  static Value name(Tracer& t, Value x, Value ids, Value y) {                  \
    return Train(t, x, ids, y, Squared, [&] { return type(t, __VA_ARGS__); }); \
  }                                                                            \
  GRAPNEL_TRACE(name, SPECS)

OPTIMIZER(Plain, Sgd, {.learning_rate = 0.1});
OPTIMIZER(Momentum, Sgd, {.learning_rate = 0.05, .momentum = 0.9, .common = {.clip_norm = 0.5}});
OPTIMIZER(
    Nesterov, Sgd,
    {.learning_rate = 0.05, .momentum = 0.9, .nesterov = true, .common = {.clip_value = 0.1}});
OPTIMIZER(RmsPlain, RmsProp, {.learning_rate = 0.01});
OPTIMIZER(RmsCentered, RmsProp, {.learning_rate = 0.005, .momentum = 0.5, .centered = true});
OPTIMIZER(AdamPlain, Adam, {.learning_rate = CosineDecay(0.05, 80, 0.1)});
OPTIMIZER(AdamAmsgrad, Adam,
          {.learning_rate = PiecewiseConstant({10, 50}, {0.1, 0.03, 0.01}), .amsgrad = true});
OPTIMIZER(AdamWDecay, AdamW,
          {.learning_rate = ExponentialDecay(0.05, 30, 0.5, true),
           .common = {.clip_global_norm = 1.0, .weight_decay = 0.01}});
// Updated by one op a variable, as tf.compat.v1.train does.
OPTIMIZER(FusedSgd, Sgd, {.learning_rate = 0.1, .common = {.fused = true}});
OPTIMIZER(FusedMomentum, Sgd, {.learning_rate = 0.05, .momentum = 0.9, .common = {.fused = true}});
OPTIMIZER(FusedRms, RmsProp, {.learning_rate = 0.01, .common = {.fused = true}});
OPTIMIZER(FusedCentered, RmsProp,
          {.learning_rate = 0.01, .centered = true, .common = {.fused = true}});
OPTIMIZER(FusedAdam, Adam, {.learning_rate = 0.01, .common = {.fused = true}});

#define LOSS(name, reduction, expression)                                              \
  static Value name##reduction(Tracer& t, Value x, Value ids, Value y) {               \
    auto loss = [](Tracer& t, const Value& y, const Value& p) -> Value {               \
      [[maybe_unused]] auto how = LossReduction::k##reduction;                         \
      [[maybe_unused]] auto softmax = [&] { return t.Op("Softmax", {p}); };            \
      [[maybe_unused]] auto number = [&] { return t.Op("ArgMax", {y, -1}); };          \
      return expression;                                                               \
    };                                                                                 \
    return Train(t, x, ids, y, loss, [&] { return Sgd(t, {.learning_rate = 0.02}); }); \
  }                                                                                    \
  GRAPNEL_TRACE(name##reduction, SPECS)
#define LOSSES(name, expression) \
  LOSS(name, Mean, expression);  \
  LOSS(name, Sum, expression)

LOSSES(Squared, MeanSquaredError(y, p, how));
LOSSES(Absolute, MeanAbsoluteError(y, p, how));
LOSSES(Huber, Huber(y, p, 0.7, how));
LOSSES(BinaryLogits, BinaryCrossentropy(y, p, Predictions::kLogits, how));
LOSSES(Binary, BinaryCrossentropy(y, Sigmoid(p), Predictions::kProbabilities, how));
LOSSES(CategoricalLogits, CategoricalCrossentropy(y, p, Predictions::kLogits, how));
LOSSES(Categorical, CategoricalCrossentropy(y, softmax(), Predictions::kProbabilities, how));
LOSSES(SparseLogits, SparseCategoricalCrossentropy(number(), p, Predictions::kLogits, how));
LOSSES(Sparse,
       SparseCategoricalCrossentropy(number(), softmax(), Predictions::kProbabilities, how));
