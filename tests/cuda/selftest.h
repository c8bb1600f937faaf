// Shared code of the self test: one GPU, one stream, and counted comparisons.
#ifndef GRAPNEL_TESTS_CUDA_SELFTEST_H_
#define GRAPNEL_TESTS_CUDA_SELFTEST_H_

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/cuda_api.h"

namespace selftest {

inline const GrapnelCudaApi* api;
inline GrapnelCudaStream* stream;
inline int checks = 0, failures = 0;
inline char why[512];

inline void Fail(const std::string& what, const std::string& text) {
  ++failures;
  std::printf("FAILED %s: %s\n", what.c_str(), text.c_str());
}
inline void Expect(int32_t status, const std::string& what) {
  if (status != 0) Fail(what, why);
}

// Device memory with elements of T.
template <typename T>
class Array {
 public:
  explicit Array(size_t count) : count_(count) {
    Expect(api->allocate(0, static_cast<int64_t>(count * sizeof(T)), &data_, why, sizeof why),
           "allocate");
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    Expect(api->copy(stream, data_, values.data(), static_cast<int64_t>(count_ * sizeof(T)),
                     kGrapnelCudaFromHost, why, sizeof why),
           "copy from the host");
  }
  Array(const Array&) = delete;
  ~Array() { api->release(0, data_); }
  void* get() const { return data_; }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    Expect(api->copy(stream, values.data(), data_, static_cast<int64_t>(count_ * sizeof(T)),
                     kGrapnelCudaToHost, why, sizeof why),
           "copy to the host");
    Expect(api->wait_stream(stream, why, sizeof why), "wait");
    return values;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

inline std::mt19937 random_bits(7);
inline std::vector<float> Random(size_t count, float low = -2, float high = 2) {
  std::uniform_real_distribution<float> values(low, high);
  std::vector<float> made(count);
  for (float& value : made) value = values(random_bits);
  return made;
}

template <typename T>
void Compare(const std::string& what, const std::vector<T>& got, const std::vector<T>& expected,
             double tolerance = 1e-5) {
  ++checks;
  if (got.size() != expected.size()) return Fail(what, "another number of elements");
  for (size_t i = 0; i < got.size(); ++i) {
    double a = static_cast<double>(got[i]), b = static_cast<double>(expected[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)))) {
      return Fail(what, "element " + std::to_string(i) + " is " + std::to_string(a) + ", " +
                            std::to_string(b) + " was expected");
    }
  }
}

// A walk that reads all operands densely, with one merged dimension.
inline GrapnelCudaWalk Dense(int64_t count) {
  GrapnelCudaWalk walk = {};
  walk.rank = 1;
  walk.sizes[0] = count;
  for (auto& strides : walk.strides) strides[0] = 1;
  return walk;
}

// The registered tests: name and function.
inline std::vector<std::pair<std::string, void (*)()>>& Tests() {
  static std::vector<std::pair<std::string, void (*)()>> tests;
  return tests;
}
struct Registration {
  Registration(const char* name, void (*run)()) { Tests().emplace_back(name, run); }
};

// Use as SELFTEST(Moves) { ... }. tests/CMakeLists.txt counts such lines when they are not built.
#define SELFTEST(name)                                   \
  void Test##name();                                     \
  const Registration register_##name(#name, Test##name); \
  void Test##name()

}  // namespace selftest

#endif  // GRAPNEL_TESTS_CUDA_SELFTEST_H_
