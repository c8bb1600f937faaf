// Statistics of numbers: counts, extremes, mean and standard deviation. One definition for
// constants, the debugger and `doctor`.
#ifndef GRAPNEL_LIB_IR_NUMBER_STATISTICS_H_
#define GRAPNEL_LIB_IR_NUMBER_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <limits>

namespace grapnel {

// The counts cover all numbers that were added; the extremes and moments only the finite ones.
class NumberStatistics {
 public:
  int64_t nan = 0, negative_infinite = 0, negative = 0, zero = 0, positive = 0;
  int64_t positive_infinite = 0;
  // Infinity and -infinity if no number is finite.
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();

  // Adds `x` as often as `times` says.
  void Add(double x, int64_t times = 1);
  NumberStatistics& operator+=(const NumberStatistics& other);

  int64_t finite() const { return negative + zero + positive; }
  int64_t infinite() const { return negative_infinite + positive_infinite; }
  int64_t bad() const { return nan + infinite(); }
  int64_t elements() const { return finite() + bad(); }
  // The mean, the standard deviation of the whole population (not a sample's estimate), and the
  // Euclidean norm; 0 if no number is finite.
  double mean() const;
  double deviation() const;
  double norm() const;
  // True if there is more than one number, and all are the same finite number.
  bool IsConstant() const { return elements() > 1 && bad() == 0 && min == max; }
  // Returns the bin of a finite number that was added, for a histogram of `bins` bins of equal
  // width from `min` to `max`, both included; 0 if all finite numbers are equal.
  size_t BinOf(double x, size_t bins) const;

 private:
  // Sums of differences from the first finite number: their squares keep the digits that a sum of
  // squares of nearly equal numbers loses.
  double first_ = 0, sum_ = 0, squares_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NUMBER_STATISTICS_H_
