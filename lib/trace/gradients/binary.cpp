// Elementwise math of two tensors with broadcasting.
#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

using G = GradientContext;

Gradient Unless(bool skipped, llvm::function_ref<Value()> gradient) {
  return skipped ? Gradient() : Gradient(gradient());
}

// --- Sums.

InputGradients AddNOf(G& g) { return InputGradients(g.num_inputs(), g.gradient()); }
GRAPNEL_GRADIENT("AddN", AddNOf);
GRAPNEL_GRADIENT("AccumulateNV2", AddNOf);

InputGradients AddOf(G& g) {
  if (SkipsScalar(g)) return {g.gradient()};
  const Value& dy = g.dy();
  if (SameKnownShapes(g.x(0), g.x(1), dy)) return {dy, dy};
  Gradient gx = g.Skips(0) ? Gradient() : Gradient(dy);
  Gradient gy = g.Skips(1) ? Gradient() : Gradient(dy);
  return ReduceGradientArgs(g, g.x(0), g.x(1), gx, gy);
}
GRAPNEL_GRADIENT("Add", AddOf);
GRAPNEL_GRADIENT("AddV2", AddOf);

InputGradients SubOf(G& g) {
  if (SkipsScalar(g)) return {g.gradient()};
  const Value& dy = g.dy();
  if (SameKnownShapes(g.x(0), g.x(1), dy)) return {dy, -dy};
  Gradient gx = g.Skips(0) ? Gradient() : Gradient(dy);
  Gradient gy = Unless(g.Skips(1), [&] { return -dy; });
  return ReduceGradientArgs(g, g.x(0), g.x(1), gx, gy);
}
GRAPNEL_GRADIENT("Sub", SubOf);

// --- Products and quotients.

InputGradients MulOf(G& g) {
  Value x = g.x(0), y = g.x(1);
  const Value& dy = g.dy();
  if (SkipsScalar(g)) return {g.Op("Mul", {dy, g.Conj(y)})};
  bool is_plain = dy.dtype() == proto::DT_FLOAT || dy.dtype() == proto::DT_INT32;
  if (is_plain && SameKnownShapes(x, y, dy)) {
    Value gx = g.Op("Mul", {dy, y});
    return {gx, g.Op("Mul", {dy, x})};
  }
  Gradient gx = Unless(g.Skips(0), [&] { return g.Op("Mul", {dy, g.Conj(y)}).output(); });
  Gradient gy = Unless(g.Skips(1), [&] { return g.Op("Mul", {g.Conj(x), dy}).output(); });
  return ReduceGradientArgs(g, x, y, gx, gy);
}
GRAPNEL_GRADIENT("Mul", MulOf);

InputGradients MulNoNanOf(G& g) {
  Value gx = g.Op("MulNoNan", {g.dy(), g.x(1)});
  Value gy = g.Op("MulNoNan", {g.x(0), g.dy()});
  if (SameKnownShapes(g.x(0), g.x(1), g.dy())) return {gx, gy};
  return ReduceGradientArgs(g, g.x(0), g.x(1), gx, gy);
}
GRAPNEL_GRADIENT("MulNoNan", MulNoNanOf);

// `divide` makes a quotient as the forward op does. With `uses_conjugates`, sums to the shapes of
// the conjugates of the inputs instead of the inputs: TensorFlow does so for DivNoNan.
InputGradients QuotientOf(G& g, llvm::function_ref<Value(const Value&, const Value&)> divide,
                          bool uses_conjugates = false) {
  Value x = g.Conj(g.x(0));
  Value y = g.Conj(g.x(1));
  Value gx = divide(g.dy(), y);
  Value ratio = divide(-x, y);
  Value gy = g.dy() * divide(ratio, y);
  if (uses_conjugates) return ReduceGradientArgs(g, x, y, gx, gy);
  return ReduceGradientArgs(g, g.x(0), g.x(1), gx, gy);
}
GRAPNEL_GRADIENT("Div", [](G& g) {
  return QuotientOf(g, [](const Value& x, const Value& y) { return x / y; });
});
GRAPNEL_GRADIENT("RealDiv", [](G& g) {
  return QuotientOf(g, [&](const Value& x, const Value& y) {
    return g.Op("RealDiv", {x, y}).output();
  });
});
GRAPNEL_GRADIENT("DivNoNan", [](G& g) {
  return QuotientOf(
      g,
      [&](const Value& x, const Value& y) {
        return g.Scoped("DivNoNan", {x, y}, {}, "div_no_nan");
      },
      /*uses_conjugates=*/true);
});
InputGradients None(G&) { return {}; }
GRAPNEL_GRADIENT("FloorDiv", None);
GRAPNEL_GRADIENT("TruncateDiv", None);

InputGradients FloorModOf(G& g) {
  Value x = g.Conj(g.x(0));
  Value y = g.Conj(g.x(1));
  Value whole = g.Op("FloorDiv", {x, y});
  Value gy = g.dy() * -whole;
  return ReduceGradientArgs(g, x, y, g.dy(), gy);
}
GRAPNEL_GRADIENT("FloorMod", FloorModOf);

InputGradients PowOf(G& g) {
  Value x = g.Conj(g.x(0));
  Value y = g.Conj(g.x(1));
  auto of_base = [&] {
    Value scaled = g.dy() * y;
    return scaled * g.Scoped("Pow", {x, y - 1});
  };
  if (SkipsScalar(g)) return {of_base()};
  Gradient gx = Unless(g.Skips(0), of_base);
  Gradient gy = Unless(g.Skips(1), [&] {
    Value is_safe = IsComplex(x.dtype()) ? g.Op("NotEqual", {x, 0}).output() : x > 0;
    Value ones = g.OnesLike(g.x(0));
    Value safe = g.Op("Select", {is_safe, x, ones});
    Value log_x = Log(safe);
    Value zeros = g.ZerosLike(g.x(0));
    Value log_or_zero = g.Op("Select", {is_safe, log_x, zeros});
    Value scaled = g.dy() * g.Conj(g.y());
    return scaled * log_or_zero;
  });
  return ReduceGradientArgs(g, g.x(0), g.x(1), gx, gy);
}
GRAPNEL_GRADIENT("Pow", PowOf);

InputGradients SquaredDifferenceOf(G& g) {
  Value x = g.x(0), y = g.x(1);
  Value partial;
  {
    auto after = g.AfterGradient();
    Value two = g.Constant(2, g.dy().dtype(), "scalar");
    Value scaled = g.Op("Mul", {two, g.dy()});
    partial = scaled * (x - y);
  }
  if (SameKnownShapes(x, y, g.dy())) return {partial, -partial};
  Gradient gx = g.Skips(0) ? Gradient() : Gradient(partial);
  Gradient gy = Unless(g.Skips(1), [&] { return -partial; });
  return ReduceGradientArgs(g, x, y, gx, gy);
}
GRAPNEL_GRADIENT("SquaredDifference", SquaredDifferenceOf);

InputGradients Atan2Of(G& g) {
  Value y = g.x(0), x = g.x(1);
  auto after = g.AfterGradient();
  Value y_squared = Square(y);
  Value sum = y_squared + Square(x);
  Value ratio = g.dy() / sum;
  Value gy = x * ratio;
  Value gx = -y * ratio;
  return ReduceGradientArgs(g, y, x, gy, gx);
}
GRAPNEL_GRADIENT("Atan2", Atan2Of);

InputGradients NextAfterOf(G& g) {
  Value x_shape = g.ShapeOf(g.x(0));
  Value y_shape = g.ShapeOf(g.x(1));
  BroadcastAxes axes = AxesOf(g, x_shape, y_shape);
  auto after = g.AfterGradient();
  Value of_x = g.Ones(x_shape, g.x(0).dtype());
  Value of_y = g.Zeros(y_shape, g.x(1).dtype());
  Value gx = SumTo(g, of_x * g.dy(), axes.x, x_shape);
  return {gx, SumTo(g, of_y * g.dy(), axes.y, y_shape)};
}
GRAPNEL_GRADIENT("NextAfter", NextAfterOf);

// --- Selection, complex numbers, cross products.

InputGradients ExtremeOf(G& g, const char* comparison) {
  Value x = g.x(0), y = g.x(1);
  Value zeros = g.ZerosLike(g.dy());
  Value takes_x = g.Op(comparison, {x, y});
  if (SkipsScalar(g)) return {Select(takes_x, g.dy(), zeros)};
  Gradient gx = Unless(g.Skips(0), [&] { return Select(takes_x, g.dy(), zeros); });
  Gradient gy = Unless(g.Skips(1), [&] { return Select(takes_x, zeros, g.dy()); });
  return ReduceGradientArgs(g, x, y, gx, gy);
}
GRAPNEL_GRADIENT("Maximum", [](G& g) { return ExtremeOf(g, "GreaterEqual"); });
GRAPNEL_GRADIENT("Minimum", [](G& g) { return ExtremeOf(g, "LessEqual"); });

InputGradients SelectOf(G& g) {
  Value zeros = g.ZerosLike(g.x(1));
  Value gx = g.Op("Select", {g.x(0), g.dy(), zeros});
  return {Gradient(), gx, g.Op("Select", {g.x(0), zeros, g.dy()})};
}
GRAPNEL_GRADIENT("Select", SelectOf);

InputGradients SelectV2Of(G& g) {
  Value zeros = g.Zeros(llvm::ArrayRef<int64_t>(), g.dy().dtype());
  Value gx = Select(g.x(0), g.dy(), zeros);
  Value gy = Select(g.x(0), zeros, g.dy());
  InputGradients of_x = ReduceGradientArgs(g, g.x(1), g.y(), gx, Gradient());
  InputGradients of_y = ReduceGradientArgs(g, g.x(2), g.y(), gy, Gradient());
  return {Gradient(), of_x[0], of_y[0]};
}
GRAPNEL_GRADIENT("SelectV2", SelectV2Of);

InputGradients ClipByValueOf(G& g) {
  Value x = g.x(0);
  Value x_shape = g.ShapeOf(x);
  Value low_shape = g.ShapeOf(g.x(1));
  Value high_shape = g.ShapeOf(g.x(2));
  Value zeros = g.Zeros(g.ShapeOf(g.dy()), g.dy().dtype());
  Value below = x < g.x(1);
  Value above = x > g.x(2);
  BroadcastAxes low = AxesOf(g, x_shape, low_shape);
  BroadcastAxes high = AxesOf(g, x_shape, high_shape);
  Value outside = g.Op("LogicalOr", {below, above});
  Value gx = g.Op("Select", {outside, zeros, g.dy()});
  Value of_low = g.Op("Select", {below, g.dy(), zeros});
  Value of_high = g.Op("Select", {above, g.dy(), zeros});
  Value g_low = SumTo(g, of_low, low.y, low_shape);
  return {gx, g_low, SumTo(g, of_high, high.y, high_shape)};
}
GRAPNEL_GRADIENT("ClipByValue", ClipByValueOf);

InputGradients ComplexOf(G& g) {
  DataType real = g.x(0).dtype();
  Value gx = g.Scoped("Real", {g.dy()}, {{"Tout", real}});
  Value gy = g.Scoped("Imag", {g.dy()}, {{"Tout", real}});
  return ReduceGradientArgs(g, g.x(0), g.x(1), gx, gy);
}
GRAPNEL_GRADIENT("Complex", ComplexOf);

InputGradients CrossOf(G& g) {
  Value gu = g.Op("Cross", {g.x(1), g.dy()});
  return {gu, g.Op("Cross", {g.dy(), g.x(0)})};
}
GRAPNEL_GRADIENT("Cross", CrossOf);

// --- Comparisons and logic have no gradient: a small change of an input does not change their
// output.

GRAPNEL_NO_GRADIENT("Less");
GRAPNEL_NO_GRADIENT("LessEqual");
GRAPNEL_NO_GRADIENT("Greater");
GRAPNEL_NO_GRADIENT("GreaterEqual");
GRAPNEL_NO_GRADIENT("Equal");
GRAPNEL_NO_GRADIENT("ApproximateEqual");
GRAPNEL_NO_GRADIENT("NotEqual");
GRAPNEL_NO_GRADIENT("LogicalAnd");
GRAPNEL_NO_GRADIENT("LogicalOr");
GRAPNEL_NO_GRADIENT("LogicalNot");

}  // namespace
}  // namespace grapnel
