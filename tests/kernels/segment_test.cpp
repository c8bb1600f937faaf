// Counting, and sums over segments.
#include <cmath>
#include <limits>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;
using Fs = std::vector<float>;

OpRun Dense(Tensor values, int32_t size, Tensor weights, bool binary = false) {
  OpRun run("DenseBincount");
  DataType type = weights.dtype();
  run.In(std::move(values)).In(Scalar(size)).In(std::move(weights)).Attr("T", attr::Type(type));
  run.Attr("binary_output", attr::Bool(binary)).Out({type});
  return run;
}

TEST(KernelBincount, CountsRows) {
  Tensor none = Floats({0}, {});
  EXPECT_EQ(Values<float>(Dense(Ints({2, 3}, {1, 5, 1, 0, 0, 0}), 2, none).One()),
            (Fs{0, 2, 3, 0}));
  EXPECT_EQ(Values<float>(Dense(Ints({3}, {1, 5, 1}), 2, none, true).One()), (Fs{0, 1}));
  EXPECT_EQ(Values<float>(Dense(Ints({3}, {1, 0, 1}), 2, Vec<float>({1, 2, 4})).One()), (Fs{2, 5}));
  EXPECT_EQ(DimsOf(Dense(Ints({0, 3}, {}), 2, none).One()), (D{0, 2}));
  Tensor ragged = OpRun("RaggedBincount")
                      .In(Vec<int64_t>({0, 2, 2, 3}))
                      .In(Vec<int32_t>({1, 5, 1}))
                      .In(Scalar(2))
                      .In(none)
                      .Attr("T", attr::Type(proto::DT_FLOAT))
                      .Out({proto::DT_FLOAT})
                      .One();
  EXPECT_EQ(Values<float>(ragged), (Fs{0, 1, 0, 0, 0, 1}));
}

TEST(KernelBincount, Errors) {
  Tensor none = Floats({0}, {});
  EXPECT_EQ(Dense(Ints({1}, {-1}), 2, none).ErrorText(),
            "values must not be negative: element 0 is -1");
  EXPECT_EQ(Dense(Ints({1}, {1}), -2, none).ErrorText(), "size must not be negative, got -2");
  EXPECT_EQ(Dense(Ints({1}, {1}), 2, Vec<float>({1, 2})).ErrorText(),
            "weights must be empty or of the values' shape [1], not [2]");
  EXPECT_EQ(Dense(Ints({1, 1, 1}, {1}), 2, none).ErrorText(),
            "the input must have rank 2 or less, not shape [1,1,1]");
  auto ragged = [&](std::vector<int64_t> splits) {
    return OpRun("RaggedBincount")
        .In(Vec<int64_t>(std::move(splits)))
        .In(Vec<int32_t>({1}))
        .In(Scalar(2))
        .In(none)
        .Attr("T", attr::Type(proto::DT_FLOAT))
        .Out({proto::DT_FLOAT})
        .ErrorText();
  };
  EXPECT_EQ(ragged({1, 1}), "splits must start with 0, not 1");
  EXPECT_EQ(ragged({0, 2}), "splits must end with the number of values 1, not 2");
}

OpRun Segment(const char* op, Tensor data, V ids) {
  OpRun run(op);
  run.In(std::move(data)).In(Vec<int32_t>(std::move(ids)));
  return run;
}

TEST(KernelSegment, ReducesRowsWithRisingIds) {
  Tensor data = Ints({3, 2}, {1, 2, 3, 4, 5, 6});
  auto run = [&](const char* op) { return Values<int32_t>(Segment(op, data, {0, 0, 2}).One()); };
  EXPECT_EQ(run("SegmentSum"), (V{4, 6, 0, 0, 5, 6}));
  EXPECT_EQ(run("SegmentProd"), (V{3, 8, 1, 1, 5, 6}));
  EXPECT_EQ(run("SegmentMin"), (V{1, 2, 0, 0, 5, 6}));
  EXPECT_EQ(run("SegmentMax"), (V{3, 4, 0, 0, 5, 6}));
  EXPECT_EQ(run("SegmentMean"), (V{2, 3, 0, 0, 5, 6}));
  EXPECT_EQ(DimsOf(Segment("SegmentSum", Floats({0, 2}, {}), {}).One()), (D{0, 2}));
  Tensor half =
      Segment("SegmentSum", Vec<Eigen::half>({Eigen::half(1), Eigen::half(2)}), {0, 0}).One();
  EXPECT_EQ(static_cast<float>(*half.data<Eigen::half>()), 3);
}

TEST(KernelSegment, Errors) {
  Tensor data = Iota<float>({3, 2});
  EXPECT_EQ(Segment("SegmentSum", data, {0, 2, 1}).ErrorText(),
            "segment_ids must not fall: 1 follows 2 at 2");
  EXPECT_EQ(Segment("SegmentSum", data, {-1, 0, 1}).ErrorText(), "segment_ids[0] = -1 is negative");
  EXPECT_EQ(Segment("SegmentSum", data, {0}).ErrorText(),
            "segment_ids must be a vector of 3, not [1]");
}

TEST(KernelUnsortedSegment, TakesRowsInAnyOrder) {
  auto run = [](const char* op) {
    return Values<float>(Segment(op, Vec<float>({5, 7, 9}), {2, -1, 0}).In(Scalar(4)).One());
  };
  float most = std::numeric_limits<float>::max();
  EXPECT_EQ(run("UnsortedSegmentSum"), (Fs{9, 0, 5, 0}));
  EXPECT_EQ(run("UnsortedSegmentProd"), (Fs{9, 1, 5, 1}));
  EXPECT_EQ(run("UnsortedSegmentMin"), (Fs{9, most, 5, most}));
  EXPECT_EQ(run("UnsortedSegmentMax"), (Fs{9, -most, 5, -most}));
  EXPECT_EQ(Segment("UnsortedSegmentSum", Vec<float>({5}), {4}).In(Scalar(4)).ErrorText(),
            "segment_ids[0] = 4 is not below num_segments 4");
  EXPECT_EQ(Segment("UnsortedSegmentSum", Vec<float>({5}), {0, 1}).In(Scalar(4)).ErrorText(),
            "data's shape [1] does not start with that of segment_ids, [2]");
  EXPECT_EQ(Segment("UnsortedSegmentSum", Vec<float>({5}), {0}).In(Scalar(-4)).ErrorText(),
            "num_segments must not be negative, got -4");
}

OpRun Picked(const char* op, Tensor data, V indices, V ids) {
  OpRun run(op);
  run.In(std::move(data)).In(Vec<int32_t>(std::move(indices))).In(Vec<int32_t>(std::move(ids)));
  return run;
}

TEST(KernelSparseSegment, AddsPickedRows) {
  Tensor data = Floats({3, 1}, {1, 2, 4});
  auto run = [&](const char* op) {
    return Values<float>(Picked(op, data, {2, 0, 1, 1}, {0, 2, 2, 2}).One());
  };
  EXPECT_EQ(run("SparseSegmentSum"), (Fs{4, 0, 5}));
  EXPECT_FLOAT_EQ(run("SparseSegmentMean")[2], 5.0f / 3);
  EXPECT_FLOAT_EQ(run("SparseSegmentSqrtN")[2], 5 / std::sqrt(3.0f));
  EXPECT_EQ(
      Values<float>(Picked("SparseSegmentSumWithNumSegments", data, {1}, {1}).In(Scalar(3)).One()),
      (Fs{0, 2, 0}));
  EXPECT_EQ(Values<float>(
                Picked("SparseSegmentMeanGrad", data, {0, 1, 1}, {0, 2, 2}).In(Scalar(3)).One()),
            (Fs{1, 4, 0}));
  EXPECT_EQ(DimsOf(Picked("SparseSegmentSum", data, {}, {}).One()), (D{0, 1}));
}

TEST(KernelSparseSegment, Errors) {
  Tensor data = Floats({3, 1}, {1, 2, 4});
  EXPECT_EQ(Picked("SparseSegmentSum", data, {3}, {0}).ErrorText(),
            "indices[0] = 3 is not in [0, 3)");
  EXPECT_EQ(Picked("SparseSegmentSum", data, {0, 1}, {1, 0}).ErrorText(),
            "segment_ids must not fall: 0 follows 1 at 1");
  EXPECT_EQ(Picked("SparseSegmentSum", data, {0}, {0, 1}).ErrorText(),
            "indices and segment_ids must be vectors of one length, not [1] and [2]");
  EXPECT_EQ(Picked("SparseSegmentSumWithNumSegments", data, {0}, {3}).In(Scalar(3)).ErrorText(),
            "num_segments must be above all segment ids, 3 is not above 3");
  EXPECT_EQ(Picked("SparseSegmentSumGrad", data, {0}, {3}).In(Scalar(3)).ErrorText(),
            "segment_ids[0] = 3 is not in [0, 3)");
}

}  // namespace
}  // namespace grapnel
