// Walks broadcasts with short inner dimensions (a group norm's [h,w,groups,4] op [groups,1]) as
// long rows: an operand that repeats within a row is written out in full.
#ifndef GRAPNEL_KERNELS_CPU_MATH_LONG_ROWS_H_
#define GRAPNEL_KERNELS_CPU_MATH_LONG_ROWS_H_

#include "kernels/common/broadcast.h"

namespace grapnel {

class LongRows {
 public:
  // Returns the long rows for a plan of two operands of `dtype`; nullopt when the plan's own rows
  // are long enough, or when lengthening them costs more than it saves.
  static std::optional<LongRows> Of(const BroadcastPlan& plan, DataType dtype);

  // The unit of ForRows(), in elements; the result is a whole number of units.
  int64_t width() const { return width_; }

  // Calls row(out, left, right, n) for runs of `n` elements of the result from element `out` on,
  // with contiguous operands at `left` and `right`, for [begin, end) in units of width(). Several
  // threads may call ForRows() at once.
  void ForRows(int64_t begin, int64_t end, const void* left, const void* right,
               llvm::function_ref<void(int64_t, const void*, const void*, int64_t)> row) const;

 private:
  LongRows() = default;
  void WriteOut(int operand, const char* from, int64_t times, char* to) const;

  // The plan's dimensions. Those inside of dimension `split_` have `width_` elements together; a
  // long row takes `times_` steps of dimension `split_`.
  BroadcastPlan::Sizes sizes_;
  BroadcastPlan::Sizes strides_[2];
  size_t split_ = 0;
  int64_t width_ = 1, times_ = 1;
  bool is_dense_[2] = {false, false};  // read in place
  size_t element_ = 0;                 // size in bytes
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_LONG_ROWS_H_
