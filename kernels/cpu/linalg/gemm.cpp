// Matrix products. Small float products have their own loop, because Eigen and oneDNN both have a
// startup cost of a microsecond.
#include "kernels/cpu/linalg/gemm.h"

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/linalg/eigen/gemm.h"
#include "lib/support/first_error.h"

namespace grapnel {
namespace {

// Eight floats with any alignment.
typedef float Floats __attribute__((vector_size(32), aligned(4), may_alias));

// For loops over the registers of a tile, which must be unrolled early: otherwise the sums go
// through memory.
#if defined(__clang__)
#define GRAPNEL_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GRAPNEL_UNROLL _Pragma("GCC unroll 8")
#endif

// Computes kRows rows by 8 * kVectors columns of c, held in registers over all of k.
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

// Computes c = a * b for a `b` that fits into the L1 or L2 cache and therefore needs no packing.
void SmallFloatGemm(const GemmShape& s, const float* a, const float* b, float* c) {
  int64_t a_row = s.transpose_a ? 1 : s.a_stride, a_step = s.transpose_a ? s.a_stride : 1;
  int64_t j = 0;
  for (; j + 16 <= s.n; j += 16) FloatColumns<2>(s, a, a_row, a_step, b + j, c + j);
  for (; j + 8 <= s.n; j += 8) FloatColumns<1>(s, a, a_row, a_step, b + j, c + j);
  if (j == s.n) return;
  if (s.n >= 8) {  // redo the last eight columns: overlapping ones get the same values
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

// Copies rows [begin, end) of a matrix with `columns` columns to dense memory, transposed and
// conjugated on request.
template <typename T>
void PackRows(int64_t begin, int64_t end, const T* x, int64_t columns, int64_t stride,
              bool transposed, bool conjugate, T* packed) {
  constexpr int64_t kBlock = 8;  // rows: the output of a transpose stays in the L1 cache
  for (int64_t first = begin; first < end; first += kBlock) {
    int64_t last = std::min(end, first + kBlock);
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
}

template <typename T>
std::vector<T> Packed(const T* x, int64_t rows, int64_t columns, int64_t stride, bool transposed,
                      bool conjugate) {
  std::vector<T> packed(rows * columns);
  PackRows(0, rows, x, columns, stride, transposed, conjugate, packed.data());
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

constexpr int64_t kSmall = 64 * 1024;  // elements of b: 256 KiB of floats, well within the L2 cache

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
  // EigenGemm accepts complex operands only untransposed and unconjugated.
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
  // Fewer than 16 products are split by rows each, or by columns if there are few rows and many
  // columns.
  bool by_columns = s.m < 8 && s.n >= 256;
  int64_t whole = by_columns ? s.n : s.m, grain = s.count >= 16 ? whole : 48;
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
                      int64_t a_at = s.MatrixOfA(i), b_at = s.MatrixOfB(i);
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

namespace {

// For large products, some oneDNN implementations split the sums over all threads, as they do for a
// transposed a: the bits of the result would depend on the number of threads. So a large product
// whose primitive has such an implementation is split into parts here, and a transposed a is copied
// to a plain one first.
bool SharesSums(const OnednnPrimitive& primitive) {
  return primitive.implementation().starts_with("gemm");
}

Expected<Tensor> Transposed(KernelContext& ctx, const BatchedShape& s, const float* a) {
  ASSIGN_OR_RETURN(Tensor packed, ctx.Scratch(proto::DT_FLOAT, {s.a_count, s.m, s.k}));
  constexpr int64_t kRows = 16;  // one cache line of the input
  int64_t blocks = (s.m + kRows - 1) / kRows;
  ctx.ParallelFor(s.a_count * blocks, kRows * s.k, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      int64_t matrix = begin / blocks * s.m * s.k, row = begin % blocks * kRows;
      PackRows(row, std::min(s.m, row + kRows), a + matrix, s.k, s.m, true, false,
               packed.data<float>() + matrix);
    }
  });
  return packed;
}

// How a product is split: into rows of c, or into columns if there are more of them. The split
// depends only on the size of the product, so that each part is the same work for any number of
// threads.
struct Cut {
  bool by_columns;
  int64_t whole, grain;
  int64_t parts() const { return (whole + grain - 1) / grain; }
};
Cut CutOf(const BatchedShape& s) {
  constexpr int64_t kMost = 16, kTile = 48;  // rows or columns; oneDNN's tile sizes divide kTile
  constexpr double kWorthIt = 4e6;           // flops: packing b for each part stays cheap
  double flops = 2.0 * s.m * s.n * s.k;
  bool by_columns = s.n > s.m;
  int64_t whole = by_columns ? s.n : s.m;
  int64_t parts = std::clamp<int64_t>(static_cast<int64_t>(flops / kWorthIt), 1, kMost);
  int64_t grain = ((whole + parts - 1) / parts + kTile - 1) / kTile * kTile;
  return {by_columns, whole, grain};
}

}  // namespace

// Runs each part on one thread, with a primitive for its shape.
template <typename T>
Error MatMulRunner<T>::RunInParts(KernelContext& ctx, const BatchedShape& s,
                                  const GrapnelMatMulSpec& whole, const T* a, const T* b, T* c,
                                  const T* bias) const {
  Cut cut = CutOf(s);
  GrapnelMatMulSpec spec = whole;
  spec.a_batch = spec.b_batch = spec.parts = 1;
  spec.constant_b = false;
  PrimitiveRef parts[2];  // the last part may be smaller
  for (int i = 0; i < 2; ++i) {
    int64_t last = (cut.parts() - 1) * cut.grain;
    (cut.by_columns ? spec.n : spec.m) = i ? cut.whole - last : std::min(cut.whole, cut.grain);
    ASSIGN_OR_RETURN(parts[i], primitives_.Get(spec, [](auto&) { return Error::success(); }));
    if (!parts[i]) return MakeError("oneDNN has no code for a part of the matrix product");
  }
  FirstError error;
  double cost = NanosecondsOf<T>(2.0 * s.m * s.n * s.k) / cut.parts();
  ctx.ParallelFor(s.count * cut.parts(), cost, [&](int64_t begin, int64_t end) {
    for (; begin < end; ++begin) {
      int64_t i = begin / cut.parts(), part = begin % cut.parts(), from = part * cut.grain;
      int64_t row = cut.by_columns ? 0 : from, column = cut.by_columns ? from : 0;
      int64_t a_at = s.MatrixOfA(i) * s.m * s.k + row * (s.transpose_a ? 1 : s.k);
      int64_t b_at = s.MatrixOfB(i) * s.k * s.n + column * (s.transpose_b ? s.k : 1);
      if (Error failed = parts[part == cut.parts() - 1]->Run(
              ctx, a + a_at, b + b_at, bias ? bias + column : nullptr,
              c + i * s.m * s.n + row * s.n + column))
        error.Report(begin, std::move(failed));
    }
  });
  return error.Take();
}

// Returns false when oneDNN is unavailable, does not support the product or would be slower.
template <typename T>
Expected<bool> MatMulRunner<T>::RunOnednn(KernelContext& ctx, const BatchedShape& shape, const T* a,
                                          const T* b, T* c, const Epilogue<T>& epilogue) const {
  if constexpr (!std::is_same_v<T, float>) {
    return false;
  } else {
    // Below this number of flops, the plain loop finishes before oneDNN has started (1.6
    // microseconds).
    constexpr double kWorthIt = 1e5;
    BatchedShape s = shape;
    double flops = 2.0 * s.m * s.n * s.k;
    if (s.k == 0 || flops < kWorthIt || epilogue.scale || !Onednn()) return false;
    bool one_call = s.a_index.empty() && s.b_index.empty();
    double at_once = flops * (one_call ? s.count : 1);
    Tensor transposed;
    if (s.transpose_a && IsWorthATeam(at_once)) {
      ASSIGN_OR_RETURN(transposed, Transposed(ctx, s, a));
      a = transposed.data<float>();
      s.transpose_a = false;
    }
    GrapnelMatMulSpec spec;
    std::memset(&spec, 0, sizeof spec);
    spec.a_batch = one_call ? s.a_count : 1;
    spec.b_batch = one_call ? s.b_count : 1;
    spec.m = s.m;
    spec.n = s.n;
    spec.k = s.k;
    spec.a_stride = s.transpose_a ? s.m : s.k;
    spec.b_stride = s.transpose_b ? s.k : s.n;
    spec.c_stride = s.n;
    spec.transpose_a = s.transpose_a;
    spec.transpose_b = s.transpose_b;
    spec.epilogue = {epilogue.bias != nullptr, epilogue.add != nullptr, epilogue.activation,
                     epilogue.alpha};
    spec.constant_b = constant_b_ != nullptr;
    spec.parts = PartsFor(at_once);
    auto wants_parts = [&](const OnednnPrimitive& made) {
      return IsWorthATeam(at_once) && SharesSums(made);
    };
    ASSIGN_OR_RETURN(PrimitiveRef primitive, primitives_.Get(spec, [&](OnednnPrimitive& made) {
      bool packs = constant_b_ && !wants_parts(made);
      return packs ? constant_b_->PackInto(made, ctx) : Error::success();
    }));
    if (!primitive) return false;
    Tensor kept;
    if (constant_b_ && wants_parts(*primitive)) {
      ASSIGN_OR_RETURN(kept, constant_b_->Get(ctx));
      b = kept.data<T>();
    }
    if (epilogue.add && epilogue.add != c) std::copy_n(epilogue.add, s.count * s.m * s.n, c);
    if (wants_parts(*primitive)) {
      RETURN_IF_ERROR(RunInParts(ctx, s, spec, a, b, c, epilogue.bias));
      return true;
    }
    for (int64_t i = 0; i < (one_call ? 1 : s.count); ++i) {
      RETURN_IF_ERROR(primitive->Run(ctx, a + s.MatrixOfA(i) * s.m * s.k,
                                     b + s.MatrixOfB(i) * s.k * s.n, epilogue.bias,
                                     c + i * s.m * s.n));
    }
    return true;
  }
}

template <typename T>
Error MatMulRunner<T>::Run(KernelContext& ctx, const BatchedShape& shape, const T* a, const T* b,
                           T* c, const Epilogue<T>& epilogue) const {
  if (shape.m == 0 || shape.n == 0 || shape.count == 0) return Error::success();
  BatchedShape s = shape;
  // Many matrices times one: treat their rows as one tall matrix.
  if (s.count > 1 && s.b_count == 1 && s.a_index.empty() && !s.transpose_a &&
      s.a_count == s.count) {
    s.m *= s.count;
    s.count = s.a_count = 1;
    s.b_index.clear();
  }
  ASSIGN_OR_RETURN(bool done, RunOnednn(ctx, s, a, b, c, epilogue));
  if (done) return Error::success();
  Tensor kept;
  if (constant_b_) {
    ASSIGN_OR_RETURN(kept, constant_b_->Get(ctx));
    b = kept.data<T>();
  }
  RunPlain(ctx, s, a, b, c, epilogue);
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
