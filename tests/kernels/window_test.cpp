// A pool that says where the largest was.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using Fs = std::vector<float>;

OpRun& Window(OpRun& run, const char* sizes_name, D sizes, D strides, const char* padding) {
  return run.Attr(sizes_name, attr::Ints(sizes))
      .Attr("strides", attr::Ints(strides))
      .Attr("padding", attr::String(padding));
}

OpRun Pool(const char* op, std::vector<Tensor> inputs, D sizes, D strides) {
  OpRun run(op);
  Window(run, "ksize", std::move(sizes), std::move(strides), "VALID");
  for (Tensor& input : inputs) run.In(std::move(input));
  return run;
}

TEST(KernelMaxPoolWithArgmax, TheFirstOfEqualsWins) {
  Tensor x = Floats({2, 2, 2, 1}, {3, 3, 1, 2, 0, 5, 5, 1});
  auto run = [&](bool batch) {
    auto out = Pool("MaxPoolWithArgmax", {x}, {1, 2, 2, 1}, {1, 2, 2, 1})
                   .Attr("include_batch_in_index", attr::Bool(batch))
                   .Out({proto::DT_FLOAT, proto::DT_INT64})
                   .All();
    return std::pair(Values<float>(out[0]), Values<int64_t>(out[1]));
  };
  EXPECT_EQ(run(false), std::pair(Fs({3, 5}), D({0, 1})));
  EXPECT_EQ(run(true), std::pair(Fs({3, 5}), D({0, 5})));
  auto empty = Pool("MaxPoolWithArgmax", {Floats({0, 2, 2, 1}, {})}, {1, 2, 2, 1}, {1, 2, 2, 1})
                   .Out({proto::DT_FLOAT, proto::DT_INT32})
                   .All();
  EXPECT_EQ(DimsOf(empty[1]), (D{0, 1, 1, 1}));
}

}  // namespace
}  // namespace grapnel
