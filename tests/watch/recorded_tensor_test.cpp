#include "lib/watch/recorded_tensor.h"

#include <limits>

#include "gtest/gtest.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

std::string TextOfSummary(TensorDebugMode mode, const std::vector<double>& numbers) {
  std::string problem;
  RecordedTensor tensor =
      ReadRecordedTensor(mode, TestDebugWriter::Summary(numbers).SerializeAsString(), &problem);
  return problem.empty() ? RecordedTensorText(tensor) : problem;
}

// The numbers that TensorFlow 2.21 wrote for one Log.
TEST(RecordedTensor, ReadsEachMode) {
  EXPECT_EQ(TextOfSummary(proto::CURT_HEALTH, {47, 1}), "holds inf or NaN");
  EXPECT_EQ(TextOfSummary(proto::CURT_HEALTH, {47, 0}), "finite");
  EXPECT_EQ(TextOfSummary(proto::CONCISE_HEALTH, {47, 160, 12, 0, 0}), "160 elements: -inf x12");
  EXPECT_EQ(TextOfSummary(proto::FULL_HEALTH, {47, -1, 1, 2, 160, 12, 0, 0, 143, 5, 0}),
            "float 2-D, 160 elements: -inf x12, negative x143, zero x5");
  EXPECT_EQ(TextOfSummary(proto::SHAPE, {3, 1, 2, 39200, 784, 50, 0, 0, 0, 0}),
            "float[784,50], 39,200 elements");
  EXPECT_EQ(TextOfSummary(proto::SHAPE, {-1, 1, 8, 10080, 3, 4, 5, 6, 7, 2}),
            "float[?,?,3,4,5,6,7,2], 10,080 elements");
  EXPECT_EQ(TextOfSummary(proto::NO_TENSOR, {}), "not recorded");
  EXPECT_EQ(TextOfSummary(static_cast<TensorDebugMode>(99), {1}), "not recorded");
}

TEST(RecordedTensor, CountsAWholeTensor) {
  proto::TensorProto tensor;
  tensor.set_dtype(proto::DT_FLOAT);
  tensor.mutable_tensor_shape()->add_dim()->set_size(3);
  for (float value : {std::numeric_limits<float>::quiet_NaN(), 0.0f, -1.0f})
    tensor.add_float_val(value);
  std::string problem;
  RecordedTensor read =
      ReadRecordedTensor(proto::FULL_TENSOR, tensor.SerializeAsString(), &problem);
  EXPECT_EQ(RecordedTensorText(read), "float[3], 3 elements: NaN x1, negative x1, zero x1");
  EXPECT_EQ(BadKinds(read), std::vector<std::string>{"nan"});
}

// A tensor may claim any size with one element that represents all.
TEST(RecordedTensor, DoesNotExpandASplat) {
  proto::TensorProto tensor;
  tensor.set_dtype(proto::DT_FLOAT);
  tensor.mutable_tensor_shape()->add_dim()->set_size(int64_t{1} << 40);
  tensor.add_float_val(std::numeric_limits<float>::infinity());
  std::string problem;
  RecordedTensor read =
      ReadRecordedTensor(proto::FULL_TENSOR, tensor.SerializeAsString(), &problem);
  EXPECT_EQ(read.health.pos_inf, int64_t{1} << 40);
}

TEST(RecordedTensor, SaysWhatIsWrong) {
  EXPECT_EQ(TextOfSummary(proto::CURT_HEALTH, {1, 2, 3}),
            "its CURT_HEALTH summary has 3 numbers, 2 were expected");
  std::string problem;
  ReadRecordedTensor(proto::FULL_TENSOR, "\x08\x01\x12\x7F", &problem);
  EXPECT_NE(problem.find("its tensor cannot be read"), std::string::npos);
  problem.clear();
  EXPECT_EQ(RecordedTensorText(ReadRecordedTensor(proto::FULL_HEALTH, "", &problem)),
            "not recorded");
  EXPECT_TRUE(problem.empty());
}

TEST(RecordedTensor, NumbersThatAreNoCountsAreNone) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(TextOfSummary(proto::CONCISE_HEALTH, {47, nan, 1e300, -5, 0}), "0 elements: finite");
}

}  // namespace
}  // namespace grapnel
