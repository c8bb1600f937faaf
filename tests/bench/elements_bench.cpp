// Kernels that move elements or compute them one by one, with shapes of networks, on one thread:
// G/s are billions of elements per second, of the largest input or output. The row of Neg shows the
// memory bandwidth.
#include <numeric>

#include "benchmark/benchmark.h"
#include "tests/kernels/one_node.h"

namespace grapnel {
namespace {

using Shape = std::vector<int64_t>;

ThreadPool& Pool() {
  static ThreadPool pool(1);
  return pool;
}

Allocator& Memory() {
  static std::unique_ptr<Allocator> allocator = MakePoolAllocator();
  return *allocator;
}

Tensor Filled(llvm::ArrayRef<int64_t> dims) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(proto::DT_FLOAT, dims));
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    tensor.data<float>()[i] = static_cast<float>((i * 7919) % 1000 + 1) / 300 - 1.5f;
  return tensor;
}

Tensor Ints(llvm::ArrayRef<int32_t> values) {
  Tensor tensor =
      llvm::cantFail(Tensor::Allocate(proto::DT_INT32, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.data<int32_t>());
  return tensor;
}

Tensor Int(int32_t value) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(proto::DT_INT32, {}));
  *tensor.data<int32_t>() = value;
  return tensor;
}

int64_t Count(llvm::ArrayRef<int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// `elements` is the number of elements of the largest input.
void Loop(benchmark::State& state, OneNode& node, int64_t elements) {
  for (auto _ : state) {
    auto outputs = node.Run(Pool(), Memory());
    if (!outputs) {
      state.SkipWithError(TextOf(outputs.takeError()).c_str());
      return;
    }
    elements = std::max(elements, outputs->front().num_elements());
  }
  state.counters["G/s"] = benchmark::Counter(static_cast<double>(elements) * 1e-9,
                                             benchmark::Counter::kIsIterationInvariantRate);
}

void Unary(benchmark::State& state, llvm::StringRef op, const Shape& dims) {
  OneNode node(op);
  node.Type("T", proto::DT_FLOAT).Input(Filled(dims));
  Loop(state, node, Count(dims));
}

void Binary(benchmark::State& state, llvm::StringRef op, const Shape& left, const Shape& right) {
  OneNode node(op);
  node.Type("T", proto::DT_FLOAT).Input(Filled(left)).Input(Filled(right));
  Loop(state, node, std::max(Count(left), Count(right)));
}

void Select(benchmark::State& state, const Shape& condition, const Shape& dims) {
  OneNode node("SelectV2");
  Tensor chosen = llvm::cantFail(Tensor::Allocate(proto::DT_BOOL, condition));
  for (int64_t i = 0; i < chosen.num_elements(); ++i) chosen.data<bool>()[i] = i % 3 == 0;
  node.Type("T", proto::DT_FLOAT).Input(chosen).Input(Filled(dims)).Input(Filled({}));
  Loop(state, node.Outputs({proto::DT_FLOAT}), Count(dims));
}

void Reduce(benchmark::State& state, llvm::StringRef op, const Shape& dims,
            const std::vector<int32_t>& axes) {
  OneNode node(op);
  node.Type("T", proto::DT_FLOAT).Input(Filled(dims)).Input(Ints(axes), true);
  Loop(state, node, Count(dims));
}

// With a second input of integers: paddings, a permutation, a size.
void Moved(benchmark::State& state, llvm::StringRef op, const Shape& dims,
           const std::vector<int32_t>& ints, const Shape& shape) {
  OneNode node(op);
  node.Type("T", proto::DT_FLOAT).Input(Filled(dims)).Input(Ints(ints).Reshaped(shape), true);
  if (op.starts_with("Resize")) node.Attr("half_pixel_centers", attr::Bool(true));
  Loop(state, node, Count(dims));
}

void ArgMax(benchmark::State& state, const Shape& dims, int axis) {
  OneNode node("ArgMax");
  node.Type("T", proto::DT_FLOAT).Input(Filled(dims)).Input(Int(axis), true);
  Loop(state, node.Outputs({proto::DT_INT64}), Count(dims));
}

void Concat(benchmark::State& state, const Shape& left, const Shape& right, int axis) {
  OneNode node("ConcatV2");
  node.Type("T", proto::DT_FLOAT).Input(Filled(left)).Input(Filled(right)).Input(Int(axis), true);
  Loop(state, node, Count(left) + Count(right));
}

void Split(benchmark::State& state, const Shape& dims, int axis, int parts) {
  OneNode node("Split");
  node.Type("T", proto::DT_FLOAT).Input(Int(axis), true).Input(Filled(dims));
  node.Outputs(std::vector<DataType>(parts, proto::DT_FLOAT));
  Loop(state, node, Count(dims));
}

void Blocks(benchmark::State& state, llvm::StringRef op, const Shape& dims) {
  OneNode node(op);
  node.Type("T", proto::DT_FLOAT).Attr("block_size", attr::Int(2)).Input(Filled(dims));
  Loop(state, node, Count(dims));
}

// A window of `size` by `size`; elements of the result, times those of the window.
void Pool(benchmark::State& state, llvm::StringRef op, const Shape& dims, int64_t size,
          int64_t stride) {
  OneNode node(op);
  node.Type("T", proto::DT_FLOAT)
      .Text("padding", "SAME")
      .Ints("ksize", {1, size, size, 1})
      .Ints("strides", {1, stride, stride, 1})
      .Input(Filled(dims));
  Loop(state, node, Count(dims) / stride / stride * size * size);
}

void BatchNorm(benchmark::State& state, const Shape& dims) {
  OneNode node("FusedBatchNormV3");
  node.Type("T", proto::DT_FLOAT).Type("U", proto::DT_FLOAT).Attr("is_training", attr::Bool(false));
  node.Input(Filled(dims));
  for (int i = 0; i < 4; ++i) {
    Tensor vector = Filled({dims.back()});
    for (float& x : llvm::MutableArrayRef(vector.data<float>(), dims.back())) x = std::abs(x) + 1;
    node.Input(vector, true);
  }
  node.Outputs(std::vector<DataType>(6, proto::DT_FLOAT));
  Loop(state, node, Count(dims));
}

void Gather(benchmark::State& state, const Shape& table, int rows) {
  OneNode node("GatherV2");
  std::vector<int32_t> indices(rows);
  for (int i = 0; i < rows; ++i) indices[i] = i * 7919 % static_cast<int>(table[0]);
  node.Type("Tparams", proto::DT_FLOAT).Input(Filled(table)).Input(Ints(indices)).Input(Int(0));
  Loop(state, node, rows * table[1]);
}

#define ELEMENTS(function, name, ...) \
  BENCHMARK_CAPTURE(function, name, __VA_ARGS__)->Unit(benchmark::kMicrosecond)
#define UNARY(op) ELEMENTS(Unary, op, #op, {1, 64, 64, 32})
UNARY(Neg);
UNARY(Relu);
UNARY(Relu6);
UNARY(LeakyRelu);
UNARY(Elu);
UNARY(Selu);
UNARY(Sigmoid);
UNARY(Softplus);
UNARY(Softsign);
UNARY(_MklSwish);
UNARY(_MklFusedMish);
UNARY(Tanh);
UNARY(Erf);
UNARY(Erfc);
UNARY(Exp);
UNARY(Expm1);
UNARY(Log);
UNARY(Log1p);
UNARY(Sqrt);
UNARY(Rsqrt);
UNARY(Square);
UNARY(Reciprocal);
UNARY(Abs);
UNARY(Sign);
UNARY(Floor);
UNARY(Round);
UNARY(Sin);
UNARY(Cos);
UNARY(Tan);
UNARY(Atan);
UNARY(Asin);
UNARY(Acos);
UNARY(Sinh);
UNARY(Cosh);
UNARY(Asinh);
UNARY(Atanh);
UNARY(IsFinite);

#define BINARY(name, op, ...) ELEMENTS(Binary, op##_##name, #op, __VA_ARGS__)
#define BINARY_OF_SHAPES(op)                              \
  BINARY(same, op, {1, 64, 64, 32}, {1, 64, 64, 32});     \
  BINARY(channels, op, {1, 64, 64, 32}, {32});            \
  BINARY(groups, op, {1, 64, 64, 8, 4}, {1, 1, 1, 8, 1}); \
  BINARY(column, op, {1, 128, 256}, {1, 128, 1});         \
  BINARY(short_column, op, {1, 8192, 16}, {1, 8192, 1});  \
  BINARY(squeezed, op, {1, 64, 64, 32}, {1, 1, 1, 32});   \
  BINARY(batch, op, {8, 16, 16, 64}, {8, 1, 1, 64});      \
  BINARY(mask, op, {2, 8, 64, 64}, {2, 1, 1, 64})
BINARY_OF_SHAPES(AddV2);
BINARY_OF_SHAPES(SquaredDifference);
BINARY(same, Mul, {1, 64, 64, 32}, {1, 64, 64, 32});
BINARY(same, Maximum, {1, 64, 64, 32}, {1, 64, 64, 32});
BINARY(same, RealDiv, {1, 64, 64, 32}, {1, 64, 64, 32});
BINARY(groups, RealDiv, {1, 64, 64, 8, 4}, {1, 1, 1, 8, 1});
BINARY(scalar, Pow, {1, 64, 64, 32}, {});
BINARY(same, Pow, {1, 64, 64, 32}, {1, 64, 64, 32});
BINARY(scalar, GreaterEqual, {1, 64, 64, 32}, {});
BINARY(groups, Less, {1, 64, 64, 8, 4}, {1, 1, 1, 8, 1});
BINARY(scalar, FloorMod, {1, 64, 64, 32}, {});
BINARY(outer, Mul, {1, 512, 1}, {1, 1, 512});
ELEMENTS(Select, Select_mask, {2, 1, 64, 64}, {2, 8, 64, 64});
ELEMENTS(Select, Select_same, {1, 64, 64, 32}, {1, 64, 64, 32});

#define REDUCE(name, op, ...) ELEMENTS(Reduce, op##_##name, #op, __VA_ARGS__)
#define REDUCE_OF_SHAPES(op)                               \
  REDUCE(all, op, {1, 64, 64, 32}, {0, 1, 2, 3});          \
  REDUCE(space, op, {1, 7, 7, 1280}, {1, 2});              \
  REDUCE(space_of_3, op, {1, 224, 224, 3}, {1, 2});        \
  REDUCE(space_of_16, op, {1, 112, 112, 16}, {1, 2});      \
  REDUCE(groups, op, {1, 64, 64, 8, 4}, {1, 2, 4});        \
  REDUCE(groups_of_2, op, {1, 128, 128, 8, 2}, {1, 2, 4}); \
  REDUCE(groups_of_32, op, {1, 32, 32, 8, 32}, {1, 2, 4}); \
  REDUCE(groups_first, op, {1, 8, 64, 64, 4}, {2, 3, 4});  \
  REDUCE(groups_middle, op, {4, 32, 8, 32, 16}, {1, 3});   \
  REDUCE(channels, op, {1, 64, 64, 32}, {3});              \
  REDUCE(features, op, {1, 128, 256}, {2});                \
  REDUCE(features_of_64, op, {1, 2048, 64}, {2});          \
  REDUCE(last_of_3, op, {1, 224, 224, 3}, {3});            \
  REDUCE(middle, op, {1, 128, 4, 256}, {2});               \
  REDUCE(middle_of_small, op, {1, 4096, 4, 8}, {2});       \
  REDUCE(time, op, {8, 128, 64}, {1});                     \
  REDUCE(channels_first, op, {1, 32, 64, 64}, {2, 3})
REDUCE_OF_SHAPES(Mean);
REDUCE_OF_SHAPES(Max);
REDUCE(features, Prod, {1, 128, 256}, {2});
REDUCE(groups, EuclideanNorm, {1, 64, 64, 8, 4}, {1, 2, 4});

#define MOVED(name, op, ...) ELEMENTS(Moved, op##_##name, #op, __VA_ARGS__)
MOVED(space, Pad, {1, 112, 112, 64}, {0, 0, 0, 1, 0, 1, 0, 0}, {4, 2});
MOVED(space_of_3, Pad, {1, 224, 224, 3}, {0, 0, 3, 3, 3, 3, 0, 0}, {4, 2});
MOVED(channels, Pad, {1, 56, 56, 24}, {0, 0, 0, 0, 0, 0, 0, 8}, {4, 2});
MOVED(to_nchw, Transpose, {1, 64, 64, 32}, {0, 3, 1, 2}, {4});
MOVED(of_3_to_nchw, Transpose, {1, 224, 224, 3}, {0, 3, 1, 2}, {4});
MOVED(to_nhwc, Transpose, {1, 32, 64, 64}, {0, 2, 3, 1}, {4});
MOVED(heads, Transpose, {1, 128, 8, 64}, {0, 2, 1, 3}, {4});
MOVED(matrix, Transpose, {512, 512}, {1, 0}, {2});
MOVED(keys, Transpose, {1, 128, 8, 64}, {0, 2, 3, 1}, {4});
MOVED(shuffle, Transpose, {1, 28, 28, 3, 80}, {0, 1, 2, 4, 3}, {5});
MOVED(twice, ResizeBilinear, {1, 32, 32, 64}, {64, 64}, {2});
MOVED(twice_of_3, ResizeBilinear, {1, 112, 112, 3}, {224, 224}, {2});
MOVED(twice_of_21, ResizeBilinear, {1, 65, 65, 21}, {129, 129}, {2});
MOVED(twice, ResizeNearestNeighbor, {1, 32, 32, 64}, {64, 64}, {2});
MOVED(twice_of_3, ResizeNearestNeighbor, {1, 112, 112, 3}, {224, 224}, {2});
MOVED(twice, Tile, {1, 64, 64, 16}, {1, 1, 1, 2}, {4});
MOVED(rows, BroadcastTo, {1, 1, 1, 32}, {1, 64, 64, 32}, {4});
ELEMENTS(Concat, Concat_channels, {1, 56, 56, 128}, {1, 56, 56, 32}, 3);
ELEMENTS(Concat, Concat_channels_of_8, {1, 56, 56, 8}, {1, 56, 56, 4}, 3);
ELEMENTS(Concat, Concat_rows, {1, 56, 56, 64}, {1, 56, 56, 64}, 1);
ELEMENTS(Split, Split_channels, {1, 56, 56, 64}, 3, 4);
ELEMENTS(Split, Split_channels_of_4, {1, 56, 56, 16}, 3, 4);
ELEMENTS(Blocks, DepthToSpace, "DepthToSpace", {1, 64, 64, 64});
ELEMENTS(Blocks, DepthToSpace_to_3, "DepthToSpace", {1, 128, 128, 12});
ELEMENTS(Blocks, SpaceToDepth, "SpaceToDepth", {1, 128, 128, 16});
ELEMENTS(Gather, Gather_embedding, {10000, 64}, 2048);

ELEMENTS(Pool, MaxPool_3x3, "MaxPool", {1, 112, 112, 64}, 3, 2);
ELEMENTS(Pool, MaxPool_2x2_of_16, "MaxPool", {1, 128, 128, 16}, 2, 2);
ELEMENTS(Pool, MaxPool_5x5, "MaxPool", {1, 20, 20, 256}, 5, 1);
ELEMENTS(Pool, AvgPool_3x3, "AvgPool", {1, 35, 35, 192}, 3, 1);
ELEMENTS(Pool, AvgPool_2x2, "AvgPool", {1, 56, 56, 128}, 2, 2);
ELEMENTS(Unary, Softmax_1000, "Softmax", {1, 1000});
ELEMENTS(Unary, Softmax_10, "Softmax", {4096, 10});
ELEMENTS(Unary, Softmax_heads, "Softmax", {1, 8, 128, 128});
ELEMENTS(Unary, LogSoftmax_21, "LogSoftmax", {4096, 21});
ELEMENTS(ArgMax, ArgMax_of_21, {1, 128, 128, 21}, 3);
ELEMENTS(ArgMax, ArgMax_of_1000, {16, 1000}, 1);
ELEMENTS(BatchNorm, BatchNorm, {1, 56, 56, 64});

}  // namespace
}  // namespace grapnel
