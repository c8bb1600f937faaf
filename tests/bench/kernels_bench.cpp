// Kernels on the shapes of resnet50, mobilenet_v2 and a small transformer, on two threads.
#include <algorithm>

#include "benchmark/benchmark.h"
#include "kernels/common/onednn_loader.h"
#include "tests/kernels/one_node.h"

namespace grapnel {
namespace {

ThreadPool& Pool() {
  static ThreadPool pool(2);
  return pool;
}

Allocator& Memory() {
  static std::unique_ptr<Allocator> allocator = MakePoolAllocator();
  return *allocator;
}

Tensor Filled(llvm::ArrayRef<int64_t> dims) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(proto::DT_FLOAT, dims));
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    tensor.data<float>()[i] = static_cast<float>(i % 17 - 8) / 16;
  return tensor;
}

// `flops` of one run become the counter GFLOP/s.
void Loop(benchmark::State& state, OneNode& node, double flops, bool plain = false) {
  std::optional<WithoutOnednn> off;
  if (plain) off.emplace();
  for (auto _ : state) {
    auto outputs = node.Run(Pool(), Memory());
    if (!outputs) {
      state.SkipWithError(TextOf(outputs.takeError()).c_str());
      return;
    }
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(plain || !Onednn() ? "plain" : "oneDNN");
}

// A square image, SAME padding, bias and activation fused.
struct Conv {
  int64_t size, in, out, kernel, stride;
  bool depthwise = false;
};

void FusedConv(benchmark::State& state, const Conv& c, llvm::StringRef activation, bool plain) {
  OneNode node(c.depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D");
  node.Type("T", proto::DT_FLOAT)
      .Text("padding", "SAME")
      .Ints("strides", {1, c.stride, c.stride, 1});
  node.Attr("fused_ops", attr::Strings({"BiasAdd", activation}));
  int64_t result = (c.size + c.stride - 1) / c.stride, multiplier = c.depthwise ? 1 : c.out;
  node.Input(Filled({1, c.size, c.size, c.in}))
      .Input(Filled({c.kernel, c.kernel, c.in, multiplier}), true);
  node.Input(Filled({c.out}), true);
  double taps = static_cast<double>(c.kernel * c.kernel * (c.depthwise ? 1 : c.in));
  Loop(state, node, 2.0 * result * result * c.out * taps, plain);
}

#define CONV(name, activation, ...)                                        \
  BENCHMARK_CAPTURE(FusedConv, name, Conv{__VA_ARGS__}, activation, false) \
      ->UseRealTime()                                                      \
      ->Unit(benchmark::kMicrosecond)
CONV(resnet50_stem_7x7, "Relu", 224, 3, 64, 7, 2);
CONV(resnet50_56_1x1, "Relu", 56, 256, 64, 1, 1);
CONV(resnet50_56_3x3, "Relu", 56, 64, 64, 3, 1);
CONV(resnet50_28_3x3, "Relu", 28, 128, 128, 3, 1);
CONV(resnet50_28_1x1, "Relu", 28, 128, 512, 1, 1);
CONV(resnet50_14_3x3, "Relu", 14, 256, 256, 3, 1);
CONV(resnet50_14_1x1, "Relu", 14, 1024, 256, 1, 1);
CONV(resnet50_7_3x3, "Relu", 7, 512, 512, 3, 1);
CONV(resnet50_56_1x1_strided, "Relu", 56, 256, 512, 1, 2);
CONV(mobilenet_stem_3x3, "Relu6", 224, 3, 32, 3, 2);
CONV(mobilenet_112_depthwise, "Relu6", 112, 32, 32, 3, 1, true);
CONV(mobilenet_112_1x1, "Relu6", 112, 16, 96, 1, 1);
CONV(mobilenet_112_depthwise_strided, "Relu6", 112, 96, 96, 3, 2, true);
CONV(mobilenet_28_1x1, "Relu6", 28, 32, 192, 1, 1);
CONV(mobilenet_14_depthwise, "Relu6", 14, 576, 576, 3, 1, true);
CONV(mobilenet_7_1x1, "Relu6", 7, 960, 160, 1, 1);
BENCHMARK_CAPTURE(FusedConv, resnet50_28_3x3_plain, Conv{28, 128, 128, 3, 1}, "Relu", true)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(FusedConv, mobilenet_14_depthwise_plain, Conv{14, 576, 576, 3, 1, true}, "Relu6",
                  true)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void MatMul(benchmark::State& state) {
  int64_t m = state.range(0), k = state.range(1), n = state.range(2);
  OneNode node("MatMul");
  node.Type("T", proto::DT_FLOAT).Input(Filled({m, k})).Input(Filled({k, n}), true);
  Loop(state, node, 2.0 * m * k * n, state.range(3) != 0);
}
BENCHMARK(MatMul)
    ->ArgNames({"m", "k", "n", "plain"})
    ->ArgsProduct({{32}, {64}, {64}, {0, 1}})
    ->ArgsProduct({{32}, {64, 256}, {256}, {0, 1}})
    ->ArgsProduct({{64}, {64}, {64}, {0, 1}})
    ->ArgsProduct({{128}, {128}, {128}, {0, 1}})
    ->ArgsProduct({{1}, {2048}, {1000}, {0, 1}})
    ->ArgsProduct({{512}, {512}, {512}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void BatchMatMul(benchmark::State& state) {
  int64_t batch = state.range(0), m = state.range(1), k = state.range(2), n = state.range(3);
  OneNode node("BatchMatMulV2");
  node.Type("T", proto::DT_FLOAT).Input(Filled({batch, m, k})).Input(Filled({batch, k, n}));
  Loop(state, node, 2.0 * batch * m * k * n, state.range(4) != 0);
}
BENCHMARK(BatchMatMul)
    ->ArgNames({"batch", "m", "k", "n", "plain"})
    ->ArgsProduct({{8}, {16}, {16}, {16}, {0, 1}})
    ->ArgsProduct({{12}, {128}, {64}, {128}, {0, 1}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void MaxPool(benchmark::State& state) {
  OneNode node("MaxPool");
  node.Type("T", proto::DT_FLOAT)
      .Text("padding", "VALID")
      .Ints("ksize", {1, 3, 3, 1})
      .Ints("strides", {1, 2, 2, 1});
  node.Input(Filled({1, 114, 114, 64}));
  Loop(state, node, 56.0 * 56 * 64 * 9);
}
BENCHMARK(MaxPool)->UseRealTime()->Unit(benchmark::kMicrosecond);

void BiasAdd(benchmark::State& state) {
  OneNode node("BiasAdd");
  node.Type("T", proto::DT_FLOAT).Input(Filled({1, 112, 112, 64})).Input(Filled({64}), true);
  Loop(state, node, 112.0 * 112 * 64);
}
BENCHMARK(BiasAdd)->UseRealTime()->Unit(benchmark::kMicrosecond);

void Softmax(benchmark::State& state) {
  OneNode node("Softmax");
  node.Type("T", proto::DT_FLOAT).Input(Filled({state.range(0), state.range(1)}));
  Loop(state, node, 4.0 * state.range(0) * state.range(1));
}
BENCHMARK(Softmax)
    ->Args({1, 1000})
    ->Args({128, 16})
    ->Args({1536, 128})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace grapnel
