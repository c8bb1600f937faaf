// A transformer block over words: embedding, attention, layer normalization, a dense layer; AdamW.
// The embedding's gradient is rows of its table.
//
//   grapnel train train_transformer.cpp --feed x=X.npy --feed y=Y.npy --steps 100
#include "grapnel/trace/losses.h"
#include "grapnel/trace/optimizers.h"
#include "grapnel/trace/registration.h"

using namespace grapnel;

constexpr int kBatch = 4, kTime = 5, kWords = 11, kUnits = 8;

struct Layers {
  explicit Layers(Tracer& t) : t(t) {}

  Variable Kernel(const char* name, int64_t inputs, int64_t outputs) {
    return Variable(t, name, initial::Glorot({inputs, outputs}, ++seed));
  }
  // Multiplies [batch, time, inputs] by a matrix.
  Value Dense(const Value& x, const Variable& kernel, int inputs, int outputs) {
    Value flat = Reshape(x, {kBatch * kTime, inputs});
    return Reshape(MatMul(flat, kernel), {kBatch, kTime, outputs});
  }
  Value Norm(const Value& x, const char* name) {
    auto scope = t.Scope(name);
    Variable scale(t, "gamma", initial::Ones({kUnits})), shift(t, "beta", initial::Zeros({kUnits}));
    Value centered = x - ReduceMean(x, -1, /*keep_dims=*/true);
    Value variance = ReduceMean(Square(centered), -1, /*keep_dims=*/true);
    Value unit = centered / Sqrt(variance + 1e-5f);
    return unit * scale + shift;
  }
  Value Attend(const Value& x) {
    auto scope = t.Scope("attention");
    Variable query = Kernel("query", kUnits, kUnits), key = Kernel("key", kUnits, kUnits);
    Variable value = Kernel("value", kUnits, kUnits);
    Value q = Dense(x, query, kUnits, kUnits), k = Dense(x, key, kUnits, kUnits);
    Value scores = t.Op("BatchMatMulV2", {q, k}, {{"adj_y", true}});
    Value weights = t.Op("Softmax", {scores * 0.35355338f});
    return t.Op("BatchMatMulV2", {weights, Dense(x, value, kUnits, kUnits)});
  }

  Tracer& t;
  uint64_t seed = 0;
};

// The next word for each.
Value TrainStep(Tracer& t, Value x, Value y) {
  Layers layers(t);
  Variable table(t, "embedding", initial::Uniform({kWords, kUnits}, -0.5, 0.5, /*seed=*/100));
  Value h = table.Gather(x);
  h = layers.Norm(h + layers.Attend(h), "norm_1");
  Variable wide = layers.Kernel("dense_1", kUnits, 2 * kUnits);
  Variable narrow = layers.Kernel("dense_2", 2 * kUnits, kUnits);
  Value inner = Relu(layers.Dense(h, wide, kUnits, 2 * kUnits));
  h = layers.Norm(h + layers.Dense(inner, narrow, 2 * kUnits, kUnits), "norm_2");
  Value logits = layers.Dense(h, layers.Kernel("output", kUnits, kWords), kUnits, kWords);
  Value loss = SparseCategoricalCrossentropy(y, logits, Predictions::kLogits);
  AdamW adam(t, {.learning_rate = 0.005});
  adam.Minimize(loss, Trainable(t));
  return loss;
}
GRAPNEL_TRACE(TrainStep,
              {{"x", proto::DT_INT32, {kBatch, kTime}}, {"y", proto::DT_INT32, {kBatch, kTime}}});
