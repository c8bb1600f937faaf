// Layers, cells, losses, and numerics that do not overflow.
#include "grapnel/trace/check_ops.h"
#include "grapnel/trace/tensor_array.h"
#include "programs.h"

namespace grapnel {
namespace {

Values DenseLayers(Tracer&, Value x, Value w1, Value b1, Value w2, Value b2) {
  Value hidden = Relu(BiasAdd(MatMul(x, w1), b1));
  Value logits = BiasAdd(MatMul(hidden, w2), b2);
  return {Softmax(logits), hidden};
}
PROGRAM(DenseLayers, {{"x", kFloat, {2, 4}},
                      {"w1", kFloat, {4, 5}},
                      {"b1", kFloat, {5}},
                      {"w2", kFloat, {5, 3}},
                      {"b2", kFloat, {3}}});

Value ConvNet(Tracer&, Value x, Value kernel, Value bias, Value w) {
  Value conv = Conv2D(x, kernel, {1}, "SAME");
  Value active = Relu(BiasAdd(conv, bias));
  Value pooled = MaxPool2D(active, {2}, {2}, "VALID");
  Value flat = Reshape(pooled, {2, -1});
  return LogSoftmax(MatMul(flat, w));
}
PROGRAM(ConvNet, {{"x", kFloat, {2, 8, 8, 3}},
                  {"kernel", kFloat, {3, 3, 3, 4}},
                  {"bias", kFloat, {4}},
                  {"w", kFloat, {64, 5}}});

Values BatchNormTraining(Tracer&, Value x, Value beta, Value gamma) {
  auto [mean, variance] = Moments(x, {0});
  return {BatchNormalization(x, mean, variance, beta, gamma, 1e-3), mean, variance};
}
PROGRAM(BatchNormTraining, {{"x", kFloat, {4, 3}}, {"beta", kFloat, {3}}, {"gamma", kFloat, {3}}});

Value BatchNormInference(Tracer&, Value x, Value scale, Value offset, Value mean, Value variance) {
  FusedBatchNormOptions options = {mean, variance, 1e-3f, /*is_training=*/false};
  return Relu(FusedBatchNorm(x, scale, offset, options).y);
}
PROGRAM(BatchNormInference, {{"x", kFloat, {2, 4, 4, 3}},
                             {"scale", kFloat, {3}},
                             {"offset", kFloat, {3}},
                             {"mean", kFloat, {3}},
                             {"variance", kFloat, {3}}});

Values Pooling(Tracer&, Value x) {
  Value most = MaxPool2D(x, {2, 2}, {2, 2}, "SAME");
  Value mean = AvgPool2D(x, {3}, {1}, "VALID");
  return {most, mean, ReduceMean(x, std::vector<int>{1, 2})};
}
PROGRAM(Pooling, {{"x", kFloat, {1, 6, 6, 2}}});

Values Attention(Tracer&, Value q, Value k, Value v) {
  Value scores = MatMul(q, k, false, /*transpose_y=*/true);
  Value weights = Softmax(scores * 0.5f);
  return {MatMul(weights, v), weights};
}
PROGRAM(Attention, {{"q", kFloat, {2, 3, 4}}, {"k", kFloat, {2, 5, 4}}, {"v", kFloat, {2, 5, 6}}});

Value LayerNorm(Tracer&, Value x, Value gamma, Value beta) {
  auto [mean, variance] = Moments(x, {-1}, /*keep_dims=*/true);
  Value centered = x - mean;
  Value scaled = centered * Rsqrt(variance + 1e-5f);
  return scaled * gamma + beta;
}
PROGRAM(LayerNorm, {{"x", kFloat, {2, 6}}, {"gamma", kFloat, {6}}, {"beta", kFloat, {6}}});

// The state after one step, of four gates.
std::array<Value, 2> LstmStep(const Value& gates, const Value& c) {
  Values g = Split(gates, 4, 1);
  Value kept = Sigmoid(g[1]) * c;
  Value input = Sigmoid(g[0]);
  Value next_c = kept + input * Tanh(g[2]);
  Value output = Sigmoid(g[3]);
  return {output * Tanh(next_c), next_c};
}

Values LstmCell(Tracer&, Value x, Value h, Value c, Value w, Value b) {
  auto [next_h, next_c] = LstmStep(MatMul(Concat({x, h}, 1), w) + b, c);
  return {next_h, next_c};
}
PROGRAM(LstmCell, {{"x", kFloat, {2, 3}},
                   {"h", kFloat, {2, 4}},
                   {"c", kFloat, {2, 4}},
                   {"w", kFloat, {7, 16}},
                   {"b", kFloat, {16}}});

Values LstmLoop(Tracer& t, Value x, Value w) {
  auto rows = [](const std::vector<int64_t>& dims) {
    return TensorArrayOptions{.element_shape = Shape(llvm::ArrayRef<int64_t>(dims))};
  };
  TensorArray steps = TensorArray(t, kFloat, 4, rows({2, 3})).Unstack(x);
  TensorArray outputs(t, kFloat, 4, rows({2, 4}));
  auto body = [&](Value i, Value h, Value c, Value array) {
    Value gates = MatMul(Concat({steps.Read(i), h}, 1), w);
    auto [next_h, next_c] = LstmStep(gates, c);
    Value next = i + 1;
    return Values{next, next_h, next_c, outputs.With(array).Write(i, next_h)};
  };
  Value zero = t.Constant(0), h = Zeros(t, {2, 4}), c = Zeros(t, {2, 4});
  auto loop =
      t.While([](Value i, Value, Value, Value) { return i < 4; }, body, {zero, h, c, outputs});
  return {outputs.With(loop[3]).Stack(), loop[2]};
}
PROGRAM(LstmLoop, {{"x", kFloat, {4, 2, 3}}, {"w", kFloat, {7, 16}}});

Value GruCell(Tracer&, Value x, Value h, Value w, Value u) {
  Values gates = Split(Sigmoid(MatMul(Concat({x, h}, 1), w)), 2, 1);
  Value reset = gates[0] * h;
  Value candidate = Tanh(MatMul(Concat({x, reset}, 1), u));
  Value kept = gates[1] * h;
  Value share = 1.0f - gates[1];
  return kept + share * candidate;
}
PROGRAM(GruCell, {{"x", kFloat, {2, 3}},
                  {"h", kFloat, {2, 4}},
                  {"w", kFloat, {7, 8}},
                  {"u", kFloat, {7, 4}}});

Value EmbeddingBag(Tracer&, Value table, Value words, Value w) {
  Value mean = ReduceMean(EmbeddingLookup(table, words), 1);
  return MatMul(mean, w);
}
PROGRAM(EmbeddingBag,
        {{"table", kFloat, {6, 3}}, {"words", kInt32, {2, 4}}, {"w", kFloat, {3, 2}}});

Values ResidualGelu(Tracer&, Value x, Value w) {
  Value hidden = Gelu(MatMul(x, w));
  Value other = Elu(x);
  other += LeakyRelu(x, 0.1f);
  Value sum = x + hidden;
  Value unit = L2Normalize(hidden, 1);
  return {sum, other, unit, Silu(x)};
}
PROGRAM(ResidualGelu, {{"x", kFloat, {2, 4}}, {"w", kFloat, {4, 4}}});

Value CrossEntropy(Tracer&, Value logits, Value z) {
  return ReduceMean(SoftmaxCrossEntropyWithLogits(Softmax(z), logits));
}
PROGRAM(CrossEntropy, {{"logits", kFloat, {4, 3}}, {"z", kFloat, {4, 3}}});

Value SparseCrossEntropy(Tracer&, Value logits, Value labels, Value w) {
  Value loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(labels, logits));
  return loss + 0.01f * L2Loss(w);
}
PROGRAM(SparseCrossEntropy,
        {{"logits", kFloat, {4, 3}}, {"labels", kInt32, {4}}, {"w", kFloat, {3, 3}}});

Value HuberLoss(Tracer&, Value x, Value y) {
  Value error = Abs(x - y);
  Value small = Minimum(error, 1.0f);
  Value square = 0.5f * small * small;
  return ReduceMean(square + (error - small));
}
PROGRAM(HuberLoss, {{"x", kFloat, {5}}, {"y", kFloat, {5}}});

Values BinaryCrossEntropy(Tracer&, Value logits, Value labels) {
  Value truth = Cast(labels, kFloat);
  Value losses = SigmoidCrossEntropyWithLogits(truth, logits);
  return {ReduceSum(losses), losses};
}
PROGRAM(BinaryCrossEntropy, {{"logits", kFloat, {4}}, {"labels", kBool, {4}}});

Value StableSoftmax(Tracer&, Value x) {
  Value large = x * 100.0f;
  Value shifted = large - ReduceMax(x * 100.0f, 1, /*keep_dims=*/true);
  Value e = Exp(shifted);
  return e / ReduceSum(e, 1, /*keep_dims=*/true);
}
PROGRAM(StableSoftmax, {{"x", kFloat, {3, 4}}});

Values LogSumExp(Tracer&, Value x) {
  Value rows = ReduceLogSumExp(x * 100.0f, 1);
  return {rows, ReduceLogSumExp(x)};
}
PROGRAM(LogSumExp, {{"x", kFloat, {3, 4}}});

Values Clips(Tracer&, Value x) {
  Value value = ClipByValue(x, Operand(-0.5f), Operand(0.5f));
  return {value, ClipByNorm(x, Operand(1.0f))};
}
PROGRAM(Clips, {{"x", kFloat, {3, 3}}});

Values CheckedLog(Tracer&, Value x) {
  Value y = CheckNumerics(Log(x), "log of x");
  Value soft = Softplus(y);
  Value none = DivideNoNan(x, x - x);
  return {soft, none, LogSigmoid(y)};
}
PROGRAM(CheckedLog, {{"x", kFloat, {4}}});

}  // namespace
}  // namespace grapnel
