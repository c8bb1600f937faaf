// Jacobians: a While goes over the elements of y and computes the gradient of each element alone.
#include "lib/trace/backprop.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/gradient.h"

namespace grapnel {
namespace {

bool DependsOn(const Value& y, const Value& x) {
  if (y.body() != x.body()) return true;  // different bodies: assumes that it does
  EagerRunner* eager = y.body()->is_eager ? y.body()->state->eager.get() : nullptr;
  if (eager && !eager->recording()) return true;  // the gradient reports it
  TraceBody& body = eager ? eager->recording()->body : *y.body();
  const Graph& graph = *body.graph;
  const Port x_port = eager ? eager->PortIn(x) : x.port();
  llvm::DenseSet<NodeId> seen;
  std::vector<Port> stack = {eager ? eager->PortIn(y) : y.port()};
  while (!stack.empty()) {
    Port port = stack.back();
    stack.pop_back();
    if (port == x_port) return true;
    Node node = graph.node(port.node);
    if (!IsTrainable(body.shapes.TypeOf(port)) || node.op() == "StopGradient") continue;
    if (!seen.insert(port.node).second) continue;
    for (int i = 0; i < node.num_inputs(); ++i) stack.push_back(node.input(i));
  }
  return false;
}

Values LoopOverElements(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs,
                        SeededGradients gradients) {
  GradientContext g(t.state(), *t.state().current, Node(), {}, 0);
  auto scope = g.Scope("jacobian");
  Value count = g.Size(y);
  Value y_shape = g.ShapeOf(y);
  Value any_shape = t.Constant(-1);
  std::vector<Operand> init = {t.Constant(0)};
  for (const Value& x : xs) {
    init.push_back(t.Op("TensorListReserve", {any_shape, count}, {{"element_dtype", x.dtype()}}));
  }
  Values lists = t.WhileLoop(
      [&](llvm::ArrayRef<Value> v) { return v[0] < count; },
      [&](llvm::ArrayRef<Value> v) {
        Value one_hot =
            t.Op("OneHot", {v[0], count, t.Constant(1, y.dtype()), t.Constant(0, y.dtype())});
        Values rows = gradients(xs, Reshape(one_hot, y_shape));
        Values next = {v[0] + 1};
        for (size_t i = 0; i < rows.size(); ++i)
          next.push_back(t.Op("TensorListSetItem", {v[i + 1], v[0], rows[i]}));
        return next;
      },
      init);
  Values jacobians;
  for (size_t i = 0; i < xs.size(); ++i) {
    Value x_shape = g.ShapeOf(xs[i]);
    Operation rows =
        t.Op("TensorListStack", {lists[i + 1], any_shape}, {{"element_dtype", xs[i].dtype()}});
    jacobians.push_back(g.Reshape(rows, g.Concat({y_shape, x_shape}, 0)));
  }
  return jacobians;
}

}  // namespace

Values MakeJacobian(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs, Unconnected unconnected,
                    SeededGradients gradients) {
  if (!y.ok()) return Values(xs.size(), y);
  // The loop collects gradients for each x on which y depends, so these xs must be known before the
  // loop.
  Values connected;
  std::vector<bool> is_connected;
  for (const Value& x : xs) {
    if (!x.ok()) return Values(xs.size(), x);
    is_connected.push_back(DependsOn(y, x));
    if (is_connected.back()) connected.push_back(x);
  }
  Values rows;
  if (!connected.empty()) rows = LoopOverElements(t, y, connected, gradients);
  Values jacobians;
  size_t next = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    if (is_connected[i]) {
      jacobians.push_back(rows[next++]);
    } else if (unconnected == Unconnected::kZeros) {
      GradientContext g(t.state(), *t.state().current, Node(), {}, 0);
      Value y_shape = g.ShapeOf(y);
      Value x_shape = g.ShapeOf(xs[i]);
      jacobians.push_back(g.Zeros(g.Concat({y_shape, x_shape}, 0), xs[i].dtype()));
    } else {
      jacobians.push_back(Value());
    }
  }
  return jacobians;
}

}  // namespace grapnel
