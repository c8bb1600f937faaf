// Kernels that search in tensors or write parts of them: values by hand, and what they refuse.
// Values of TensorFlow's are in testdata.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using F = std::vector<float>;
using D = std::vector<int64_t>;

TEST(KernelDynamicStitch, PutsRowsWhereTheyBelong) {
  auto stitch = [](Tensor a, Tensor b, Tensor x, Tensor y) {
    return OpRun("DynamicStitch")
        .In(std::move(a))
        .In(std::move(b))
        .In(std::move(x))
        .In(std::move(y))
        .Out({proto::DT_FLOAT});
  };
  EXPECT_EQ(
      Values<float>(
          stitch(Ints({2}, {2, 0}), Ints({}, {2}), Floats({2}, {1, 2}), Floats({}, {3})).One()),
      (F{2, 0, 3}));
  EXPECT_EQ(stitch(Ints({1}, {-1}), Ints({}, {0}), Floats({1}, {1}), Floats({}, {1})).ErrorText(),
            "indices[0][0] = -1 is negative");
  EXPECT_EQ(stitch(Ints({2}, {0, 1}), Ints({}, {0}), Floats({1}, {1}), Floats({}, {1})).ErrorText(),
            "data[0] of shape [1] does not begin with the shape of indices[0], [2]");
  EXPECT_EQ(
      stitch(Ints({1}, {0}), Ints({}, {0}), Floats({1}, {1}), Floats({2}, {1, 1})).ErrorText(),
      "rows of data[1] have shape [2], those of data[0] have []");
}

OpRun Blocks(const char* op, Tensor in, V shape, V edges) {
  int64_t rank = static_cast<int64_t>(shape.size());
  return OpRun(op)
      .In(std::move(in))
      .In(Vec(std::move(shape)))
      .In(Ints({rank, 2}, std::move(edges)));
}

TEST(KernelSpaceToBatch, GoesThereAndBack) {
  Tensor in = Iota<float>({2, 4, 3});
  Tensor small = Blocks("SpaceToBatchND", in, {2, 3}, {1, 1, 0, 0}).One();
  EXPECT_EQ(DimsOf(small), (D{12, 3, 1}));
  EXPECT_EQ(Values<float>(Blocks("BatchToSpaceND", small, {2, 3}, {1, 1, 0, 0}).One()),
            Values<float>(in));
  EXPECT_EQ(DimsOf(Blocks("SpaceToBatchND", Iota<float>({0, 4}), {2}, {0, 0}).One()), (D{0, 2}));
}

TEST(KernelSpaceToBatch, RefusesBlocksThatDoNotFit) {
  EXPECT_EQ(Blocks("SpaceToBatchND", Iota<float>({1, 5}), {2}, {0, 0}).ErrorText(),
            "padded dimension 1 of 5 elements is not divisible by its block of 2");
  EXPECT_EQ(Blocks("SpaceToBatchND", Iota<float>({1, 5}), {0}, {0, 0}).ErrorText(),
            "block_shape[0] must be positive, got 0");
  EXPECT_EQ(Blocks("SpaceToBatchND", Iota<float>({4}), {2}, {0, 0}).ErrorText(),
            "input must have rank 2 or more, got shape [4]");
  EXPECT_EQ(Blocks("BatchToSpaceND", Iota<float>({3, 4}), {2}, {0, 0}).ErrorText(),
            "a batch of 3 is not divisible by the 2 places of a block");
  EXPECT_EQ(Blocks("BatchToSpaceND", Iota<float>({2, 1}), {2}, {2, 1}).ErrorText(),
            "crops[0] = 2 and 1 exceed the 2 elements of dimension 1");
  EXPECT_EQ(Blocks("SpaceToBatchND", Iota<float>({1, 2}), {2}, {-1, 1}).ErrorText(),
            "paddings[0] must not be negative, got -1 and 1");
}

TEST(KernelSliceUpdate, SaysWhichShapeWasExpected) {
  auto update = [](Tensor value) {
    return OpRun("TensorStridedSliceUpdate")
        .In(Iota<float>({2, 3}))
        .In(Vec<int32_t>({0, 1}))
        .In(Vec<int32_t>({2, 3}))
        .In(Vec<int32_t>({1, 1}))
        .In(std::move(value));
  };
  EXPECT_EQ(Values<float>(update(Floats({2, 1}, {7, 8})).One()), (F{0, 7, 7, 3, 8, 8}));
  EXPECT_EQ(update(Floats({3}, {1, 2, 3})).ErrorText(),
            "a value of shape [3] for a slice of shape [2,2]");
  EXPECT_EQ(update(Floats({1, 1, 1}, {1})).ErrorText(),
            "a value of shape [1,1,1] for a slice of shape [2,2]");
}

TEST(KernelInplace, NeedsRowsToWriteTo) {
  auto add = [](Tensor x, V rows, Tensor v) {
    return OpRun("InplaceAdd").In(std::move(x)).In(Vec(std::move(rows))).In(std::move(v));
  };
  EXPECT_EQ(Values<float>(add(Floats({2}, {1, 2}), {1, -1}, Floats({2}, {10, 20})).One()),
            (F{1, 32}));
  EXPECT_EQ(add(Floats({0}, {}), {0}, Floats({1}, {1})).ErrorText(), "x has no rows");
  EXPECT_EQ(add(Floats({}, {1}), {}, Floats({0}, {})).ErrorText(),
            "x must be at least a vector, got a scalar");
}

TEST(KernelSearch, RefusesWhatHasNoOrder) {
  EXPECT_EQ(OpRun("UpperBound")
                .In(Floats({1, 2}, {1, 2}))
                .In(Floats({2, 1}, {1, 2}))
                .Out({proto::DT_INT32})
                .ErrorText(),
            "expected two matrices with the same number of rows, got shapes [1,2] and [2,1]");
  auto nth = [](int32_t n) {
    return OpRun("NthElement").In(Floats({3}, {3, 1, 2})).In(Ints({}, {n}));
  };
  EXPECT_EQ(Values<float>(nth(1).One()), F{2});
  EXPECT_EQ(nth(3).ErrorText(), "n must be in [0, 3), got 3");
  EXPECT_EQ(OpRun("InTopKV2")
                .In(Floats({2, 1}, {1, 2}))
                .In(Vec<int32_t>({0}))
                .In(Ints({}, {1}))
                .Out({proto::DT_BOOL})
                .ErrorText(),
            "targets must be a vector of 2 elements, got shape [1]");
}

TEST(KernelHistogram, RefusesRangesThatDoNotRise) {
  auto histogram = [](F values, F range, int32_t bins) {
    return OpRun("HistogramFixedWidth")
        .In(Vec(std::move(values)))
        .In(Vec(std::move(range)))
        .In(Ints({}, {bins}))
        .Out({proto::DT_INT32});
  };
  EXPECT_EQ(Values<int32_t>(histogram({-9, 0, 1, 9}, {0, 2}, 2).One()), (V{2, 2}));
  EXPECT_EQ(histogram({1}, {2, 2}, 2).ErrorText(),
            "value_range must be finite and rise, got 2.00 to 2.00");
  EXPECT_EQ(histogram({std::nanf("")}, {0, 2}, 2).ErrorText(), "values must not be NaN");
  EXPECT_EQ(histogram({1}, {0, 2}, 0).ErrorText(), "nbins must be positive, got 0");
  EXPECT_EQ(OpRun("UnravelIndex").In(Vec<int32_t>({6})).In(Vec<int32_t>({2, 3})).ErrorText(),
            "indices[0] = 6 is not in [0, 6)");
  EXPECT_EQ(OpRun("UnravelIndex").In(Vec<int32_t>({0})).In(Vec<int32_t>({2, 0})).ErrorText(),
            "dims[1] must be positive, got 0");
}

TEST(KernelMirrorPadGrad, RefusesMarginsWithoutASource) {
  auto fold = [](int64_t size, V edges) {
    return OpRun("MirrorPadGrad")
        .In(Iota<float>({size}))
        .In(Ints({1, 2}, std::move(edges)))
        .Attr("mode", attr::String("REFLECT"));
  };
  EXPECT_EQ(Values<float>(fold(4, {1, 1}).One()), (F{1 + 3, 2 + 0}));
  EXPECT_EQ(fold(3, {1, 1}).ErrorText(),
            "paddings 1 1 are too large for dimension 0 of 3 padded elements");
  EXPECT_EQ(fold(3, {4, 0}).ErrorText(),
            "paddings 4 0 are too large for dimension 0 of 3 padded elements");
}

TEST(KernelDataFormat, RefusesOtherLetters) {
  auto permute = [](const char* to, Tensor in) {
    return OpRun("DataFormatVecPermute").In(std::move(in)).Attr("dst_format", attr::String(to));
  };
  EXPECT_EQ(permute("NCHX", Vec<int32_t>({1, 2, 3, 4})).ErrorText(),
            "src_format and dst_format must be the same 4 or 5 letters, got 'NHWC', 'NCHX'");
  EXPECT_EQ(permute("NCHW", Vec<int32_t>({1, 2, 3})).ErrorText(),
            "expected 4 or 2 values or pairs of them, got shape [3]");
}

TEST(KernelDiag, RefusesHalvesThatDiffer) {
  EXPECT_EQ(OpRun("DiagPart").In(Iota<float>({2, 3})).ErrorText(),
            "expected the same dimensions twice, got shape [2,3]");
  EXPECT_EQ(OpRun("DiagPart").In(Iota<float>({})).ErrorText(),
            "expected the same dimensions twice, got shape []");
}

}  // namespace
}  // namespace grapnel
