// Gradients as part of a program: tapes, nested tapes, custom gradients, gradients of loops and
// gathers.
#include "programs.h"

namespace grapnel {
namespace {

Values GradientOfDense(Tracer& t, Value x, Value w, Value b) {
  Tape tape(t);
  tape.Watch(w);
  tape.Watch(b);
  Value y = Tanh(MatMul(x, w) + b);
  Value loss = ReduceSum(y * y);
  Values gradients = tape.Gradient({loss}, {w, b});
  return {loss, gradients[0], gradients[1]};
}
PROGRAM(GradientOfDense, {{"x", kFloat, {2, 3}}, {"w", kFloat, {3, 4}}, {"b", kFloat, {4}}});

Values SecondDerivative(Tracer& t, Value x) {
  Tape outer(t);
  outer.Watch(x);
  Tape inner(t);
  inner.Watch(x);
  Value y = x * x * x;
  Value first = inner.Gradient(y, x);
  return {first, outer.Gradient(first, x)};
}
PROGRAM(SecondDerivative, {{"x", kFloat, {3}}});

Values CustomGradientOfLog(Tracer& t, Value x) {
  auto log1pexp = [](llvm::ArrayRef<Value> xs) {
    Value e = Exp(xs[0]);
    auto gradient = [e](llvm::ArrayRef<Value> upstream) {
      Value share = 1.0f / (1.0f + e);
      return Values{upstream[0] * (1.0f - share)};
    };
    return WithGradient{{Log(1.0f + e)}, gradient};
  };
  Tape tape(t);
  tape.Watch(x);
  Value y = CustomGradient(t, {x}, log1pexp)[0];
  return {y, tape.Gradient(y, x)};
}
PROGRAM(CustomGradientOfLog, {{"x", kFloat, {4}}});

Values StopGradients(Tracer& t, Value x, Value y) {
  Tape tape(t);
  tape.Watch(x);
  tape.Watch(y);
  Value left = x * StopGradient(y);
  Value z = left + StopGradient(x) * y;
  return tape.Gradient({z}, {x, y});
}
PROGRAM(StopGradients, {{"x", kFloat, {3}}, {"y", kFloat, {3}}});

Values GradientOfLoop(Tracer& t, Value x) {
  Tape tape(t);
  tape.Watch(x);
  auto body = [&](Value i, Value v) {
    Value next = i + 1;
    return Values{next, Sin(v) + x};
  };
  Value y = t.While([](Value i, Value) { return i < 3; }, body, {t.Constant(0), x})[1];
  return {y, tape.Gradient(y, x)};
}
PROGRAM(GradientOfLoop, {{"x", kFloat, {3}}});

Values GradientOfGather(Tracer& t, Value table, Value i) {
  Tape tape(t);
  tape.Watch(table);
  Value loss = ReduceSum(Square(Gather(table, i)));
  return {loss, tape.Gradient(loss, table)};
}
PROGRAM(GradientOfGather, {{"table", kFloat, {5, 2}}, {"i", kInt32, {3}}});

Values JacobianOfSoftmax(Tracer& t, Value x) {
  Tape tape(t);
  tape.Watch(x);
  return tape.Jacobian(Softmax(x), {x});
}
PROGRAM(JacobianOfSoftmax, {{"x", kFloat, {3}}});

}  // namespace
}  // namespace grapnel
