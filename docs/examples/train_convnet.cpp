// A convolution, batch normalization with moving averages, pooling, and a dense layer; momentum and
// a decaying learning rate.
//
//   grapnel train train_convnet.cpp --feed x=X.npy --feed y=Y.npy --steps 100
#include "grapnel/trace/losses.h"
#include "grapnel/trace/optimizers.h"
#include "grapnel/trace/registration.h"

using namespace grapnel;

constexpr int kBatch = 16, kSide = 8, kChannels = 6, kClasses = 4;

// Normalizes over the batch, as in training; a served network uses the moving averages.
static Value BatchNorm(Tracer& t, const Value& x, int64_t channels) {
  auto scope = t.Scope("batch_norm");
  Variable scale(t, "gamma", initial::Ones({channels})),
      shift(t, "beta", initial::Zeros({channels}));
  Variable mean(t, "moving_mean", initial::Zeros({channels}), {.trainable = false});
  Variable variance(t, "moving_variance", initial::Ones({channels}), {.trainable = false});
  Value none = t.Constant(initial::Zeros({0}));
  Operation norm = t.Op("FusedBatchNormV3", {x, scale, shift, none, none}, {{"epsilon", 0.001}});
  mean.AssignSub((mean - norm.output(1)) * 0.01f);
  variance.AssignSub((variance - norm.output(2)) * 0.01f);
  return norm.output(0);
}

Value TrainStep(Tracer& t, Value x, Value y) {
  Variable filter(t, "conv/kernel", initial::Glorot({3, 3, 1, kChannels}, /*seed=*/1));
  Variable kernel(t, "dense/kernel", initial::Glorot({4 * 4 * kChannels, kClasses}, /*seed=*/2));
  Variable bias(t, "dense/bias", initial::Zeros({kClasses}));
  std::vector<int64_t> ones = {1, 1, 1, 1}, twos = {1, 2, 2, 1};
  Value h = t.Op("Conv2D", {x, filter}, {{"strides", ones}, {"padding", "SAME"}});
  h = Relu(BatchNorm(t, h, kChannels));
  h = t.Op("MaxPool", {h}, {{"ksize", twos}, {"strides", twos}, {"padding", "VALID"}});
  Value logits = MatMul(Reshape(h, {kBatch, 4 * 4 * kChannels}), kernel) + bias;
  Value loss = SparseCategoricalCrossentropy(y, logits, Predictions::kLogits);
  Sgd sgd(t, {.learning_rate = ExponentialDecay(0.05, 20, 0.9), .momentum = 0.9});
  sgd.Minimize(loss, Trainable(t));
  return loss;
}
GRAPNEL_TRACE(TrainStep, {{"x", proto::DT_FLOAT, {kBatch, kSide, kSide, 1}},
                          {"y", proto::DT_INT32, {kBatch}}});
