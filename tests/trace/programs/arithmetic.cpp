// Arithmetic, and reductions.
#include "grapnel/support/plugin.h"
#include "programs.h"

GRAPNEL_PLUGIN("programs");

namespace grapnel {
namespace {

Value Polynomial(Tracer&, Value x) {
  Value twice = 2.0f * x + 3.0f;
  Value top = twice * x - 1.0f;
  Value bottom = x * x + 1.0f;
  return top / bottom;
}
PROGRAM(Polynomial, {{"x", kFloat, {kAny}}});

Values IntegerDivision(Tracer&, Value a, Value b) {
  Value floor = FloorDiv(a, b);
  Value rest = a % b;
  Value quotient = a / b;
  return {floor, rest, quotient, floor * b + rest};
}
PROGRAM(IntegerDivision, {{"a", kInt32, {4}}, {"b", kInt32, {4}}});

Values Comparisons(Tracer&, Value x, Value y) {
  Value less = x < y;
  Value both = LogicalAnd(less, x != 0.0f);
  Value either = less | (y >= 1.0f);
  Value larger = Maximum(x, y);
  Value smaller = Minimum(x, -y);
  return {Select(both, larger, smaller), either, LogicalNot(both)};
}
PROGRAM(Comparisons, {{"x", kFloat, {5}}, {"y", kFloat, {5}}});

Values PowersAndRoots(Tracer&, Value x, Value y) {
  Value root = Sqrt(x);
  root += Rsqrt(y);
  Value power = Power(x, y);
  power *= Exp(-x);
  Value log = Log1p(y);
  Value square = Square(x);
  return {root, power, log, square - Abs(y)};
}
PROGRAM(PowersAndRoots, {{"x", kFloat, {3}}, {"y", kFloat, {3}}});

Values MixedDtypes(Tracer&, Value i, Value x, Value d) {
  Value wide = Cast(x, kDouble) + d;
  Value half = Cast(i, kFloat) * x;
  return {wide, half, Cast(half, kInt32) + i};
}
PROGRAM(MixedDtypes, {{"i", kInt32, {3}}, {"x", kFloat, {3}}, {"d", kDouble, {3}}});

Values Waves(Tracer&, Value x, Value y) {
  Value angle = Atan2(y, x);
  Value s = Sin(angle);
  Value c = Cos(angle);
  Value sines = s * s;
  Value one = sines + c * c;
  Value tanh = Tanh(s);
  Value difference = tanh - Sigmoid(c);
  Value erf = Erf(x);
  Value floor = Floor(y);
  return {one, difference, erf, floor, Round(x)};
}
PROGRAM(Waves, {{"x", kFloat, {4}}, {"y", kFloat, {4}}});

Values MeanAndVariance(Tracer&, Value x) {
  auto [mean, variance] = Moments(x, {0});
  return {mean, variance};
}
PROGRAM(MeanAndVariance, {{"x", kFloat, {4, 3}}});

Values ReduceAxes(Tracer&, Value x) {
  Value total = ReduceSum(x, std::vector<int>{0, 2});
  Value kept = ReduceMax(x, -1, /*keep_dims=*/true);
  Value product = ReduceProd(x, 1);
  return {total, kept, product, ReduceMean(x)};
}
PROGRAM(ReduceAxes, {{"x", kFloat, {2, 3, 4}}});

Values UnknownAxis(Tracer&, Value x) {
  Value each = ReduceSum(x, 1);
  Value share = x / ExpandDims(each, 1);
  Value count = Cast(Size(x), kFloat);
  return {share, ReduceSum(x) / count};
}
PROGRAM(UnknownAxis, {{"x", kFloat, {2, kAny}}});

Values Extremes(Tracer&, Value x) {
  Value best = ArgMax(x, 1);
  Value worst = ArgMin(x, 1, kInt32);
  auto [values, places] = TopK(x, 2);
  return {best, worst, values, places};
}
PROGRAM(Extremes, {{"x", kFloat, {3, 5}}});

Values CumulativeSums(Tracer&, Value x) {
  Value running = Cumsum(x, 1);
  Value before = Cumsum(x, 1, {.exclusive = true});
  Value after = Cumsum(x, 0, {.reverse = true});
  return {running, before, after, Cumprod(x, 1)};
}
PROGRAM(CumulativeSums, {{"x", kFloat, {3, 4}}});

Values Spread(Tracer&, Value x) {
  Value deviation = ReduceStd(x);
  Value variance = ReduceVariance(x);
  Value ordered = Sort(x);
  return {deviation, variance, ordered, ArgSort(x, /*descending=*/true)};
}
PROGRAM(Spread, {{"x", kFloat, {6}}});

}  // namespace
}  // namespace grapnel
