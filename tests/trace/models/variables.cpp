// tests/python/variable_graphs_test.py compares these with tf.function's graphs, node for node.
#include "grapnel/trace/ops.h"
#include "grapnel/trace/registration.h"
#include "grapnel/trace/variable.h"

using namespace grapnel;

static Literal Square4() {
  const float numbers[] = {1, 2, 3, 4};
  return Literal::Make(proto::DT_FLOAT, {2, 2},
                       llvm::StringRef(reinterpret_cast<const char*>(numbers), sizeof(numbers)));
}

Values ReadsAndWrites(Tracer& t, Value x) {
  CaptureVariables(t);
  Variable w(t, "w", Square4()), b(t, "b", std::vector<float>{1, 2});
  Value y = MatMul(x, w) + b;
  Value z = w.Read();
  w.AssignAdd(x);
  w.Assign(w * 2.0f);
  w.AssignSub(y);
  w.Gather({0, 1});
  Value rows = w.Gather({1});
  b.AssignAdd(ReduceSum(rows, 0));
  return {y + z, Value(w)};
}
GRAPNEL_TRACE(ReadsAndWrites, {{"x", proto::DT_FLOAT, {2, 2}}});

Values Branches(Tracer& t, Value x) {
  CaptureVariables(t);
  Variable w(t, "w", Square4()), b(t, "b", std::vector<float>{1, 2});
  Value y = MatMul(x, w);
  Value is_more = ReduceSum(x) > 0.0f;
  Value z = t.If(
      is_more, [&] { return y + b; }, [&] { return y * b; });
  b.AssignAdd(ReduceSum(z, 0));
  return {z, Value(b)};
}
GRAPNEL_TRACE(Branches, {{"x", proto::DT_FLOAT, {2, 2}}});

Values TapeOfVariables(Tracer& t, Value x) {
  CaptureVariables(t);
  Variable w(t, "w", Square4()), b(t, "b", std::vector<float>{1, 2});
  Tape tape(t);
  Value y = MatMul(x, w) + b;
  Value loss = ReduceSum(y * y);
  Values gradients = tape.Gradient(llvm::ArrayRef<Value>(loss), {w.handle(), b.handle()});
  w.AssignSub(gradients[0]);
  b.AssignSub(gradients[1]);
  return {loss};
}
GRAPNEL_TRACE(TapeOfVariables, {{"x", proto::DT_FLOAT, {2, 2}}});
