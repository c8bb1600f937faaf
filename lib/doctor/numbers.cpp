#include "lib/doctor/numbers.h"

#include <algorithm>
#include <cmath>

#include "lib/support/text.h"

namespace grapnel {
namespace {

template <typename T>
void Walk(const Tensor& tensor, llvm::function_ref<void(double)> visit) {
  const T* data = tensor.data<T>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) visit(static_cast<double>(data[i]));
}

}  // namespace

void ForEachNumber(const Tensor& tensor, llvm::function_ref<void(double)> visit) {
  if (!tensor || tensor.HoldsObjects() || tensor.dtype() == proto::DT_STRING ||
      IsComplex(tensor.dtype()))
    return;
  switch (tensor.dtype()) {
    case proto::DT_FLOAT:
      return Walk<float>(tensor, visit);
    case proto::DT_DOUBLE:
      return Walk<double>(tensor, visit);
    case proto::DT_INT32:
      return Walk<int32_t>(tensor, visit);
    case proto::DT_INT64:
      return Walk<int64_t>(tensor, visit);
    case proto::DT_UINT8:
      return Walk<uint8_t>(tensor, visit);
    case proto::DT_BOOL:
      return Walk<bool>(tensor, visit);
    default:
      break;
  }
  Literal literal = tensor.ToLiteral();
  for (int64_t i = 0; i < literal.num_elements(); ++i) visit(literal.AsDouble(i));
}

NumberStatistics StatisticsOf(const Tensor& tensor) {
  NumberStatistics numbers;
  ForEachNumber(tensor, [&](double x) { numbers.Add(x); });
  return numbers;
}

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
