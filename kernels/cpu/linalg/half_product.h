// Products of matrices of halves with the rounding at each step, and in the order, of the library
// (Eigen) that TensorFlow's CPU kernels multiply them with. Any other order has other last bits.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_HALF_PRODUCT_H_
#define GRAPNEL_KERNELS_CPU_LINALG_HALF_PRODUCT_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// How the sums of a product [m, k] * [k, n] are taken.
struct HalfPlan {
  enum class Walk {
    kTiles,   // four rows by two lanes of eight columns, step after step
    kVector,  // one row: a lane of eight columns, step after step
    kLanes,   // each element by itself, eight steps side by side
    kSmall    // likewise, products rounded first: of a few steps, or of one element
  };

  int64_t m = 0, n = 0, k = 0;
  Walk walk = Walk::kTiles;
  // Steps are cut into shares, which are added up at the end, and those into blocks, which are
  // added one after the other.
  int64_t share = 0, block = 0;
  int64_t columns = 0;  // tiles start anew after so many

  // Rows from here on are no whole tile.
  int64_t whole_rows() const { return m / 4 * 4; }
};

// Of two tensors (Eigen's contract). Where threads share the steps of a large product, which
// changes the order, it is that of a machine with two cores. `a_cost` is what an element of a costs
// to read, in cycles, beside its load: it is weighed against the cost of threads.
HalfPlan PlanOfTensors(int64_t m, int64_t n, int64_t k, double a_cost = 0);

// Of two matrices on one thread, where columns of b lie in memory as rows.
HalfPlan PlanOfMatrices(int64_t m, int64_t n, int64_t k);

// Lays steps [begin, end) of some rows of a side by side: panel[(step - begin) * rows + row].
using HalfLeft = llvm::function_ref<void(int64_t begin, int64_t end, float* panel)>;

// `rows` rows of c, `c_stride` apart, the first `whole` of them in whole tiles; element [step, j]
// of b is b[step * n + j]. All values are halves held as floats. Slow beside a product of floats.
class HalfProduct {
 public:
  HalfProduct(const HalfPlan& plan, const float* b) : plan_(plan), b_(b) {}
  void Rows(int64_t rows, int64_t whole, HalfLeft left, float* c, int64_t c_stride);

 private:
  void Share(int64_t begin, int64_t end, float* c, int64_t c_stride);
  void Lanes(float* c, int64_t c_stride);

  HalfPlan plan_;
  const float* b_;
  // Of the rows at hand.
  int64_t rows_ = 0, whole_ = 0;
  HalfLeft left_ = nullptr;
  std::vector<float> panel_, share_;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_HALF_PRODUCT_H_
