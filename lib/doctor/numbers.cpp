#include "lib/doctor/numbers.h"

#include <algorithm>
#include <cmath>

#include "lib/support/text.h"

namespace grapnel {

double DistanceOf(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims())
    return std::numeric_limits<double>::infinity();
  if (a.buffer() == b.buffer() && a.offset() == b.offset()) return 0;
  if (a.dtype() == proto::DT_FLOAT) {
    double sum = 0;
    const float *x = a.data<float>(), *y = b.data<float>();
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      double difference = static_cast<double>(x[i]) - y[i];
      if (std::isfinite(difference)) sum += difference * difference;
    }
    return std::sqrt(sum);
  }
  std::vector<double> other;
  ForEachNumber(b, [&](double x) { other.push_back(x); });
  double sum = 0;
  size_t i = 0;
  ForEachNumber(a, [&](double x) {
    double difference = x - other[i++];
    if (std::isfinite(difference)) sum += difference * difference;
  });
  return std::sqrt(sum);
}

std::string Short(double number) { return NumberText(number, 3); }

std::string Percent(double share) { return NumberText(std::floor(share * 1000) / 10, 3) + " %"; }

}  // namespace grapnel
