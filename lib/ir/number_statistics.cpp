#include "lib/ir/number_statistics.h"

#include <algorithm>
#include <cmath>

namespace grapnel {

void NumberStatistics::Add(double x, int64_t times) {
  if (std::isnan(x)) {
    nan += times;
    return;
  }
  if (std::isinf(x)) {
    (x < 0 ? negative_infinite : positive_infinite) += times;
    return;
  }
  if (finite() == 0) first_ = x;
  (x < 0 ? negative : x > 0 ? positive : zero) += times;
  min = std::min(min, x);
  max = std::max(max, x);
  double apart = x - first_;
  sum_ += apart * static_cast<double>(times);
  squares_ += apart * apart * static_cast<double>(times);
}

NumberStatistics& NumberStatistics::operator+=(const NumberStatistics& other) {
  if (other.finite() > 0) {
    if (finite() == 0) first_ = other.first_;
    double apart = other.first_ - first_;
    double count = static_cast<double>(other.finite());
    squares_ += other.squares_ + 2 * apart * other.sum_ + count * apart * apart;
    sum_ += other.sum_ + count * apart;
  }
  nan += other.nan;
  negative_infinite += other.negative_infinite;
  negative += other.negative;
  zero += other.zero;
  positive += other.positive;
  positive_infinite += other.positive_infinite;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  return *this;
}

double NumberStatistics::mean() const {
  return finite() == 0 ? 0 : first_ + sum_ / static_cast<double>(finite());
}

double NumberStatistics::deviation() const {
  if (finite() == 0) return 0;
  auto count = static_cast<double>(finite());
  double mean_apart = sum_ / count;
  return std::sqrt(std::max(squares_ / count - mean_apart * mean_apart, 0.0));
}

double NumberStatistics::norm() const {
  auto count = static_cast<double>(finite());
  return std::sqrt(std::max(squares_ + 2 * first_ * sum_ + count * first_ * first_, 0.0));
}

size_t NumberStatistics::BinOf(double x, size_t bins) const {
  double width = max - min;
  // The difference of two very large doubles is infinite: computes with halves then.
  double share = std::isinf(width) ? (x / 2 - min / 2) / (max / 2 - min / 2)
                 : width > 0       ? (x - min) / width
                                   : 0;
  return std::min(static_cast<size_t>(share * static_cast<double>(bins)), bins - 1);
}

}  // namespace grapnel
