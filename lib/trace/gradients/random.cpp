// Random draws that depend on their parameters: their gradients follow by implicit differentiation:
// when a parameter changes, a draw keeps its quantile in the distribution (Figurnov and others,
// 2018).
#include <cmath>
#include <limits>

#include "lib/trace/gradients/broadcast.h"
#include "lib/trace/math_ops.h"

namespace grapnel {
namespace {

using G = GradientContext;

// --- Gradients of draws from gamma distributions with respect to the parameter of the
// distribution.

InputGradients GammaOf(G& g, int alpha_at, bool counts_alpha) {
  auto after = g.AfterGradient();
  Value alpha = g.x(alpha_at);
  Value added = g.At(g.ShapeOf(g.x(0)), 0);
  if (counts_alpha) added = added - Rank(alpha);
  Value ones = g.Ones(std::vector<Operand>{added}, proto::DT_INT32);
  Value shape = g.Concat({ones, g.ShapeOf(alpha)}, 0);
  Value partial = g.Op("RandomGammaGrad", {g.Reshape(alpha, shape), g.y()});
  Value scaled = g.dy() * partial;
  InputGradients gradients(alpha_at);
  gradients.push_back(ReduceSum(scaled, g.Range(0, added)));
  return gradients;
}
GRAPNEL_GRADIENT("RandomGamma", [](G& g) { return GammaOf(g, 1, false); });
GRAPNEL_GRADIENT("StatelessRandomGammaV2", [](G& g) { return GammaOf(g, 2, true); });
GRAPNEL_GRADIENT("StatelessRandomGammaV3", [](G& g) { return GammaOf(g, 4, true); });

// --- Gradients of draws from a truncated normal distribution with respect to its mean, deviation
// and bounds.

// The normal distribution function.
Value NormalCdf(G& g, const Value& x) {
  Value half_root = g.Constant(0.5 * std::sqrt(2.0), x.dtype(), "half_sqrt_2");
  Value w = x * half_root;
  Value z = Abs(w);
  Value is_small = z < half_root;
  Value near = 1.0 + Erf(w);
  Value is_positive = w > 0.0;
  Value upper = 2.0 - Erfc(z);
  Value far = g.Op("Select", {is_positive, upper, Erfc(z)});
  Value y = g.Op("Select", {is_small, near, far});
  return 0.5 * y;
}

struct Smallest {
  double normal, epsilon;
};
Smallest SmallestOf(DataType dtype) {
  if (dtype == proto::DT_HALF) return {6.103515625e-05, 9.765625e-04};
  if (dtype == proto::DT_DOUBLE)
    return {std::numeric_limits<double>::min(), std::numeric_limits<double>::epsilon()};
  return {std::numeric_limits<float>::min(), std::numeric_limits<float>::epsilon()};
}

// The derivatives of each draw with respect to the bounds.
struct BoundPartials {
  Value of_low, of_high;
};
BoundPartials PartialsOf(G& g, const Value& sample, const Value& low, const Value& high) {
  Value at_sample = NormalCdf(g, sample);
  Value part = at_sample - NormalCdf(g, low);
  Value at_high = NormalCdf(g, high);
  Value share = part / (at_high - NormalCdf(g, low));
  Smallest smallest = SmallestOf(sample.dtype());
  share = ClipByValue(share, Literal::Scalar(sample.dtype(), smallest.normal),
                      Literal::Scalar(sample.dtype(), 1 - smallest.epsilon));
  auto partial = [&](const Value& bound, bool is_high) {
    Value square = Pow(sample, 2);
    Value exponent = 0.5 * (square - Pow(bound, 2));
    Value log_share = is_high ? Log(share) : Log1p(-share);
    return Exp(exponent + log_share);
  };
  Value of_high = partial(high, true);
  return {partial(low, false), of_high};
}

InputGradients TruncatedNormalOf(G& g) {
  Value mean = g.x(2), deviation = g.x(3), dy = g.dy();
  auto after = g.AfterGradient();
  auto standard = [&](const Value& x) { return (x - mean) / deviation; };
  Value low = standard(g.x(4));
  Value high = standard(g.x(5));
  Value sample = standard(g.y());
  BoundPartials bounds = PartialsOf(g, sample, low, high);
  Value partials[] = {g.OnesLike(sample), sample, bounds.of_low, bounds.of_high};
  // The forward op broadcasts the four parameters to a common shape, and that to its output's
  // shape.
  Value shapes[4], shape;
  for (int i = 0; i < 4; ++i) {
    shapes[i] = g.ShapeOf(g.x(i + 2));
    if (i == 0) shape = shapes[0];
    if (i == 1) shape = g.Op("BroadcastArgs", {shape, shapes[1]});
    if (i > 1) shape = g.Op("BroadcastArgs", {shapes[i], shape});
  }
  Value count = g.Size(g.x(0));
  Value added = g.Range(0, count - g.Size(shape));
  InputGradients gradients(2);
  for (int i = 0; i < 4; ++i) {
    Value sum = ReduceSum(dy * partials[i], added);
    Value axes = g.Op("BroadcastGradientArgs", {shape, shapes[i]}).output(1);
    gradients.push_back(g.Reshape(ReduceSum(sum, axes, /*keep_dims=*/true), shapes[i]));
  }
  return gradients;
}
GRAPNEL_GRADIENT("StatelessParameterizedTruncatedNormal", TruncatedNormalOf);

}  // namespace
}  // namespace grapnel
