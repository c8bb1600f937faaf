// Broadcasts whose innermost dimensions are short (a group norm's [h,w,groups,4] op [groups,1]),
// walked as long rows: an operand that is repeated in them is written out side by side.
#ifndef GRAPNEL_KERNELS_CPU_MATH_LONG_ROWS_H_
#define GRAPNEL_KERNELS_CPU_MATH_LONG_ROWS_H_

#include "kernels/common/broadcast.h"

namespace grapnel {

class LongRows {
 public:
  // Null: the plan's own rows are long enough, or cannot be lengthened at less than they cost. Of
  // two operands of `dtype`.
  static std::optional<LongRows> Of(const BroadcastPlan& plan, DataType dtype);

  // Elements of the result that are walked together; it is made of a whole number of these.
  int64_t width() const { return width_; }

  // Calls row(out, left, right, n) for runs of `n` elements of the result from element `out` on,
  // whose operands lie side by side at `left` and `right`, for [begin, end) in units of width().
  // On several threads at once.
  void ForRows(int64_t begin, int64_t end, const void* left, const void* right,
               llvm::function_ref<void(int64_t, const void*, const void*, int64_t)> row) const;

 private:
  LongRows() = default;
  void WriteOut(int operand, const char* from, int64_t times, char* to) const;

  // The plan's dimensions: those outside, the one of which `times_` steps are taken at once, and
  // those inside, `width_` elements.
  BroadcastPlan::Sizes sizes_;
  BroadcastPlan::Sizes strides_[2];
  size_t split_ = 0;
  int64_t width_ = 1, times_ = 1;
  bool is_dense_[2] = {false, false};  // read where it is
  size_t element_ = 0;                 // bytes
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_LONG_ROWS_H_
