#include "lib/watch/tensor_statistics.h"

#include "lib/ir/literal.h"
#include "lib/ir/types.h"

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

}  // namespace grapnel
