#include "lib/watch/number_array.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

namespace grapnel {
namespace {

using Number = NumberArray::Number;

// Calls visit(T()), where T is the C++ type of the dtype. Returns false for bool, complex numbers
// and dtypes without a C++ type.
template <typename Visit>
bool VisitPlain(DataType dtype, Visit visit) {
  switch (dtype) {
    case proto::DT_FLOAT:
      return visit(float()), true;
    case proto::DT_DOUBLE:
      return visit(double()), true;
    case proto::DT_INT8:
    case proto::DT_QINT8:
      return visit(int8_t()), true;
    case proto::DT_UINT8:
    case proto::DT_QUINT8:
      return visit(uint8_t()), true;
    case proto::DT_INT16:
    case proto::DT_QINT16:
      return visit(int16_t()), true;
    case proto::DT_UINT16:
    case proto::DT_QUINT16:
      return visit(uint16_t()), true;
    case proto::DT_INT32:
    case proto::DT_QINT32:
      return visit(int32_t()), true;
    case proto::DT_UINT32:
      return visit(uint32_t()), true;
    case proto::DT_INT64:
      return visit(int64_t()), true;
    case proto::DT_UINT64:
      return visit(uint64_t()), true;
    default:
      return false;
  }
}

template <typename T>
void AddComplex(const Tensor& tensor, NumberArray* array) {
  const std::complex<T>* data = tensor.data<std::complex<T>>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    array->values.push_back(data[i].real());
    array->imaginary.push_back(data[i].imag());
  }
}

template <typename T>
void FillComplex(const NumberArray& array, Tensor* tensor) {
  std::complex<T>* data = tensor->data<std::complex<T>>();
  for (int64_t i = 0; i < array.size(); ++i) {
    Number imaginary = array.IsComplex() ? array.imaginary[i] : 0;
    data[i] = {static_cast<T>(array.values[i]), static_cast<T>(imaginary)};
  }
}

template <typename T>
T Clamped(Number number) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(number);
  if (std::isnan(number)) return 0;
  if (number <= static_cast<Number>(std::numeric_limits<T>::lowest()))
    return std::numeric_limits<T>::lowest();
  if (number >= static_cast<Number>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(number);
}

}  // namespace

Number RoundTo(DataType dtype, Number number) {
  Number rounded = number;
  bool is_plain = VisitPlain(
      dtype, [&](auto zero) { rounded = static_cast<Number>(Clamped<decltype(zero)>(number)); });
  if (is_plain) return rounded;
  if (dtype == proto::DT_BOOL) return number != 0;
  if (dtype == proto::DT_COMPLEX64) return static_cast<float>(number);
  if (dtype == proto::DT_COMPLEX128) return static_cast<double>(number);
  return Literal::Scalar(dtype, static_cast<double>(number)).AsDouble(0);
}

DataType WholeDtype(llvm::ArrayRef<Number> numbers) {
  Number least = 0, most = 0;
  for (Number number : numbers) {
    least = std::min(least, number);
    most = std::max(most, number);
  }
  if (RoundTo(proto::DT_INT64, least) == least && RoundTo(proto::DT_INT64, most) == most)
    return proto::DT_INT64;
  bool is_unsigned = least == 0 && RoundTo(proto::DT_UINT64, most) == most;
  return is_unsigned ? proto::DT_UINT64 : proto::DT_DOUBLE;
}

Expected<NumberArray> NumbersOf(const Tensor& tensor) {
  if (!tensor) return MakeError("there is no value");
  DataType dtype = tensor.dtype();
  if (dtype == proto::DT_STRING || tensor.HoldsObjects())
    return MakeError("{0} holds no numbers{1}", tensor.ToString(),
                     tensor.dtype() == proto::DT_RESOURCE ? ": name a tensor that reads it" : "");
  NumberArray array;
  array.dtype = dtype;
  array.dims.assign(tensor.dims().begin(), tensor.dims().end());
  int64_t size = tensor.num_elements();
  array.values.reserve(size);
  bool is_plain = VisitPlain(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* data = tensor.data<T>();
    array.values.assign(data, data + size);
  });
  if (is_plain) return array;
  if (dtype == proto::DT_COMPLEX64) {
    AddComplex<float>(tensor, &array);
  } else if (dtype == proto::DT_COMPLEX128) {
    AddComplex<double>(tensor, &array);
  } else {
    Literal literal = tensor.ToLiteral();
    for (int64_t i = 0; i < size; ++i) array.values.push_back(literal.AsDouble(i));
  }
  return array;
}

Expected<NumberArray> RealNumbers(const Tensor& tensor) {
  ASSIGN_OR_RETURN(NumberArray array, NumbersOf(tensor));
  if (array.IsComplex())
    return MakeError("the numbers are complex: take their abs(), real() or imag() first");
  return array;
}

Expected<Tensor> TensorOf(const NumberArray& array) {
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(array.dtype, array.dims));
  bool is_plain = VisitPlain(array.dtype, [&](auto zero) {
    using T = decltype(zero);
    T* data = tensor.data<T>();
    for (int64_t i = 0; i < array.size(); ++i) data[i] = Clamped<T>(array.values[i]);
  });
  if (is_plain) return tensor;
  if (array.dtype == proto::DT_COMPLEX64) {
    FillComplex<float>(array, &tensor);
  } else if (array.dtype == proto::DT_COMPLEX128) {
    FillComplex<double>(array, &tensor);
  } else {
    size_t size = DataTypeSize(array.dtype);
    char* bytes = static_cast<char*>(tensor.raw());
    for (int64_t i = 0; i < array.size(); ++i) {
      Literal element = Literal::Scalar(array.dtype, static_cast<double>(array.values[i]));
      std::memcpy(bytes + i * size, element.bytes().data(), size);
    }
  }
  return tensor;
}

}  // namespace grapnel
