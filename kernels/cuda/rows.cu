// Ops on the rows of a matrix, and on channels: softmax, cross entropy, bias.
#include <algorithm>

#include "kernels/cuda/element.cuh"

namespace grapnel::cuda {
inline namespace rows_cu {

// Computed with one block per row: the row's largest element, and the sum of exp(x - largest).
template <typename T>
struct RowSums {
  Compute<T> largest, sum;
};
template <typename T>
__device__ RowSums<T> SumsOf(const T* row, int64_t columns, Compute<T>* shared) {
  using C = Compute<T>;
  C largest = -kInfinity<C>;
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
    C x = Load(row[i]);
    largest = x > largest || x != x ? x : largest;
  }
  largest = BlockMerge(largest, shared, [](C a, C b) { return a > b || a != a ? a : b; });
  C sum = 0;
  for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) sum += exp(Load(row[i]) - largest);
  sum = BlockMerge(sum, shared, [](C a, C b) { return a + b; });
  return {largest, sum};
}

template <typename T>
__global__ void SoftmaxKernel(bool log_of, T* to, const T* from, int64_t rows, int64_t columns) {
  using C = Compute<T>;
  __shared__ C shared[kThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = from + row * columns;
    RowSums<T> sums = SumsOf(in, columns, shared);
    C log_sum = log(sums.sum);
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
      C x = Load(in[i]) - sums.largest;
      to[row * columns + i] = Store<T>(log_of ? x - log_sum : exp(x) / sums.sum);
    }
  }
}

template <typename T>
__global__ void CrossEntropyKernel(T* loss, T* gradient, const T* logits, const T* labels,
                                   int64_t rows, int64_t columns) {
  using C = Compute<T>;
  __shared__ C shared[kThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = logits + row * columns;
    RowSums<T> sums = SumsOf(in, columns, shared);
    C log_sum = log(sums.sum), total = 0;
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
      C x = Load(in[i]) - sums.largest, label = Load(labels[row * columns + i]);
      // A label of 0 contributes nothing, even if the logit is infinite.
      if (label != C(0)) total += label * (log_sum - x);
      gradient[row * columns + i] = Store<T>(exp(x) / sums.sum - label);
    }
    total = BlockMerge(total, shared, [](C a, C b) { return a + b; });
    if (threadIdx.x == 0) loss[row] = Store<T>(total);
  }
}

template <typename T, typename Label>
__global__ void SparseCrossEntropyKernel(T* loss, T* gradient, const T* logits, const Label* labels,
                                         int64_t rows, int64_t columns) {
  using C = Compute<T>;
  __shared__ C shared[kThreads];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* in = logits + row * columns;
    RowSums<T> sums = SumsOf(in, columns, shared);
    C log_sum = log(sums.sum);
    int64_t label = labels[row];
    bool valid = label >= 0 && label < columns;
    // Must precede the writes of the gradient, which may share memory with the logits.
    C own = valid ? log_sum - (Load(in[label]) - sums.largest) : kNan<C>;
    __syncthreads();
    for (int64_t i = threadIdx.x; i < columns; i += blockDim.x) {
      C share = exp(Load(in[i]) - sums.largest) / sums.sum;
      gradient[row * columns + i] = Store<T>(valid ? share - (i == label ? C(1) : C(0)) : kNan<C>);
    }
    if (threadIdx.x == 0) loss[row] = Store<T>(own);
  }
}

template <typename T>
__global__ void BiasKernel(T* to, const T* from, const T* bias, int64_t count, int64_t channels,
                           int64_t inner, GrapnelCudaActivation activation, Compute<T> alpha) {
  for (int64_t i = FirstIndex(); i < count; i += IndexStep()) {
    Compute<T> x = Load(from[i]);
    if (bias) x += Load(bias[i / inner % channels]);
    to[i] = Store<T>(Activate(activation, x, alpha));
  }
}

unsigned RowBlocks(int64_t rows) {
  constexpr int64_t kMostBlocks = 1 << 15;
  return static_cast<unsigned>(std::min(rows, kMostBlocks));
}

}  // namespace rows_cu

int32_t Softmax(GrapnelCudaStream* stream, GrapnelCudaType type, int32_t log, void* to,
                const void* from, int64_t rows, int64_t columns, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    if (rows == 0 || columns == 0) return;
    stream->Use();
    ForFloats(type, [&](auto of) {
      using T = typename decltype(of)::Type;
      SoftmaxKernel<T><<<RowBlocks(rows), kThreads, 0, stream->stream>>>(
          log != 0, static_cast<T*>(to), static_cast<const T*>(from), rows, columns);
    });
    CheckLaunch();
  });
}

int32_t CrossEntropy(GrapnelCudaStream* stream, GrapnelCudaType type, void* loss, void* gradient,
                     const void* logits, GrapnelCudaType label_type, const void* labels,
                     int64_t rows, int64_t columns, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    if (rows == 0 || columns == 0) return;
    stream->Use();
    ForFloats(type, [&](auto of) {
      using T = typename decltype(of)::Type;
      auto* loss_of = static_cast<T*>(loss);
      auto* gradient_of = static_cast<T*>(gradient);
      const auto* logits_of = static_cast<const T*>(logits);
      if (label_type == type) {
        CrossEntropyKernel<T><<<RowBlocks(rows), kThreads, 0, stream->stream>>>(
            loss_of, gradient_of, logits_of, static_cast<const T*>(labels), rows, columns);
      } else if (label_type == kGrapnelCudaInt32) {
        SparseCrossEntropyKernel<T><<<RowBlocks(rows), kThreads, 0, stream->stream>>>(
            loss_of, gradient_of, logits_of, static_cast<const int32_t*>(labels), rows, columns);
      } else if (label_type == kGrapnelCudaInt64) {
        SparseCrossEntropyKernel<T><<<RowBlocks(rows), kThreads, 0, stream->stream>>>(
            loss_of, gradient_of, logits_of, static_cast<const int64_t*>(labels), rows, columns);
      } else {
        throw Failure("labels of dtype " + std::to_string(label_type) +
                      ": int32, int64 or the logits' was expected");
      }
    });
    CheckLaunch();
  });
}

int32_t Bias(GrapnelCudaStream* stream, GrapnelCudaType type, void* to, const void* from,
             const void* bias, int64_t outer, int64_t channels, int64_t inner,
             GrapnelCudaActivation activation, float alpha, GRAPNEL_CUDA_ERROR) {
  return Guarded(error, error_size, [&] {
    int64_t count = outer * channels * inner;
    if (count == 0) return;
    stream->Use();
    ForFloats(type, [&](auto of) {
      using T = typename decltype(of)::Type;
      BiasKernel<T><<<BlocksFor(count), kThreads, 0, stream->stream>>>(
          static_cast<T*>(to), static_cast<const T*>(from), static_cast<const T*>(bias), count,
          channels, inner, activation, static_cast<Compute<T>>(alpha));
    });
    CheckLaunch();
  });
}

}  // namespace grapnel::cuda
