#include "kernels/cpu/linalg/half_gemm.h"

#include <algorithm>

#include "kernels/common/rounded_half.h"
#include "kernels/cpu/linalg/half_product.h"

namespace grapnel {
namespace {

constexpr int64_t kLanes = 8;

// Computes one row of c if k is small or if the elements along k are not adjacent in memory.
// Products are rounded before they are added, except in groups of eight columns that start at an
// aligned element of the result. `first` is the offset of the row in the result.
void SmallRow(const BatchedShape& shape, const float* a, int64_t a_stride, const float* b,
              int64_t first, float* c) {
  int64_t begin = 0, end = 0;
  if (!shape.transpose_a && !shape.transpose_b && (shape.m == 1 || shape.n % kLanes == 0)) {
    begin = std::min(shape.n, (kLanes - first % kLanes) % kLanes);
    end = begin + (shape.n - begin) / kLanes * kLanes;
  }
  std::fill_n(c, shape.n, 0.0f);
  for (int64_t k = 0; k < shape.k; ++k) {
    for (int64_t j = 0; j < shape.n; ++j) {
      float product = a[k * a_stride] * b[k * shape.n + j];
      if (j < begin || j >= end) product = RoundedTo<Eigen::half>(product);
      c[j] = RoundedTo<Eigen::half>(c[j] + product);
    }
  }
}

// Returns b as [k, n], transposed if necessary.
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

// In TensorFlow, one product with several rows and columns is a tensor contraction. A batch of
// products, and a result of one row or column, are computed as matrices or vectors.
HalfPlan PlanOf(const BatchedShape& shape) {
  using Walk = HalfPlan::Walk;
  if (shape.count == 1 && shape.m > 1 && shape.n > 1)
    return PlanOfTensors(shape.m, shape.n, shape.k);
  HalfPlan plan = PlanOfMatrices(shape.m, shape.n, shape.k);
  if (plan.walk != Walk::kLanes) return plan;
  if (shape.m == 1 && shape.n == 1) {
    plan.walk = !shape.transpose_a && shape.transpose_b ? Walk::kSmall : Walk::kTiles;
    plan.block = shape.k;
  } else if (shape.m == 1 && !shape.transpose_b) {
    plan = PlanOfTensors(shape.m, shape.n, shape.k);
  }
  return plan;
}

// True if the result is one column, a is transposed, and the product is not a small one
// (Walk::kSmall). It is then computed as a row, with a and b exchanged.
bool IsColumn(const BatchedShape& shape) {
  return shape.n == 1 && shape.m > 1 && shape.transpose_a &&
         PlanOfMatrices(shape.m, shape.n, shape.k).walk == HalfPlan::Walk::kLanes;
}

BatchedShape AsRow(const BatchedShape& shape) {
  BatchedShape row;
  row.m = 1;
  row.n = shape.m;
  row.k = shape.k;
  row.count = shape.count;
  row.a_count = shape.b_count;
  row.b_count = shape.a_count;
  row.a_index = shape.b_index;
  row.b_index = shape.a_index;
  return row;
}

}  // namespace

Error HalfGemm(KernelContext& ctx, const BatchedShape& shape, const float* a, const float* b,
               float* c) {
  if (IsColumn(shape)) return HalfGemm(ctx, AsRow(shape), b, a, c);
  Tensor storage;
  ASSIGN_OR_RETURN(b, PlainB(ctx, shape, b, storage));
  HalfPlan plan = PlanOf(shape);
  bool small = plan.walk == HalfPlan::Walk::kSmall && (shape.transpose_a || !shape.transpose_b);
  constexpr int64_t kRows = 16;
  int64_t chunks = (shape.m + kRows - 1) / kRows;
  int64_t a_row = shape.transpose_a ? 1 : shape.k, a_step = shape.transpose_a ? shape.m : 1;
  double cost = 0.5 * kRows * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  ctx.ParallelFor(shape.count * chunks, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t batch = i / chunks, row = i % chunks * kRows, rows = std::min(kRows, shape.m - row);
      const float* left = a + shape.MatrixOfA(batch) * shape.m * shape.k + row * a_row;
      const float* right = b + shape.MatrixOfB(batch) * shape.k * shape.n;
      float* to = c + (batch * shape.m + row) * shape.n;
      if (small) {
        for (int64_t r = 0; r < rows; ++r)
          SmallRow(shape, left + r * a_row, a_step, right, to + r * shape.n - c, to + r * shape.n);
        continue;
      }
      auto lay = [&](int64_t first, int64_t last, float* panel) {
        for (int64_t step = first; step < last; ++step) {
          for (int64_t r = 0; r < rows; ++r) *panel++ = left[r * a_row + step * a_step];
        }
      };
      HalfProduct(plan, right).Rows(rows, plan.whole_rows() - row, lay, to, shape.n);
    }
  });
  return Error::success();
}

}  // namespace grapnel
