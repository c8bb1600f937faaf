// Matrix products of halves that reproduce the order, and the rounding at each step, of Eigen,
// which TensorFlow's CPU kernels use. Any other order changes the last bits.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_HALF_PRODUCT_H_
#define GRAPNEL_KERNELS_CPU_LINALG_HALF_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// The order in which a product [m, k] * [k, n] adds up. A step is one index in the dimension of
// size k.
struct HalfPlan {
  enum class Walk {
    kTiles,   // four rows by two lanes of eight columns, one step at a time
    kVector,  // one row: a lane of eight columns, one step at a time
    kLanes,   // each element separately, eight steps in parallel
    kSmall    // like kLanes, with rounded products: for few steps, or for one element
  };

  int64_t m = 0, n = 0, k = 0;
  Walk walk = Walk::kTiles;
  // The k steps are split into shares, which are summed at the end, and shares into blocks, which
  // are summed one after another.
  int64_t share = 0, block = 0;
  int64_t columns = 0;  // tiles restart after this many columns

  // Rows from whole_rows() on do not fill a tile.
  int64_t whole_rows() const { return m / 4 * 4; }
};

// The plan of a tensor contraction in Eigen. If threads share the steps of a large product, which
// changes the order, the plan is that of a machine with two cores. `a_cost` is the cost, in cycles,
// to read an element of a beyond its load; Eigen weighs this cost against the cost of threads.
HalfPlan PlanOfTensors(int64_t m, int64_t n, int64_t k, double a_cost = 0);

// The plan of a product of two matrices on one thread, where the columns of b are stored as rows.
HalfPlan PlanOfMatrices(int64_t m, int64_t n, int64_t k);

// Packs steps [begin, end) of some rows of a: panel[(step - begin) * rows + row].
using HalfLeft = llvm::function_ref<void(int64_t begin, int64_t end, float* panel)>;

// Computes `rows` rows of c, `c_stride` apart, the first `whole` of them in whole tiles. Element
// [step, j] of b is b[step * n + j]. All values are halves held as floats. Slow compared to a
// product of floats.
class HalfProduct {
 public:
  HalfProduct(const HalfPlan& plan, const float* b) : plan_(plan), b_(b) {}
  void Rows(int64_t rows, int64_t whole, HalfLeft left, float* c, int64_t c_stride);

 private:
  void Share(int64_t begin, int64_t end, float* c, int64_t c_stride);
  void Lanes(float* c, int64_t c_stride);

  HalfPlan plan_;
  const float* b_;
  // The current call of Rows().
  int64_t rows_ = 0, whole_ = 0;
  HalfLeft left_ = nullptr;
  std::vector<float> panel_, share_;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_HALF_PRODUCT_H_
