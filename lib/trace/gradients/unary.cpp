// Elementwise math of one tensor.
#include <cmath>

#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- Ops whose gradient is a single op, of y and the incoming gradient.

InputGradients ReciprocalOf(G& g) { return {g.Op("ReciprocalGrad", {g.y(), g.dy()})}; }
GRAPNEL_GRADIENT("Inv", ReciprocalOf);
GRAPNEL_GRADIENT("Reciprocal", ReciprocalOf);
GRAPNEL_GRADIENT("Sqrt", [](G& g) -> InputGradients {
  return {g.Op("SqrtGrad", {g.y(), g.dy()})};
});
GRAPNEL_GRADIENT("Rsqrt", [](G& g) -> InputGradients {
  return {g.Op("RsqrtGrad", {g.y(), g.dy()})};
});

InputGradients TanhOf(G& g) {
  auto after = g.AfterGradient();
  return {g.Op("TanhGrad", {g.Conj(g.y()), g.dy()})};
}
GRAPNEL_GRADIENT("Tanh", TanhOf);

InputGradients SigmoidOf(G& g) {
  auto after = g.AfterGradient();
  return {g.Op("SigmoidGrad", {g.Conj(g.y()), g.dy()})};
}
GRAPNEL_GRADIENT("Sigmoid", SigmoidOf);

// --- Signs, parts, conversions.

GRAPNEL_GRADIENT("Neg", [](G& g) -> InputGradients { return {-g.dy()}; });

Value SignOf(G& g, const Value& x) {
  if (!IsComplex(x.dtype())) return g.Op("Sign", {x});
  DataType real = x.dtype() == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
  Value size = g.Op("ComplexAbs", {x}, {{"Tout", real}});
  return g.Op("DivNoNan", {x, Cast(size, x.dtype())});
}
GRAPNEL_GRADIENT("Abs", [](G& g) -> InputGradients { return {g.dy() * SignOf(g, g.x())}; });
GRAPNEL_GRADIENT("Sign", [](G& g) -> InputGradients { return {g.ZerosLike(g.x())}; });

Value RealPart(G& g, const Value& x) {
  DataType real = x.dtype() == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
  return g.Scoped("Real", {x}, {{"Tout", real}});
}
Value ImaginaryPart(G& g, const Value& x) {
  DataType real = x.dtype() == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
  return g.Scoped("Imag", {x}, {{"Tout", real}});
}
Value ComplexOf(G& g, const Value& re, const Value& im) {
  DataType dtype = re.dtype() == proto::DT_FLOAT ? proto::DT_COMPLEX64 : proto::DT_COMPLEX128;
  return g.Scoped("Complex", {re, im}, {{"Tout", dtype}});
}

GRAPNEL_GRADIENT("Conj", [](G& g) -> InputGradients { return {g.Conj(g.dy())}; });
GRAPNEL_GRADIENT("Real", [](G& g) -> InputGradients {
  Value zero = g.Constant(0, g.dy().dtype());
  return {ComplexOf(g, g.dy(), zero)};
});
GRAPNEL_GRADIENT("Imag", [](G& g) -> InputGradients {
  Value zero = g.Constant(0, g.dy().dtype());
  return {ComplexOf(g, zero, g.dy())};
});
InputGradients AngleOf(G& g) {
  auto after = g.AfterGradient();
  Value re = RealPart(g, g.x());
  Value im = ImaginaryPart(g, g.x());
  Value z = g.Op("Reciprocal", {ComplexOf(g, im, re)});
  Value zero = g.Constant(0, g.dy().dtype());
  return {-ComplexOf(g, g.dy(), zero) * z};
}
GRAPNEL_GRADIENT("Angle", AngleOf);
InputGradients ComplexAbsOf(G& g) {
  Value gradient = ComplexOf(g, g.dy(), g.ZerosLike(g.dy())) * g.x();
  Value size = ComplexOf(g, g.y(), g.ZerosLike(g.y()));
  return {g.Op("DivNoNan", {gradient, size}, {}, "div_no_nan")};
}
GRAPNEL_GRADIENT("ComplexAbs", ComplexAbsOf);

InputGradients CastOf(G& g) {
  auto has_fractions = [](DataType dtype) {
    return dtype == proto::DT_HALF || dtype == proto::DT_FLOAT || dtype == proto::DT_DOUBLE ||
           dtype == proto::DT_BFLOAT16 || IsComplex(dtype);
  };
  DataType from = g.x().dtype();
  if (!has_fractions(from) || !has_fractions(g.dy().dtype())) return {};
  return {Cast(g.dy(), from)};
}
GRAPNEL_GRADIENT("Cast", CastOf);

// --- Step functions.

InputGradients None(G&) { return {}; }
GRAPNEL_GRADIENT("Floor", None);
GRAPNEL_GRADIENT("Ceil", None);
GRAPNEL_GRADIENT("Round", None);
GRAPNEL_GRADIENT("Rint", None);

// --- Powers, exponentials, logarithms.

InputGradients SquareOf(G& g) {
  auto after = g.AfterGradient();
  Value x = g.Conj(g.x());
  Value two = g.Constant(2, x.dtype());
  return {g.Op("Mul", {g.dy(), g.Op("Mul", {x, two})})};
}
GRAPNEL_GRADIENT("Square", SquareOf);
InputGradients ExpOf(G& g) {
  auto after = g.AfterGradient();
  return {g.dy() * g.Conj(g.y())};
}
GRAPNEL_GRADIENT("Exp", ExpOf);
InputGradients Expm1Of(G& g) {
  auto after = g.AfterGradient();
  return {g.dy() * Exp(g.Conj(g.x()))};
}
GRAPNEL_GRADIENT("Expm1", Expm1Of);
InputGradients LogOf(G& g) {
  auto after = g.AfterGradient();
  return {g.dy() * g.Op("Reciprocal", {g.Conj(g.x())})};
}
GRAPNEL_GRADIENT("Log", LogOf);
InputGradients Log1pOf(G& g) {
  auto after = g.AfterGradient();
  return {g.dy() * g.Op("Reciprocal", {1 + g.Conj(g.x())})};
}
GRAPNEL_GRADIENT("Log1p", Log1pOf);

// --- Trigonometry.

// TimesOfX returns dy * OP(conj(x)), OverOfY returns dy / OP(conj(y)).
InputGradients TimesOfX(G& g, const char* op) {
  auto after = g.AfterGradient();
  return {g.dy() * g.Op(op, {g.Conj(g.x())})};
}
InputGradients OverOfY(G& g, const char* op) {
  auto after = g.AfterGradient();
  return {g.dy() / g.Op(op, {g.Conj(g.y())})};
}
GRAPNEL_GRADIENT("Sinh", [](G& g) { return TimesOfX(g, "Cosh"); });
GRAPNEL_GRADIENT("Cosh", [](G& g) { return TimesOfX(g, "Sinh"); });
GRAPNEL_GRADIENT("Sin", [](G& g) { return TimesOfX(g, "Cos"); });
GRAPNEL_GRADIENT("Asinh", [](G& g) { return OverOfY(g, "Cosh"); });
GRAPNEL_GRADIENT("Acosh", [](G& g) { return OverOfY(g, "Sinh"); });
InputGradients CosOf(G& g) {
  auto after = g.AfterGradient();
  Value x = g.Conj(g.x());
  Value negative = -g.dy();
  return {negative * g.Op("Sin", {x})};
}
GRAPNEL_GRADIENT("Cos", CosOf);
InputGradients TanOf(G& g) {
  auto after = g.AfterGradient();
  Value secant = g.Op("Reciprocal", {g.Op("Cos", {g.Conj(g.x())})});
  return {Square(secant) * g.dy()};
}
GRAPNEL_GRADIENT("Tan", TanOf);

// Returns 1 / (1 OP x^2), where OP is Sub or Add; with `takes_root`, 1 / sqrt(1 OP x^2).
Value InverseOfOneAndSquare(G& g, const char* op, bool takes_root) {
  Value squared = Square(g.Conj(g.x()));
  Value one = g.Constant(1, g.dy().dtype());
  Value sum = llvm::StringRef(op) == "Sub" ? Value(g.Op("Sub", {one, squared}))
                                           : g.Scoped("AddV2", {one, squared}, {}, "Add");
  if (takes_root) sum = Sqrt(sum);
  return g.Op("Reciprocal", {sum});
}
GRAPNEL_GRADIENT("Atanh", [](G& g) -> InputGradients {
  auto after = g.AfterGradient();
  return {g.dy() * InverseOfOneAndSquare(g, "Sub", false)};
});
GRAPNEL_GRADIENT("Asin", [](G& g) -> InputGradients {
  auto after = g.AfterGradient();
  return {g.dy() * InverseOfOneAndSquare(g, "Sub", true)};
});
GRAPNEL_GRADIENT("Acos", [](G& g) -> InputGradients {
  auto after = g.AfterGradient();
  Value inverse = InverseOfOneAndSquare(g, "Sub", true);
  return {-g.dy() * inverse};
});
GRAPNEL_GRADIENT("Atan", [](G& g) -> InputGradients {
  auto after = g.AfterGradient();
  return {g.dy() * InverseOfOneAndSquare(g, "Add", false)};
});

// --- Gradients of gradients.

InputGradients ReciprocalGradOf(G& g) {
  auto after = g.AfterGradient();
  Value a = g.Conj(g.x(0));
  Value dy = g.Conj(g.dy());
  Value first = dy * -2.0 * g.x(1) * a;
  return {first, g.Op("ReciprocalGrad", {a, g.dy()})};
}
GRAPNEL_GRADIENT("InvGrad", ReciprocalGradOf);
GRAPNEL_GRADIENT("ReciprocalGrad", ReciprocalGradOf);
InputGradients SqrtGradOf(G& g) {
  auto after = g.AfterGradient();
  Value ratio = g.dy() / g.x(0);
  Value first = -g.Conj(ratio) * g.y();
  return {first, 0.5 * ratio};
}
GRAPNEL_GRADIENT("SqrtGrad", SqrtGradOf);
InputGradients RsqrtGradOf(G& g) {
  auto after = g.AfterGradient();
  Value a = g.Conj(g.x(0));
  Value dy = g.Conj(g.dy());
  Value scaled = -1.5 * dy * g.x(1);
  Value first = scaled * Square(a);
  return {first, g.Op("RsqrtGrad", {a, g.dy()})};
}
GRAPNEL_GRADIENT("RsqrtGrad", RsqrtGradOf);
InputGradients TanhGradOf(G& g) {
  auto after = g.AfterGradient();
  Value a = g.Conj(g.x(0));
  Value b = g.Conj(g.x(1));
  Value first = g.dy() * -2.0 * b * a;
  return {first, g.Op("TanhGrad", {a, g.dy()})};
}
GRAPNEL_GRADIENT("TanhGrad", TanhGradOf);
InputGradients SigmoidGradOf(G& g) {
  auto after = g.AfterGradient();
  Value a = g.Conj(g.x(0));
  Value b = g.Conj(g.x(1));
  Value gb = g.dy() * b;
  Value twice = 2.0 * gb * a;
  Value first = gb - twice;
  return {first, g.Op("SigmoidGrad", {a, g.dy()})};
}
GRAPNEL_GRADIENT("SigmoidGrad", SigmoidGradOf);

}  // namespace
}  // namespace grapnel
