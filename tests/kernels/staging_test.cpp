// Staging areas, accumulators of gradients, samplers: errors where TensorFlow would wait, and what
// is refused. Values are in testdata/ops.
#include "lib/exec/session.h"
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

Tensor Accumulator(const char* op = "ConditionalAccumulator") {
  return OpRun(op)
      .Attr("dtype", attr::Type(proto::DT_FLOAT))
      .Attr("shape", attr::ShapeOf(Shape(Dims{2})))
      .Attr("shared_name", attr::String("a"))
      .Out({proto::DT_RESOURCE})
      .One();
}
std::string Apply(const Tensor& handle, int64_t step, Tensor gradient) {
  return OpRun("AccumulatorApplyGradient")
      .In(handle)
      .In(Scalar<int64_t>(step))
      .In(std::move(gradient))
      .Out({})
      .ErrorText();
}
OpRun Take(const Tensor& handle, int count) {
  return OpRun("AccumulatorTakeGradient")
      .In(handle)
      .In(Scalar<int32_t>(count))
      .Out({proto::DT_FLOAT});
}

TEST(KernelAccumulator, MeansOfWhatIsNotTooOld) {
  Tensor handle = Accumulator();
  EXPECT_EQ(Apply(handle, 0, Vec<float>({1, 2})), "no error");
  EXPECT_EQ(Apply(handle, 0, Vec<float>({3, 6})), "no error");
  EXPECT_EQ(Values<float>(Take(handle, 2).One()), (std::vector<float>{2, 4}));
  EXPECT_EQ(Apply(handle, 0, Vec<float>({1, 2})), "no error");  // from before the step: dropped
  EXPECT_EQ(
      Take(handle, 1).ErrorText(),
      "accumulator 'a' has 0 gradients, 1 were asked for: nothing in this run could add more");
}

TEST(KernelAccumulator, SaysWhatIsWrong) {
  Tensor handle = Accumulator();
  EXPECT_EQ(Apply(handle, 0, Vec<float>({1, 2, 3})), "shape mismatch: expected [2], got [3]");
  EXPECT_EQ(Apply(handle, 0, Vec<double>({1, 2})),
            "the gradient is double, accumulator 'a' expects float");
  EXPECT_EQ(Take(handle, 0).ErrorText(), "num_required must be positive, but was 0");
  EXPECT_EQ(OpRun("SparseAccumulatorTakeGradient")
                .In(Vec<float>({1}))
                .In(Scalar<int32_t>(1))
                .Out({proto::DT_INT64, proto::DT_FLOAT, proto::DT_INT64})
                .ErrorText(),
            "input 0 is float[1] [1], a sparse accumulator was expected");
}

// The numbers are TensorFlow's for this state of a generator.
TEST(KernelRandomBinomial, DrawsFromAGenerator) {
  auto* variable = new Variable("state", proto::DT_INT64, Shape(Dims{3}));
  variable->Set(Vec<int64_t>({7, 8, 9}));
  Tensor handle = Tensor::OfObject(proto::DT_RESOURCE, ObjectRef(variable));
  OpRun run("StatefulRandomBinomial");
  run.In(handle).In(Scalar<int64_t>(1)).In(Vec<int32_t>({4, 3}));
  run.In(Vec<float>({3, 40, 1000})).In(Scalar(0.4f)).Attr("T", attr::Type(proto::DT_FLOAT));
  EXPECT_EQ(Values<float>(run.Out({proto::DT_FLOAT}).One()),
            (std::vector<float>{2, 16, 392, 0, 15, 394, 1, 17, 417, 2, 15, 390}));
  EXPECT_NE(Values<int64_t>(variable->Get())[0], 7);
  OpRun bad("StatelessRandomBinomial");
  bad.In(Vec<int32_t>({4, 2})).In(Vec<int32_t>({1, 2})).In(Vec<float>({3, 40, 1000}));
  bad.In(Scalar(0.4f)).Attr("T", attr::Type(proto::DT_FLOAT)).Out({proto::DT_FLOAT});
  EXPECT_EQ(bad.ErrorText(), "shape [4,2] does not end with that of counts and probs, [3]");
}

}  // namespace
}  // namespace grapnel
