#include "kernels/cpu/linalg/half_product.h"

#include <algorithm>
#include <array>

#include "kernels/common/half_lanes.h"

namespace grapnel {
namespace {

constexpr int64_t kLanes = HalfLanes::kCount, kTileRows = 4, kTileColumns = 2 * kLanes;
constexpr int64_t kPeeled = 8;  // steps whose even and odd products are summed separately

// --- Block sizes. Eigen derives them from the CPU's cache sizes; the constants assume an L1 cache
// of 48 KiB, as most CPUs since 2019 have. The blocks of products that threads share do not depend
// on the cache.
constexpr int64_t kFirstCache = 48 << 10, kTileBytes = 128, kStepBytes = 40;
constexpr int64_t kSharedBlock = 320;
constexpr int64_t kThreads = 2;
constexpr double kCyclesPerByte = 11.0 / 64, kStartCycles = 100000, kCyclesPerThread = 100000;

int64_t BlockOfOneThread(int64_t k) {
  constexpr int64_t kMost = (kFirstCache - kTileBytes) / kStepBytes / kPeeled * kPeeled;
  if (k <= kMost) return k;
  int64_t rest = k % kMost;
  return rest == 0 ? kMost : kMost - kPeeled * ((kMost - 1 - rest) / (kPeeled * (k / kMost + 1)));
}

int64_t RoundedUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

// Returns the cycles that one step (one index of the sum) takes for kLanes elements of the result:
// more if the result is smaller than a tile.
double CyclesOfStep(int64_t narrow, int64_t wide) {
  return narrow < kTileRows || wide < kTileColumns ? 2 : 1;
}

bool SharesColumns(int64_t columns, int64_t rows) {
  int64_t c = columns / kThreads, r = rows / kThreads, tiles = kThreads * kTileRows;
  if (c >= kTileRows && (r < kTileRows || (r < 4 * kTileRows && rows % tiles != 0 &&
                                           (columns % tiles == 0 || columns / rows >= 6))))
    return true;
  return r < 16 * kTileRows && columns > rows * 32;
}

// Returns the number of steps per share (the part of a sum that one thread computes), or k if
// threads do not share the steps. `threads` is the number of threads that would share rows or
// columns.
int64_t ShareOfSteps(const HalfPlan& plan, double a_cost, int64_t threads) {
  double m = static_cast<double>(plan.m), n = static_cast<double>(plan.n);
  double load = 2 * kCyclesPerByte;
  double step = CyclesOfStep(plan.m, plan.n) * m * n / kLanes + load + (load + a_cost) * m;
  double all = step * static_cast<double>(plan.k);
  double merge = m * n * (3 * kCyclesPerByte + 1.0 / kLanes);
  bool pays = all / kThreads + kStartCycles + kThreads * (merge + 3000) < all;
  int64_t each = plan.k / kThreads;
  if (plan.m == 1 || !pays || kThreads < threads || each < 2 * kTileRows) return plan.k;
  bool small = std::max(plan.m, plan.n) / threads < kTileRows;
  bool narrow =
      each > 8 * kTileRows && (std::min(plan.m, plan.n) < 2 * kTileRows || kThreads > threads);
  if (!small && !narrow) return plan.k;
  return std::min(plan.k, std::max(12 * kLanes, RoundedUp((plan.k + 1) / kThreads, kPeeled)));
}

// --- Lanes

// Loads the first `count` lanes; the others are 0.
HalfLanes Some(const float* from, int64_t count) {
  float lanes[kLanes] = {};
  std::copy_n(from, count, lanes);
  return HalfLanes::At(lanes);
}

std::array<float, kLanes> ValuesOf(const HalfLanes& lanes) {
  std::array<float, kLanes> values;
  lanes.To(values.data());
  return values;
}

// Adds lanes four apart first, in float, and rounds once at the end.
float SumOf(const HalfLanes& lanes) {
  std::array<float, kLanes> x = ValuesOf(lanes);
  return RoundedTo<Eigen::half>(((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])));
}

// --- Sums of some rows and up to two lanes of columns over the steps of a block

template <int kRows, int kWide, bool kRoundProducts>
void Tile(const float* left, int64_t left_stride, const float* right, int64_t right_stride,
          int64_t steps, int64_t count, HalfLanes (&sums)[kRows][kWide]) {
  for (int64_t s = 0; s < steps; ++s, left += left_stride, right += right_stride) {
    HalfLanes b[kWide];
    for (int w = 0; w < kWide; ++w) {
      b[w] = kWide == 1 && count < kLanes ? Some(right, count) : HalfLanes::At(right + w * kLanes);
    }
    for (int r = 0; r < kRows; ++r) {
      HalfLanes a(left[r]);
      for (int w = 0; w < kWide; ++w)
        sums[r][w] = sums[r][w] + (kRoundProducts ? a * b[w] : HalfLanes::Exact(a, b[w]));
    }
  }
}

struct Block {
  const float* left;
  int64_t left_stride;
  const float* right;
  int64_t right_stride, steps;
  float* c;
  int64_t c_stride;
  bool first;  // c is assigned, else added to

  void Put(HalfLanes sum, int64_t row, int64_t column, int64_t count) const {
    float* to = c + row * c_stride + column;
    if (count == kLanes)
      (first ? sum : HalfLanes::At(to) + sum).To(to);
    else
      std::copy_n(ValuesOf(first ? sum : Some(to, count) + sum).data(), count, to);
  }
};

template <int kRows, int kWide, bool kRoundProducts>
void PutTile(const Block& block, int64_t row, int64_t column, int64_t count) {
  HalfLanes sums[kRows][kWide];
  Tile<kRows, kWide, kRoundProducts>(block.left + row, block.left_stride, block.right + column,
                                     block.right_stride, block.steps, count, sums);
  for (int r = 0; r < kRows; ++r) {
    for (int w = 0; w < kWide; ++w) block.Put(sums[r][w], row + r, column + w * kLanes, count);
  }
}

template <int kRows>
void PutTwoSums(const Block& block, int64_t row, int64_t column) {
  HalfLanes even[kRows][1], odd[kRows][1];
  int64_t peeled = block.steps / kPeeled * kPeeled, a = block.left_stride, b = block.right_stride;
  const float *left = block.left + row, *right = block.right + column;
  Tile<kRows, 1, true>(left, 2 * a, right, 2 * b, peeled / 2, kLanes, even);
  Tile<kRows, 1, true>(left + a, 2 * a, right + b, 2 * b, peeled / 2, kLanes, odd);
  for (int r = 0; r < kRows; ++r) even[r][0] = even[r][0] + odd[r][0];
  Tile<kRows, 1, true>(left + peeled * a, a, right + peeled * b, b, block.steps - peeled, kLanes,
                       even);
  for (int r = 0; r < kRows; ++r) block.Put(even[r][0], row + r, column, kLanes);
}

// Computes columns [begin, end) of kRows rows.
template <int kRows>
void PutRows(const Block& block, int64_t row, int64_t begin, int64_t end, bool two_sums) {
  int64_t j = begin;
  for (; j + kTileColumns <= end; j += kTileColumns) PutTile<kRows, 2, true>(block, row, j, kLanes);
  for (; j + kLanes <= end; j += kLanes) {
    if (two_sums)
      PutTwoSums<kRows>(block, row, j);
    else
      PutTile<kRows, 1, true>(block, row, j, kLanes);
  }
  if (j < end) PutTile<kRows, 1, false>(block, row, j, end - j);
}

void PutTiles(const Block& block, int64_t rows, int64_t whole, int64_t begin, int64_t end) {
  int64_t i = 0;
  for (; i + kTileRows <= whole; i += kTileRows) PutRows<kTileRows>(block, i, begin, end, true);
  for (; i < whole; ++i) PutRows<1>(block, i, begin, end, true);
  for (; i < rows; ++i) PutRows<1>(block, i, begin, end, false);
}

void PutVector(const Block& block, int64_t n) {
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) PutTile<1, 1, false>(block, 0, j, kLanes);
  if (j < n) PutTile<1, 1, true>(block, 0, j, n - j);
}

// --- One element: eight steps in parallel, the rest one at a time

float LanesOf(const float* a, const float* b, int64_t k) {
  HalfLanes lanes;
  int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes)
    lanes = lanes + HalfLanes::Exact(HalfLanes::At(a + i), HalfLanes::At(b + i));
  float sum = SumOf(lanes);
  for (; i < k; ++i) sum = RoundedTo<Eigen::half>(sum + RoundedTo<Eigen::half>(a[i] * b[i]));
  return sum;
}

// Sums rounded products, even and odd groups of eight separately.
float SmallOf(const float* a, const float* b, int64_t k) {
  auto product = [&](int64_t at) { return HalfLanes::At(a + at) * HalfLanes::At(b + at); };
  float sum = 0;
  int64_t i = 0;
  if (k >= kLanes) {
    HalfLanes even = product(0);
    i = kLanes;
    if (k >= 2 * kLanes) {
      HalfLanes odd = product(kLanes);
      for (i = 2 * kLanes; i + 2 * kLanes <= k; i += 2 * kLanes) {
        even = even + product(i);
        odd = odd + product(i + kLanes);
      }
      even = even + odd;
    }
    if (i + kLanes <= k) {
      even = even + product(i);
      i += kLanes;
    }
    sum = SumOf(even);
  }
  for (; i < k; ++i) sum = RoundedTo<Eigen::half>(sum + RoundedTo<Eigen::half>(a[i] * b[i]));
  return sum;
}

}  // namespace

HalfPlan PlanOfTensors(int64_t m, int64_t n, int64_t k, double a_cost) {
  HalfPlan plan{m, n, k, HalfPlan::Walk::kTiles, k, BlockOfOneThread(k), n};
  if (m == 1) {
    plan.walk = HalfPlan::Walk::kVector;
    plan.block = k < 128 ? k : n < 16000 ? 16 : 4;
    return plan;
  }
  bool by_columns = SharesColumns(n, m);
  auto part = [](int64_t size, int64_t step) {
    return std::min(size, RoundedUp((size + kThreads - 1) / kThreads, step));
  };
  int64_t columns = part(n, by_columns ? kTileRows : kTileColumns);
  int64_t rows = part(m, by_columns ? kTileColumns : kTileRows);
  int64_t block = std::min(k, kSharedBlock);
  double steps = static_cast<double>(block), load = 2 * kCyclesPerByte;
  double of_b = by_columns ? load : 0, of_a = a_cost + (by_columns ? 0 : load);
  double element = steps * (block == 1 ? 4 : CyclesOfStep(columns, rows)) / kLanes + load +
                   of_b * steps / static_cast<double>(m) + of_a * steps / static_cast<double>(n);
  double cycles = element * static_cast<double>(m) * static_cast<double>(n);
  double wanted = (cycles - kStartCycles) / kCyclesPerThread + 0.9;
  int64_t threads = wanted >= kThreads ? kThreads : 1;
  plan.share = ShareOfSteps(plan, a_cost, threads);
  if (plan.share < k) {
    plan.block = std::min(plan.share, kSharedBlock);
  } else if (threads > 1) {
    plan.block = block;
    if (by_columns) plan.columns = columns;
  }
  return plan;
}

HalfPlan PlanOfMatrices(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kSmall = 20;
  HalfPlan plan{m, n, k, HalfPlan::Walk::kTiles, k, BlockOfOneThread(k), n};
  if (m + n + k < kSmall)
    plan.walk = HalfPlan::Walk::kSmall;
  else if (m == 1 || n == 1)
    plan.walk = HalfPlan::Walk::kLanes;
  return plan;
}

void HalfProduct::Rows(int64_t rows, int64_t whole, HalfLeft left, float* c, int64_t c_stride) {
  rows_ = rows;
  whole_ = std::clamp<int64_t>(whole, 0, rows);
  left_ = left;
  if (plan_.k == 0) {
    for (int64_t i = 0; i < rows; ++i) std::fill_n(c + i * c_stride, plan_.n, 0.0f);
    return;
  }
  if (plan_.walk == HalfPlan::Walk::kLanes || plan_.walk == HalfPlan::Walk::kSmall)
    return Lanes(c, c_stride);
  panel_.resize(rows * std::min(plan_.block, plan_.k));
  Share(0, std::min(plan_.share, plan_.k), c, c_stride);
  for (int64_t begin = plan_.share; begin < plan_.k; begin += plan_.share) {
    share_.resize(rows * plan_.n);
    Share(begin, std::min(begin + plan_.share, plan_.k), share_.data(), plan_.n);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < plan_.n; ++j) {
        float& to = c[i * c_stride + j];
        to = RoundedTo<Eigen::half>(to + share_[i * plan_.n + j]);
      }
    }
  }
}

void HalfProduct::Share(int64_t begin, int64_t end, float* c, int64_t c_stride) {
  for (int64_t step = begin; step < end; step += plan_.block) {
    int64_t steps = std::min(plan_.block, end - step);
    left_(step, step + steps, panel_.data());
    Block block{panel_.data(), rows_,        b_ + step * plan_.n, plan_.n, steps, c,
                c_stride,      step == begin};
    if (plan_.walk == HalfPlan::Walk::kVector) {
      PutVector(block, plan_.n);
      continue;
    }
    for (int64_t j = 0; j < plan_.n; j += plan_.columns)
      PutTiles(block, rows_, whole_, j, std::min(plan_.n, j + plan_.columns));
  }
}

void HalfProduct::Lanes(float* c, int64_t c_stride) {
  int64_t k = plan_.k;
  panel_.resize(rows_ * k);
  left_(0, k, panel_.data());
  std::vector<float> row(k), column(k);
  for (int64_t j = 0; j < plan_.n; ++j) {
    for (int64_t s = 0; s < k; ++s) column[s] = b_[s * plan_.n + j];
    for (int64_t i = 0; i < rows_; ++i) {
      for (int64_t s = 0; s < k; ++s) row[s] = panel_[s * rows_ + i];
      c[i * c_stride + j] = plan_.walk == HalfPlan::Walk::kSmall
                                ? SmallOf(row.data(), column.data(), k)
                                : LanesOf(row.data(), column.data(), k);
    }
  }
}

}  // namespace grapnel
