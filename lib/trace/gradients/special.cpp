// Special functions: error functions, gamma and beta, Bessel, and others of tf.math.special.
#include <cmath>

#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- Error functions.

// Returns dy * factor * exp(exponent).
InputGradients TimesExp(G& g, double factor, llvm::function_ref<Value()> exponent) {
  Value scale = g.Constant(factor, g.dy().dtype());
  auto after = g.AfterGradient();
  Value scaled = g.dy() * scale;
  return {scaled * Exp(exponent())};
}
InputGradients ErfLike(G& g, double factor) {
  Value scale = g.Constant(factor, g.dy().dtype());
  auto after = g.AfterGradient();
  Value x = g.Conj(g.x());
  Value scaled = g.dy() * scale;
  return {scaled * Exp(-Square(x))};
}
const double kPi = std::acos(-1.0);
GRAPNEL_GRADIENT("Erf", [](G& g) { return ErfLike(g, 2 / std::sqrt(kPi)); });
GRAPNEL_GRADIENT("Erfc", [](G& g) { return ErfLike(g, -2 / std::sqrt(kPi)); });
GRAPNEL_GRADIENT("Erfinv", [](G& g) {
  return TimesExp(g, std::sqrt(kPi) / 2, [&] { return Square(g.y()); });
});
GRAPNEL_GRADIENT("Ndtri", [](G& g) {
  return TimesExp(g, std::sqrt(2 * kPi), [&] { return Square(g.y()) / 2.0; });
});

// --- Gamma.

InputGradients LgammaOf(G& g) {
  auto after = g.AfterGradient();
  return {g.dy() * g.Op("Digamma", {g.Conj(g.x())})};
}
GRAPNEL_GRADIENT("Lgamma", LgammaOf);
InputGradients DigammaOf(G& g) {
  auto after = g.AfterGradient();
  Value x = g.Conj(g.x());
  Value one = g.Constant(1, x.dtype());
  return {g.dy() * g.Op("Polygamma", {one, x})};
}
GRAPNEL_GRADIENT("Digamma", DigammaOf);

InputGradients IgammaOf(G& g) {
  Value a = g.x(0), x = g.x(1);
  Value a_shape = g.ShapeOf(a);
  Value x_shape = g.ShapeOf(x);
  BroadcastAxes axes = AxesOf(g, a_shape, x_shape);
  auto after = g.AfterGradient();
  Value partial_a = g.Op("IgammaGradA", {a, x});
  Value negative = -x;
  Value power = a - 1;
  Value scaled = power * Log(x);
  Value sum = negative + scaled;
  Value partial_x = Exp(sum - g.Op("Lgamma", {a}));
  Value ga = SumTo(g, partial_a * g.dy(), axes.x, a_shape);
  return {ga, SumTo(g, partial_x * g.dy(), axes.y, x_shape)};
}
GRAPNEL_GRADIENT("Igamma", IgammaOf);
GRAPNEL_GRADIENT("Igammac", [](G& g) -> InputGradients {
  InputGradients of = IgammaOf(g);
  Value first = -of[0].values;
  return {first, -of[1].values};
});

InputGradients BetaincOf(G& g) {
  Value a = g.x(0), b = g.x(1), x = g.x(2);
  Value a_shape = g.ShapeOf(a);
  Value x_shape = g.ShapeOf(x);
  BroadcastAxes axes = AxesOf(g, a_shape, x_shape);
  Value of_a = g.Op("Lgamma", {a});
  Value sum = of_a + g.Op("Lgamma", {b});
  Value log_beta = sum - g.Op("Lgamma", {a + b});
  Value one_less_b = b - 1;
  Value negative = -x;
  Value first;
  {
    auto scope = g.Scope("xlog1py");
    first = g.Op("Xlog1py", {one_less_b, negative});
  }
  Value one_less_a = a - 1;
  Value both = first + g.Op("Xlogy", {one_less_a, x});
  Value partial_x = Exp(both - log_beta);
  return {Gradient(), Gradient(), SumTo(g, partial_x * g.dy(), axes.y, x_shape)};
}
GRAPNEL_GRADIENT("Betainc", BetaincOf);

InputGradients ZetaOf(G& g) {
  Value x_shape = g.ShapeOf(g.x(0));
  Value q_shape = g.ShapeOf(g.x(1));
  BroadcastAxes axes = AxesOf(g, x_shape, q_shape);
  auto after = g.AfterGradient();
  Value x = g.Conj(g.x(0));
  Value q = g.Conj(g.x(1));
  Value negative = -x;
  Value partial = negative * g.Op("Zeta", {x + 1, q});
  return {Gradient(), SumTo(g, partial * g.dy(), axes.y, q_shape)};
}
GRAPNEL_GRADIENT("Zeta", ZetaOf);

InputGradients PolygammaOf(G& g) {
  Value n_shape = g.ShapeOf(g.x(0));
  Value x_shape = g.ShapeOf(g.x(1));
  BroadcastAxes axes = AxesOf(g, n_shape, x_shape);
  auto after = g.AfterGradient();
  Value n = g.Conj(g.x(0));
  Value x = g.Conj(g.x(1));
  Value partial = g.Op("Polygamma", {n + 1, x});
  return {Gradient(), SumTo(g, partial * g.dy(), axes.y, x_shape)};
}
GRAPNEL_GRADIENT("Polygamma", PolygammaOf);

// --- x * log(y) and similar functions, which are 0 where x is 0.

InputGradients LogProduct(G& g, llvm::function_ref<Value(const Value& not_zero)> of_x,
                          llvm::function_ref<Value()> of_y) {
  Value x = g.x(0);
  Value x_shape = g.ShapeOf(x);
  Value y_shape = g.ShapeOf(g.x(1));
  BroadcastAxes axes = AxesOf(g, x_shape, y_shape);
  auto after = g.AfterGradient();
  Value zero = g.CastNumber(0, x.dtype());
  Value not_zero = Cast(g.Op("NotEqual", {x, zero}), x.dtype());
  Value partial_x = of_x(not_zero);
  Value partial_y = of_y();
  Value gx = SumTo(g, partial_x * g.dy(), axes.x, x_shape);
  return {gx, SumTo(g, partial_y * g.dy(), axes.y, y_shape)};
}
GRAPNEL_GRADIENT("Xlogy", [](G& g) {
  return LogProduct(
      g,
      [&](const Value& one) {
        return g.Op("Xlogy", {one, g.x(1)}).output();
      },
      [&] {
        return g.Op("Xdivy", {g.x(0), g.x(1)}).output();
      });
});
GRAPNEL_GRADIENT("Xlog1py", [](G& g) {
  return LogProduct(
      g,
      [&](const Value& one) {
        return g.Op("Xlog1py", {one, g.x(1)}).output();
      },
      [&] {
        return g.Op("Xdivy", {g.x(0), g.x(1) + 1.0}).output();
      });
});
GRAPNEL_GRADIENT("Xdivy", [](G& g) {
  return LogProduct(
      g,
      [&](const Value& one) {
        return g.Op("Xdivy", {one, g.x(1)}).output();
      },
      [&] {
        Value negative = -g.x(0);
        return g.Op("Xdivy", {negative, Pow(g.x(1), 2)}).output();
      });
});

// --- Integrals.

GRAPNEL_GRADIENT("Dawsn", [](G& g) -> InputGradients {
  auto after = g.AfterGradient();
  Value product = 2 * g.x() * g.y();
  return {g.dy() * (1.0 - product)};
});
GRAPNEL_GRADIENT("Expint", [](G& g) -> InputGradients {
  auto after = g.AfterGradient();
  Value scaled = g.dy() * Exp(g.x());
  return {scaled / g.x()};
});
InputGradients FresnelOf(G& g, const char* op) {
  auto after = g.AfterGradient();
  Value angle = kPi / 2.0 * Square(g.x());
  return {g.dy() * g.Op(op, {angle})};
}
GRAPNEL_GRADIENT("FresnelCos", [](G& g) { return FresnelOf(g, "Cos"); });
GRAPNEL_GRADIENT("FresnelSin", [](G& g) { return FresnelOf(g, "Sin"); });
InputGradients SpenceOf(G& g) {
  auto after = g.AfterGradient();
  Value log_x = Log(g.x());
  Value partial = log_x / (1 - g.x());
  Value at_one = g.Op("Equal", {g.x(), 1.0});
  Value minus_one = -g.OnesLike(g.x());
  return {g.dy() * g.Op("Select", {at_one, minus_one, partial})};
}
GRAPNEL_GRADIENT("Spence", SpenceOf);

// --- Bessel functions: dy * (the derivative, from the functions of the next and previous order).

// Makes a RealDiv named "div", as math_ops.div does.
Value Div(G& g, const Value& x, const Value& y) { return g.Scoped("RealDiv", {x, y}, {}, "div"); }

// Makes a Bessel op such as BesselI0e, in the name scope of its Python function ("bessel_i0e").
Value Bessel(G& g, llvm::StringRef op) {
  auto scope = g.Scope("bessel_" + op.drop_front(6).lower());
  return g.Op(op, {g.x()});
}

InputGradients TimesPartial(G& g, llvm::function_ref<Value()> partial) {
  auto after = g.AfterGradient();
  Value made = partial();
  return {g.dy() * made};
}
// Returns `at_zero` where x is 0, because the formula of `otherwise` divides by x.
Value UnlessZero(G& g, double at_zero, llvm::function_ref<Value()> otherwise) {
  Value is_zero = g.Op("Equal", {g.x(), 0.0});
  Value value = g.CastNumber(at_zero, g.x().dtype());
  return Select(is_zero, value, otherwise());
}
GRAPNEL_GRADIENT("BesselI0",
                 [](G& g) { return TimesPartial(g, [&] { return Bessel(g, "BesselI1"); }); });
GRAPNEL_GRADIENT("BesselI0e", [](G& g) {
  return TimesPartial(g, [&] {
    Value next = Bessel(g, "BesselI1e");
    return next - g.Op("Sign", {g.x()}) * g.y();
  });
});
GRAPNEL_GRADIENT("BesselI1", [](G& g) {
  return TimesPartial(g, [&] {
    return UnlessZero(g, 1.0, [&] {
      Value last = Bessel(g, "BesselI0");
      return last - Div(g, g.y(), g.x());
    });
  });
});
GRAPNEL_GRADIENT("BesselI1e", [](G& g) {
  return TimesPartial(g, [&] {
    return UnlessZero(g, 0.5, [&] {
      Value last = Bessel(g, "BesselI0e");
      Value sign = g.Op("Sign", {g.x()});
      Value sum = sign + g.Op("Reciprocal", {g.x()});
      return last - g.y() * sum;
    });
  });
});
GRAPNEL_GRADIENT("BesselK0",
                 [](G& g) { return TimesPartial(g, [&] { return -Bessel(g, "BesselK1"); }); });
GRAPNEL_GRADIENT("BesselK0e", [](G& g) {
  return TimesPartial(g, [&] { return g.y() - Bessel(g, "BesselK1e"); });
});
GRAPNEL_GRADIENT("BesselK1", [](G& g) {
  return TimesPartial(g, [&] {
    Value last = -Bessel(g, "BesselK0");
    return last - Div(g, g.y(), g.x());
  });
});
GRAPNEL_GRADIENT("BesselK1e", [](G& g) {
  return TimesPartial(g, [&] {
    Value inverse = g.Op("Reciprocal", {g.x()});
    Value scaled = g.y() * (1.0 - inverse);
    return scaled - Bessel(g, "BesselK0e");
  });
});
GRAPNEL_GRADIENT("BesselJ0",
                 [](G& g) { return TimesPartial(g, [&] { return -Bessel(g, "BesselJ1"); }); });
GRAPNEL_GRADIENT("BesselJ1", [](G& g) {
  return TimesPartial(g, [&] {
    return UnlessZero(g, 0.5, [&] {
      Value last = Bessel(g, "BesselJ0");
      return last - Div(g, g.y(), g.x());
    });
  });
});
GRAPNEL_GRADIENT("BesselY0",
                 [](G& g) { return TimesPartial(g, [&] { return -Bessel(g, "BesselY1"); }); });
GRAPNEL_GRADIENT("BesselY1", [](G& g) {
  return TimesPartial(g, [&] {
    Value last = Bessel(g, "BesselY0");
    return last - Div(g, g.y(), g.x());
  });
});

}  // namespace
}  // namespace grapnel
