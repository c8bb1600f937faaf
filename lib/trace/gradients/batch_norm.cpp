// The gradient of FusedBatchNorm's gradient, which is written in plain ops and then differentiated.
#include "lib/trace/backprop.h"

namespace grapnel {
namespace {

using G = GradientContext;

struct Normalization {
  Value dy, x, scale, mean, variance;
  float epsilon;
  std::string format;
};
struct FirstGradients {
  Value x, scale, offset;
};

std::vector<int> AxesOf(llvm::StringRef format) {
  if (format == "NHWC") return {0, 1, 2};
  if (format == "NDHWC") return {0, 1, 2, 3};
  return format == "NCHW" ? std::vector<int>{0, 2, 3} : std::vector<int>{0, 2, 3, 4};
}
bool ChannelsFirst(llvm::StringRef format) { return format.take_front(2) == "NC"; }

Value WithChannelsFirst(G& g, const Value& vector, const Value& channels, llvm::StringRef format) {
  std::vector<Operand> dims = {1, channels, 1, 1};
  if (format == "NCDHW") dims.push_back(1);
  return g.Reshape(vector, g.Stack(dims, 0, "Reshape/shape"));
}

FirstGradients InTraining(G& g, Normalization n) {
  DataType dtype = n.x.dtype();
  bool first = ChannelsFirst(n.format);
  std::vector<int> axes = AxesOf(n.format);
  if (first) n.scale = WithChannelsFirst(g, n.scale, g.Size(n.scale), n.format);
  Value mean_dy = ReduceMean(n.dy, axes, first);
  Value mean_x = ReduceMean(n.x, axes, first);
  Value spread = g.Op("SquaredDifference", {n.x, StopGradient(mean_x)});
  Value variance = ReduceMean(spread, axes, first);
  Value dy_offset = n.dy - mean_dy;
  Value x_offset = n.x - mean_x;
  Value mean = ReduceMean(n.dy * x_offset, axes, first);
  Value scaled = n.scale * g.Op("Rsqrt", {variance + n.epsilon});
  Value inverse = g.Op("Reciprocal", {variance + n.epsilon});
  Value shift = inverse * mean * x_offset;
  Value gx = scaled * (dy_offset - shift);
  Value root = g.Op("Rsqrt", {variance + n.epsilon});
  Value g_scale = root * ReduceSum(n.dy * x_offset, axes, first);
  if (first) g_scale = g.Op("Squeeze", {g_scale});
  Value g_offset = ReduceSum(n.dy, axes);
  return {Cast(gx, dtype), g_scale, g_offset};
}

FirstGradients InInference(G& g, Normalization n) {
  DataType dtype = n.x.dtype();
  std::vector<int> axes = AxesOf(n.format);
  if (ChannelsFirst(n.format)) {
    Value channels = g.Size(n.mean);
    n.mean = WithChannelsFirst(g, n.mean, channels, n.format);
    n.variance = WithChannelsFirst(g, n.variance, channels, n.format);
    n.scale = WithChannelsFirst(g, n.scale, channels, n.format);
  }
  Value g_offset = ReduceSum(n.dy, axes);
  Value root = g.Op("Rsqrt", {n.variance + n.epsilon});
  Value centered = n.dy * (n.x - n.mean);
  Value g_scale = ReduceSum(centered * root, axes);
  Value gx = n.dy * n.scale * root;
  return {Cast(gx, dtype), g_scale, g_offset};
}

InputGradients FusedBatchNormGradOf(G& g) {
  Normalization n{g.x(0),
                  g.x(1),
                  g.x(2),
                  g.x(3),
                  g.x(4),
                  g.node().GetFloat("epsilon"),
                  g.node().GetString("data_format")};
  TraceBody& body = *g.state().current;
  // Differentiates only the ops that this function makes: the range from `begin` to `end`.
  BackpropRequest request;
  request.forward = &body;
  request.begin = body.graph->end_id();
  for (const Value& value : {n.dy, n.x, n.scale}) {
    Port port = body.Capture(value, SourceLocation());
    request.sources.push_back(port);
    request.watched.push_back({port, 0});
  }
  if (n.x.dtype() != proto::DT_FLOAT) {
    n.x = Cast(n.x, proto::DT_FLOAT);
    n.dy = Cast(n.dy, proto::DT_FLOAT);
  }
  FirstGradients made =
      g.node().GetBool("is_training", true) ? InTraining(g, n) : InInference(g, n);
  for (const Value& value : {made.x, made.scale, made.offset}) {
    if (!value.ok()) return {};
    request.targets.push_back(value.port());
  }
  for (int i = 0; i < 3; ++i) request.seeds.push_back(g.gradient(i));
  request.end = body.graph->end_id();
  return Backprop(g.state(), request);
}
constexpr uint64_t kReserved = 0b11000;
GRAPNEL_GRADIENT("FusedBatchNormGrad", FusedBatchNormGradOf, kReserved);
GRAPNEL_GRADIENT("FusedBatchNormGradV2", FusedBatchNormGradOf, kReserved);
GRAPNEL_GRADIENT("FusedBatchNormGradV3", FusedBatchNormGradOf, kReserved);

}  // namespace
}  // namespace grapnel
