#include "python/src/values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "lib/ir/types.h"
#include "python/src/gil.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// The memory of a Python array, which the buffer keeps alive. The memory is never written, because
// other owners of the array may read it.
class ArrayBuffer : public Buffer {
 public:
  explicit ArrayBuffer(Array array)
      : Buffer(const_cast<void*>(array.data()), array.nbytes()), array_(std::move(array)) {
    read_only_ = true;
  }

 private:
  // Any thread may release the last reference.
  void Destroy() override {
    if (!nb::is_alive() || IsTooLate()) return;  // the process is ending: leave the array
    TakenGil taken;
    delete this;
  }

  Array array_;
};

DataType TypeNamed(const std::string& name) {
  std::optional<DataType> type = ParseDataType(name);
  if (!type) throw nb::value_error(("there is no dtype '" + name + "'").c_str());
  return *type;
}

Tensor TensorOfStrings(const nb::list& strings, llvm::ArrayRef<int64_t> dims) {
  auto tensor = Tensor::Allocate(proto::DT_STRING, dims);
  if (!tensor) throw std::bad_alloc();
  auto* element = tensor->data<std::string>();
  for (nb::handle string : strings) {
    nb::bytes bytes = nb::cast<nb::bytes>(string);
    (element++)->assign(bytes.c_str(), bytes.size());
  }
  return std::move(*tensor);
}

nb::dlpack::dtype BitsOf(DataType type) {
  using nb::dlpack::dtype_code;
  auto bits = static_cast<uint8_t>(8 * DataTypeSize(type));
  dtype_code code = dtype_code::UInt;
  if (type == proto::DT_BOOL) {
    code = dtype_code::Bool;
  } else if (IsComplex(type)) {
    code = dtype_code::Complex;
  } else if (type == proto::DT_FLOAT || type == proto::DT_DOUBLE || type == proto::DT_HALF) {
    code = dtype_code::Float;
  } else if (DataTypeName(type).starts_with("int")) {
    code = dtype_code::Int;
  }
  return {static_cast<uint8_t>(code), bits, 1};
}

nb::object ElementsOf(Tensor tensor) {
  if (tensor.dtype() == proto::DT_STRING) {
    nb::list strings;
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const std::string& element = tensor.data<std::string>()[i];
      strings.append(nb::bytes(element.data(), element.size()));
    }
    return strings;
  }
  if (tensor.HoldsObjects()) return nb::str(tensor.ToString().c_str());
  std::vector<size_t> dims(tensor.dims().begin(), tensor.dims().end());
  nb::dlpack::dtype bits = BitsOf(tensor.dtype());
  bool is_shared = !tensor.OwnsAlone();
  auto* kept = new Tensor(std::move(tensor));
  nb::capsule owner(kept, [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  auto array = [&]<typename... Annotations>() {
    return nb::cast(nb::ndarray<nb::numpy, Annotations...>(kept->raw(), dims.size(), dims.data(),
                                                           owner, nullptr, bits));
  };
  // A tensor with other readers, such as a constant or a variable of the graph, must not be
  // written.
  return is_shared ? array.operator()<nb::ro>() : array.operator()<>();
}

}  // namespace

Tensor TensorOf(const nb::tuple& value) {
  auto name = nb::cast<std::string>(value[0]);
  DataType type = TypeNamed(name);
  auto dims = nb::cast<std::vector<int64_t>>(value[1]);
  if (type == proto::DT_STRING) return TensorOfStrings(nb::cast<nb::list>(value[2]), dims);
  auto array = nb::cast<Array>(value[2], /*convert=*/false);
  if (DataTypeSize(type) != array.itemsize())
    throw nb::value_error(
        ("elements of " + std::to_string(array.itemsize()) + " bytes were given for dtype " + name)
            .c_str());
  Tensor tensor(type, dims, BufferRef(new ArrayBuffer(std::move(array))));
  auto aligned = Tensor::Aligned(tensor);
  if (!aligned) throw std::bad_alloc();
  return std::move(*aligned);
}

nb::tuple ValueOf(Tensor tensor) {
  nb::list dims;
  for (int64_t dim : tensor.dims()) dims.append(dim);
  llvm::StringRef name = DataTypeName(tensor.dtype());
  nb::str dtype(name.data(), name.size());
  return nb::make_tuple(dtype, nb::tuple(dims), ElementsOf(std::move(tensor)));
}

}  // namespace grapnel::python
