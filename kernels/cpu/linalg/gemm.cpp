// Plain matrix products. Small float ones have their own loop: Eigen and oneDNN both spend a
// microsecond before they start.
#include "kernels/cpu/linalg/gemm.h"

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/linalg/eigen/gemm.h"

namespace grapnel {
namespace {

// Eight floats, wherever they lie.
typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));

// Loops over the registers of a tile: unless they are unrolled before anything else the sums go
// through memory.
#if defined(__clang__)
#define GRAPNEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GRAPNEL_UNROLL _Pragma("GCC unroll 8")
#endif

// kRows rows by 8 * kVectors columns of c, kept in registers over the whole of k.
template <int kRows, int kVectors>
void FloatTile(const GemmShape& s, const float* a, int64_t a_row, int64_t a_step, const float* b,
               float* c) {
  Floats sum[kRows][kVectors] = {};
  for (int64_t p = 0; p < s.k; ++p) {
    Floats right[kVectors];
    GRAPNEL_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      right[v] = *reinterpret_cast<const Floats*>(b + p * s.b_stride + 8 * v);
    }
    GRAPNEL_UNROLL
    for (int r = 0; r < kRows; ++r) {
      float left = a[r * a_row + p * a_step];
      GRAPNEL_UNROLL
      for (int v = 0; v < kVectors; ++v) sum[r][v] += left * right[v];
    }
  }
  GRAPNEL_UNROLL
  for (int r = 0; r < kRows; ++r) {
    GRAPNEL_UNROLL
    for (int v = 0; v < kVectors; ++v)
      *reinterpret_cast<Floats*>(c + r * s.c_stride + 8 * v) = sum[r][v];
  }
}

template <int kVectors>
void FloatColumns(const GemmShape& s, const float* a, int64_t a_row, int64_t a_step, const float* b,
                  float* c) {
  int64_t i = 0;
  for (; i + 6 <= s.m; i += 6)
    FloatTile<6, kVectors>(s, a + i * a_row, a_row, a_step, b, c + i * s.c_stride);
  for (; i + 2 <= s.m; i += 2)
    FloatTile<2, kVectors>(s, a + i * a_row, a_row, a_step, b, c + i * s.c_stride);
  for (; i < s.m; ++i)
    FloatTile<1, kVectors>(s, a + i * a_row, a_row, a_step, b, c + i * s.c_stride);
}

// For b that fits into a near cache, so that nothing needs packing.
void SmallFloatGemm(const GemmShape& s, const float* a, const float* b, float* c) {
  int64_t a_row = s.transpose_a ? 1 : s.a_stride, a_step = s.transpose_a ? s.a_stride : 1;
  int64_t j = 0;
  for (; j + 16 <= s.n; j += 16) FloatColumns<2>(s, a, a_row, a_step, b + j, c + j);
  for (; j + 8 <= s.n; j += 8) FloatColumns<1>(s, a, a_row, a_step, b + j, c + j);
  if (j == s.n) return;
  if (s.n >= 8) {  // the last eight again: some columns are computed twice, to the same values
    j = s.n - 8;
    return FloatColumns<1>(s, a, a_row, a_step, b + j, c + j);
  }
  for (int64_t i = 0; i < s.m; ++i) {
    float sum[8] = {};
    for (int64_t p = 0; p < s.k; ++p) {
      float left = a[i * a_row + p * a_step];
      for (int64_t t = 0; t < s.n; ++t) sum[t] += left * b[p * s.b_stride + t];
    }
    std::copy_n(sum, s.n, c + i * s.c_stride);
  }
}

// `rows` by `columns` of a matrix, transposed as asked, dense.
template <typename T>
std::vector<T> Packed(const T* x, int64_t rows, int64_t columns, int64_t stride, bool transposed,
                      bool conjugate) {
  std::vector<T> packed(rows * columns);
  constexpr int64_t kBlock = 8;  // of rows: what a transpose writes stays in the nearest cache
  for (int64_t first = 0; first < rows; first += kBlock) {
    int64_t last = std::min(rows, first + kBlock);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = first; i < last; ++i) {
        T value = transposed ? x[j * stride + i] : x[i * stride + j];
        if constexpr (kIsComplex<T>) {
          if (conjugate) value = std::conj(value);
        }
        packed[i * columns + j] = value;
      }
    }
  }
  return packed;
}

template <typename T>
void IntegerGemm(const GemmShape& s, const T* a, const T* b, T* c) {
  int64_t a_row = s.transpose_a ? 1 : s.a_stride, a_step = s.transpose_a ? s.a_stride : 1;
  for (int64_t i = 0; i < s.m; ++i) {
    T* row = c + i * s.c_stride;
    std::fill_n(row, s.n, T(0));
    for (int64_t p = 0; p < s.k; ++p) {
      T left = a[i * a_row + p * a_step];
      const T* right = b + p * s.b_stride;
      for (int64_t j = 0; j < s.n; ++j) row[j] = AddOf<T>(row[j], MulOf<T>(left, right[j]));
    }
  }
}

constexpr int64_t kSmall = 64 * 1024;  // elements of b: 256 KB, well inside the second-level cache

}  // namespace

template <typename T>
void Gemm(const GemmShape& shape, const T* a, const T* b, T* c) {
  GemmShape s = shape;
  if (s.k == 0) {
    for (int64_t i = 0; i < s.m; ++i) std::fill_n(c + i * s.c_stride, s.n, T(0));
    return;
  }
  std::vector<T> packed_a, packed_b;
  bool small = s.k * s.n <= kSmall;
  // See EigenGemm: it takes complex operands plain.
  if (kIsComplex<T> && (s.transpose_a || s.conjugate_a)) {
    packed_a = Packed(a, s.m, s.k, s.a_stride, s.transpose_a, s.conjugate_a);
    a = packed_a.data();
    s.a_stride = s.k;
    s.transpose_a = false;
  }
  bool loops = std::is_integral_v<T> || (std::is_same_v<T, float> && small);
  if ((s.transpose_b && (loops || kIsComplex<T>)) || (s.conjugate_b && kIsComplex<T>)) {
    packed_b = Packed(b, s.k, s.n, s.b_stride, s.transpose_b, s.conjugate_b);
    b = packed_b.data();
    s.b_stride = s.n;
    s.transpose_b = false;
  }
  if constexpr (std::is_integral_v<T>) {
    IntegerGemm(s, a, b, c);
  } else if constexpr (std::is_same_v<T, float>) {
    small ? SmallFloatGemm(s, a, b, c) : EigenGemm(s, a, b, c);
  } else {
    EigenGemm(s, a, b, c);
  }
}

namespace {

template <typename T>
double NanosecondsOf(double flops) {
  return flops / (std::is_same_v<T, float> ? 50 : std::is_same_v<T, double> ? 25 : 4);
}

}  // namespace

template <typename T>
void MatMulRunner<T>::RunPlain(KernelContext& ctx, const BatchedShape& s, const T* a, const T* b,
                               T* c, const Epilogue<T>& epilogue) const {
  // Few large products are cut by rows, or by columns where there are few rows.
  bool by_columns = s.m < 8 && s.n >= 256;
  int64_t whole = by_columns ? s.n : s.m,
          grain = s.count >= 4 * ctx.pool().num_threads() ? whole : 48;
  int64_t parts = (whole + grain - 1) / grain;
  double flops = 2.0 * s.m * s.n * s.k;
  ctx.ParallelFor(s.count * parts, NanosecondsOf<T>(flops) / parts,
                  [&](int64_t begin, int64_t end) {
                    while (begin < end) {
                      int64_t i = begin / parts, first = begin % parts;
                      int64_t last = std::min(parts, first + end - begin);
                      begin += last - first;
                      int64_t from = first * grain, to = std::min(whole, last * grain);
                      int64_t row = by_columns ? 0 : from, column = by_columns ? from : 0;
                      GemmShape g{s.m,
                                  s.n,
                                  s.k,
                                  s.transpose_a ? s.m : s.k,
                                  s.transpose_b ? s.k : s.n,
                                  s.n,
                                  s.transpose_a,
                                  s.transpose_b,
                                  s.conjugate_a,
                                  s.conjugate_b};
                      (by_columns ? g.n : g.m) = to - from;
                      int64_t a_at = s.a_index.empty() ? (s.a_count == 1 ? 0 : i) : s.a_index[i];
                      int64_t b_at = s.b_index.empty() ? (s.b_count == 1 ? 0 : i) : s.b_index[i];
                      T* result = c + i * s.m * s.n;
                      Gemm(g, a + a_at * s.m * s.k + (s.transpose_a ? row : row * s.k),
                           b + b_at * s.k * s.n + (s.transpose_b ? column * s.k : column),
                           result + row * s.n + column);
                      Epilogue<T> here = epilogue;
                      if (here.add) here.add += i * s.m * s.n;
                      here.Apply(result, row, row + (by_columns ? s.m : g.m), s.n, column, g.n);
                    }
                  });
}

// False when oneDNN is not there, has no code for it or would be slower.
template <typename T>
Expected<bool> MatMulRunner<T>::RunOnednn(KernelContext& ctx, const BatchedShape& s, const T* a,
                                          const T* b, T* c, const Epilogue<T>& epilogue) const {
  if constexpr (!std::is_same_v<T, float>) {
    return false;
  } else {
    // Below, the plain loop is done by the time that oneDNN has started (1.6 microseconds).
    constexpr double kWorthIt = 1e5;
    double flops = 2.0 * s.m * s.n * s.k;
    if (s.k == 0 || flops < kWorthIt || epilogue.scale || !Onednn()) return false;
    bool one_call = s.a_index.empty() && s.b_index.empty();
    GrapnelMatMulSpec spec;
    std::memset(&spec, 0, sizeof spec);
    spec.a_batch = one_call ? s.a_count : 1;
    spec.b_batch = one_call ? s.b_count : 1;
    spec.m = s.m;
    spec.n = s.n;
    spec.k = s.k;
    spec.transpose_a = s.transpose_a;
    spec.transpose_b = s.transpose_b;
    spec.epilogue = {epilogue.bias != nullptr, epilogue.add != nullptr, epilogue.activation,
                     epilogue.alpha};
    spec.constant_b = constant_b_ != nullptr;
    spec.threads = ThreadsFor(flops * (one_call ? s.count : 1), ctx.pool());
    ASSIGN_OR_RETURN(PrimitiveRef primitive, primitives_.Get(spec, [&](OnednnPrimitive& made) {
      return constant_b_ ? made.SetWeights(constant_b_, ctx.pool()) : Error::success();
    }));
    if (!primitive) return false;
    if (epilogue.add && epilogue.add != c) std::copy_n(epilogue.add, s.count * s.m * s.n, c);
    for (int64_t i = 0; i < (one_call ? 1 : s.count); ++i) {
      int64_t a_at = s.a_index.empty() ? (s.a_count == 1 ? 0 : i) : s.a_index[i];
      int64_t b_at = s.b_index.empty() ? (s.b_count == 1 ? 0 : i) : s.b_index[i];
      RETURN_IF_ERROR(primitive->Run(a + a_at * s.m * s.k, b + b_at * s.k * s.n, epilogue.bias,
                                     c + i * s.m * s.n, ctx.pool()));
    }
    return true;
  }
}

template <typename T>
Error MatMulRunner<T>::Run(KernelContext& ctx, const BatchedShape& shape, const T* a, const T* b,
                           T* c, const Epilogue<T>& epilogue) const {
  if (shape.m == 0 || shape.n == 0 || shape.count == 0) return Error::success();
  BatchedShape s = shape;
  // Many matrices times one: their rows are one tall matrix.
  if (s.count > 1 && s.b_count == 1 && s.a_index.empty() && !s.transpose_a &&
      s.a_count == s.count) {
    s.m *= s.count;
    s.count = s.a_count = 1;
    s.b_index.clear();
  }
  ASSIGN_OR_RETURN(bool done, RunOnednn(ctx, s, a, b, c, epilogue));
  if (!done) RunPlain(ctx, s, a, b, c, epilogue);
  return Error::success();
}

#define INSTANTIATE(T)                                             \
  template void Gemm<T>(const GemmShape&, const T*, const T*, T*); \
  template class MatMulRunner<T>
INSTANTIATE(float);
INSTANTIATE(double);
INSTANTIATE(Complex64);
INSTANTIATE(Complex128);
INSTANTIATE(int8_t);
INSTANTIATE(int16_t);
INSTANTIATE(int32_t);
INSTANTIATE(int64_t);
INSTANTIATE(uint8_t);
INSTANTIATE(uint16_t);
INSTANTIATE(uint32_t);
INSTANTIATE(uint64_t);
#undef INSTANTIATE

}  // namespace grapnel
