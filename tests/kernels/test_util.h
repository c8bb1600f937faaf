// Helpers for kernel tests: make a tensor, run one op on it and inspect the result.
#ifndef GRAPNEL_TESTS_KERNELS_TEST_UTIL_H_
#define GRAPNEL_TESTS_KERNELS_TEST_UTIL_H_

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"
#include "lib/ir/attr.h"
#include "lib/support/error.h"

namespace grapnel {

template <typename T>
Tensor Make(llvm::ArrayRef<int64_t> dims, std::vector<T> values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(DataTypeOf<T>(), dims));
  EXPECT_EQ(tensor.num_elements(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) tensor.data<T>()[i] = values[i];
  return tensor;
}
template <typename T>
Tensor Vec(std::vector<T> values) {
  int64_t n = static_cast<int64_t>(values.size());
  return Make<T>({n}, std::move(values));
}
template <typename T>
Tensor Scalar(T value) {
  return Make<T>({}, {value});
}
inline Tensor Floats(llvm::ArrayRef<int64_t> dims, std::vector<float> values) {
  return Make<float>(dims, std::move(values));
}
inline Tensor Ints(llvm::ArrayRef<int64_t> dims, std::vector<int32_t> values) {
  return Make<int32_t>(dims, std::move(values));
}

// Returns 0, 1, 2, ... in a shape.
template <typename T>
Tensor Iota(llvm::ArrayRef<int64_t> dims) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(DataTypeOf<T>(), dims));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.data<T>()[i] = static_cast<T>(i);
  return tensor;
}

template <typename T>
std::vector<T> Values(const Tensor& tensor) {
  EXPECT_EQ(DataTypeName(tensor.dtype()).str(), DataTypeName(DataTypeOf<T>()).str());
  return std::vector<T>(tensor.data<T>(), tensor.data<T>() + tensor.num_elements());
}
inline std::vector<int64_t> DimsOf(const Tensor& tensor) { return tensor.dims().vec(); }

// A node in its own graph, which each run makes anew. Attributes are serialized values: {"axis",
// attr::Int(1)}; "T" defaults to the first input's dtype.
class OpRun {
 public:
  explicit OpRun(std::string op) : op_(std::move(op)) {}
  OpRun& Attr(std::string key, std::string value) {
    attrs_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  // The kernel may overwrite a tensor that nothing else holds, as in a real run.
  OpRun& In(Tensor tensor) {
    inputs_.push_back(std::move(tensor));
    return *this;
  }
  // The dtypes of the outputs; by default one output of the first input's dtype.
  OpRun& Out(std::vector<DataType> types) {
    types_ = std::move(types);
    return *this;
  }

  // Without this, each run has a session of its own.
  OpRun& InSession(Session& session) {
    session_ = &session;
    return *this;
  }

  // Sets ExecutorOptions::onednn.
  OpRun& OneDnn(bool onednn) {
    onednn_ = onednn;
    return *this;
  }

  Expected<std::vector<Tensor>> Try();
  std::vector<Tensor> All();
  Tensor One() { return All()[0]; }
  std::string ErrorText();
  const std::vector<std::string>& printed() const { return printed_; }

 private:
  std::string op_;
  std::vector<std::pair<std::string, std::string>> attrs_;
  std::vector<Tensor> inputs_;
  std::vector<DataType> types_;
  std::vector<std::string> printed_;
  Session* session_ = nullptr;
  bool onednn_ = true;
};

}  // namespace grapnel

#endif  // GRAPNEL_TESTS_KERNELS_TEST_UTIL_H_
