// Tests each function of the CUDA module against a plain loop on the host. Needs only CUDA:
//
//   nvcc -std=c++20 -I. kernels/cuda/*.cu tests/cuda/*.cu -lcublasLt -lcudnn -o selftest
//
// Exit codes: 0 all tests pass, 1 a result differs, 77 there is no GPU.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/cuda/selftest.h"

extern "C" const GrapnelCudaApi* GrapnelCudaEntry(uint32_t version);

namespace selftest {
namespace {

// Runs 16-bit floats through each family: created by a cast, compared after a cast back.
SELFTEST(SmallFloats) {
  for (GrapnelCudaType type : {kGrapnelCudaHalf, kGrapnelCudaBfloat16}) {
    std::string of = type == kGrapnelCudaHalf ? " of half" : " of bfloat16";
    constexpr int64_t kRows = 16, kColumns = 24, kCount = kRows * kColumns;
    std::vector<float> in = Random(kCount), weights = Random(kColumns * kColumns), expected;
    Array<float> wide(in), wide_weights(weights), back(kCount);
    Array<uint16_t> x(kCount), w(kColumns * kColumns), to(kCount);
    Expect(api->cast(stream, type, x.get(), kGrapnelCudaFloat, wide.get(), kCount, why, sizeof why),
           "cast");
    Expect(api->cast(stream, type, w.get(), kGrapnelCudaFloat, wide_weights.get(),
                     kColumns * kColumns, why, sizeof why),
           "cast");
    auto check = [&](const std::string& name, int32_t status, double tolerance) {
      Expect(status, name + of);
      Expect(api->cast(stream, kGrapnelCudaFloat, back.get(), type, to.get(),
                       static_cast<int64_t>(expected.size()), why, sizeof why),
             "cast");
      std::vector<float> got = back.Read();
      got.resize(expected.size());
      Compare(name + of, got, expected, tolerance);
    };
    for (float value : in) expected.push_back(1 / (1 + std::exp(-value)));
    check("sigmoid",
          api->unary(stream, kGrapnelCudaSigmoid, type, to.get(), x.get(), kCount, 0, why,
                     sizeof why),
          1e-2);
    for (int64_t i = 0; i < kCount; ++i) expected[i] = in[i] + in[i];
    GrapnelCudaWalk dense = Dense(kCount);
    check("add",
          api->binary(stream, kGrapnelCudaAdd, type, to.get(), x.get(), x.get(), &dense, why,
                      sizeof why),
          2e-2);
    for (int64_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < kColumns; ++k) sum += std::exp(in[row * kColumns + k]);
      for (int64_t k = 0; k < kColumns; ++k)
        expected[row * kColumns + k] = static_cast<float>(std::exp(in[row * kColumns + k]) / sum);
    }
    check("softmax",
          api->softmax(stream, type, 0, to.get(), x.get(), kRows, kColumns, why, sizeof why), 1e-2);
    GrapnelCudaMatMul spec;
    std::memset(&spec, 0, sizeof spec);
    spec.type = type;
    spec.a_batch = spec.b_batch = 1;
    spec.m = kRows;
    spec.n = spec.k = kColumns;
    spec.activation = kGrapnelCudaFusedRelu;
    for (int64_t i = 0; i < kCount; ++i) {
      double sum = in[i % kColumns];  // the first row of x is the bias
      for (int64_t k = 0; k < kColumns; ++k)
        sum += in[i / kColumns * kColumns + k] * weights[k * kColumns + i % kColumns];
      expected[i] = static_cast<float>(std::max(sum, 0.0));
    }
    check("product",
          api->matmul(stream, &spec, to.get(), x.get(), w.get(), x.get(), why, sizeof why), 0.1);
    int64_t dims[] = {kRows, kColumns};
    expected.assign(kRows, 0);
    for (int64_t i = 0; i < kCount; ++i) expected[i / kColumns] += in[i] / kColumns;
    check(
        "mean",
        api->reduce(stream, kGrapnelCudaMean, type, to.get(), x.get(), 2, dims, 2, why, sizeof why),
        1e-2);
  }
}

SELFTEST(Events) {
  GrapnelCudaStream* other = nullptr;
  GrapnelCudaEvent* event = nullptr;
  Expect(api->make_stream(0, &other, why, sizeof why), "make stream");
  Expect(api->make_event(0, &event, why, sizeof why), "make event");
  std::vector<float> in = Random(1 << 20);
  Array<float> from(in), to(in.size());
  Expect(api->record_event(event, stream, why, sizeof why), "record event");
  Expect(api->stream_waits_event(other, event, why, sizeof why), "wait for an event");
  Expect(api->copy(other, to.get(), from.get(), static_cast<int64_t>(in.size() * 4),
                   kGrapnelCudaInside, why, sizeof why),
         "copy inside");
  Expect(api->record_event(event, other, why, sizeof why), "record event");
  Expect(api->wait_event(event, why, sizeof why), "wait for an event");
  Compare("copies on two streams", to.Read(), in, 0);
  api->destroy_event(event);
  api->destroy_stream(other);
}

// Runs tests sorted by name, so that each draws the same random numbers; returns how many passed.
int RunAll() {
  std::sort(Tests().begin(), Tests().end());
  int passed = 0;
  for (const auto& [name, run] : Tests()) {
    int before = failures;
    run();
    passed += failures == before;
    std::printf("%s %s\n", failures == before ? "ok    " : "FAILED", name.c_str());
  }
  return passed;
}

}  // namespace
}  // namespace selftest

int main() {
  using namespace selftest;
  api = GrapnelCudaEntry(GRAPNEL_CUDA_API_VERSION);
  if (!api || GrapnelCudaEntry(GRAPNEL_CUDA_API_VERSION + 1)) {
    std::printf("FAILED: the module's version is not checked\n");
    return 1;
  }
  int32_t count = 0;
  if (api->device_count(&count, why, sizeof why) != 0) {
    std::printf("%s\n", why);
    count = 0;
  }
  if (count == 0) {
    std::printf("skipped: no GPU (%zu tests)\n", Tests().size());
    return 77;
  }
  GrapnelCudaDeviceInfo info;
  Expect(api->describe(0, &info, why, sizeof why), "describe");
  if (api->make_stream(0, &stream, why, sizeof why) != 0) {
    std::printf("FAILED: %s\n", why);
    return 1;
  }
  int passed = RunAll();
  api->destroy_stream(stream);
  int failed = static_cast<int>(Tests().size()) - passed;
  std::printf("%s: %d comparisons\n%d passed, %d failed\n", info.name, checks, passed, failed);
  return failures ? 1 : 0;
}
