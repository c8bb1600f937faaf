#include "kernels/cpu/linalg/half_gemm.h"

#include <algorithm>
#include <vector>

#include "kernels/common/stepped.h"

namespace grapnel {
namespace {

// What follows is how Eigen's product without fused multiply-add walks over a result whose rows lie
// one after the other: two lanes of eight columns at a time, then one, then single columns, and
// four rows at a time.
constexpr int64_t kLanes = 8, kRowsAtATime = 4, kStepsAtATime = 8;
constexpr int64_t kSmall = 20;  // m + n + k of products that are taken element by element

float Rounded(float x) { return RoundedTo<Eigen::half>(x); }

// How the sums of some columns are taken: a product is rounded before it is added, or not, and sums
// of even and odd steps are kept apart.
struct Columns {
  int64_t begin, end;
  bool round_products = true, two_sums = false;
};

class RowProduct {
 public:
  RowProduct(const BatchedShape& shape, const float* a, int64_t a_stride, const float* b)
      : shape_(shape), a_(a), a_stride_(a_stride), b_(b) {}

  void Run(const Columns& columns, float* c) {
    int64_t n = columns.end - columns.begin;
    if (n <= 0) return;
    odd_.assign(n, 0);
    c += columns.begin;
    std::fill_n(c, n, 0.0f);
    int64_t paired = columns.two_sums ? shape_.k / kStepsAtATime * kStepsAtATime : 0;
    for (int64_t k = 0; k < shape_.k; ++k) {
      Add(columns, k, k < paired && k % 2 == 1 ? odd_.data() : c);
      if (k + 1 == paired) {
        for (int64_t j = 0; j < n; ++j) c[j] = Rounded(c[j] + odd_[j]);
      }
    }
  }

 private:
  void Add(const Columns& columns, int64_t k, float* sums) const {
    float left = a_[k * a_stride_];
    const float* right = b_ + k * shape_.n + columns.begin;
    for (int64_t j = 0, n = columns.end - columns.begin; j < n; ++j) {
      float product = left * right[j];
      sums[j] = Rounded(sums[j] + (columns.round_products ? Rounded(product) : product));
    }
  }

  const BatchedShape& shape_;
  const float* a_;
  int64_t a_stride_;
  const float* b_;
  std::vector<float> odd_;
};

void ProductRow(const BatchedShape& shape, int64_t row, RowProduct product, float* c) {
  int64_t n = shape.n;
  if (shape.count > 1 && shape.m + n + shape.k < kSmall) {
    bool lanes = !shape.transpose_a && !shape.transpose_b && n % kLanes == 0;
    product.Run({0, n, !lanes}, c);
    return;
  }
  if (shape.m == 1) {
    int64_t lanes = n / kLanes * kLanes;
    product.Run({0, lanes, false}, c);
    product.Run({lanes, n, true}, c);
    return;
  }
  int64_t two_lanes = n / (2 * kLanes) * 2 * kLanes, lanes = n / kLanes * kLanes;
  product.Run({0, two_lanes}, c);
  product.Run({two_lanes, lanes, true, row < shape.m / kRowsAtATime * kRowsAtATime}, c);
  product.Run({lanes, n, false}, c);
}

// b with rows of n, whichever way it lies.
Expected<const float*> PlainB(KernelContext& ctx, const BatchedShape& shape, const float* b,
                              Tensor& storage) {
  if (!shape.transpose_b) return b;
  ASSIGN_OR_RETURN(storage, ctx.Scratch(proto::DT_FLOAT, {shape.b_count, shape.k, shape.n}));
  float* to = storage.data<float>();
  for (int64_t i = 0; i < shape.b_count * shape.k * shape.n; ++i) {
    int64_t batch = i / (shape.k * shape.n), k = i / shape.n % shape.k, j = i % shape.n;
    to[i] = b[(batch * shape.n + j) * shape.k + k];
  }
  return to;
}

}  // namespace

Error HalfGemm(KernelContext& ctx, const BatchedShape& shape, const float* a, const float* b,
               float* c) {
  Tensor storage;
  ASSIGN_OR_RETURN(b, PlainB(ctx, shape, b, storage));
  double cost = 4.0 * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  ctx.ParallelFor(shape.count * shape.m, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t batch = i / shape.m, row = i % shape.m;
      const float* left =
          a + shape.MatrixOfA(batch) * shape.m * shape.k + row * (shape.transpose_a ? 1 : shape.k);
      const float* right = b + shape.MatrixOfB(batch) * shape.k * shape.n;
      ProductRow(shape, row, {shape, left, shape.transpose_a ? shape.m : 1, right},
                 c + i * shape.n);
    }
  });
  return Error::success();
}

}  // namespace grapnel
