// An LSTM over a sequence, as a loop in the graph, that predicts a number from it; RMSProp,
// gradients clipped by their norm.
//
//   grapnel train train_lstm.cpp --feed x=X.npy --feed y=Y.npy --steps 100
#include "grapnel/trace/losses.h"
#include "grapnel/trace/optimizers.h"
#include "grapnel/trace/registration.h"

using namespace grapnel;

constexpr int kBatch = 8, kTime = 6, kInputs = 3, kUnits = 5;

// The state after all steps; x is [batch, time, inputs].
static Value Lstm(Tracer& t, const Value& x) {
  auto scope = t.Scope("lstm");
  Variable kernel(t, "kernel", initial::Glorot({kInputs, 4 * kUnits}, /*seed=*/1));
  Variable recurrent(t, "recurrent", initial::Glorot({kUnits, 4 * kUnits}, /*seed=*/2));
  Variable bias(t, "bias", initial::Zeros({4 * kUnits}));
  Value by_time = t.Op("Transpose", {x, {1, 0, 2}});
  Value zeros = t.Constant(initial::Zeros({kBatch, kUnits}));
  auto more = [](Value i, Value, Value) { return i < kTime; };
  auto step = [&](Value i, Value h, Value c) {
    Value now = t.Op("GatherV2", {by_time, i, 0});
    Value from_input = MatMul(now, kernel);
    Value z = from_input + MatMul(h, recurrent) + bias;
    Operation gates = t.Op("Split", {1, z}, {{"num_split", 4}});
    Value in = Sigmoid(gates.output(0)), forget = Sigmoid(gates.output(1));
    Value candidate = Tanh(gates.output(2)), out = Sigmoid(gates.output(3));
    Value kept = forget * c;
    Value next = kept + in * candidate;
    return Values{i + 1, out * Tanh(next), next};
  };
  return t.While(more, step, {0, zeros, zeros})[1];
}

Value TrainStep(Tracer& t, Value x, Value y) {
  Variable kernel(t, "dense/kernel", initial::Glorot({kUnits, 1}, /*seed=*/3));
  Value loss = MeanSquaredError(y, MatMul(Lstm(t, x), kernel));
  RmsProp rms_prop(t, {.learning_rate = 0.01, .common = {.clip_global_norm = 1.0}});
  rms_prop.Minimize(loss, Trainable(t));
  return loss;
}
GRAPNEL_TRACE(TrainStep, {{"x", proto::DT_FLOAT, {kBatch, kTime, kInputs}},
                          {"y", proto::DT_FLOAT, {kBatch, 1}}});
