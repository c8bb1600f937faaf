#include "lib/watch/composite_value.h"

#include <gtest/gtest.h>

#include "lib/watch/number_array.h"

namespace grapnel {
namespace {

Tensor Make(Dims dims, std::vector<long double> values, DataType dtype = proto::DT_INT64) {
  NumberArray array;
  array.dtype = dtype;
  array.dims = std::move(dims);
  array.values = std::move(values);
  return llvm::cantFail(TensorOf(array));
}

std::string Text(Composite::Kind kind, const std::vector<Tensor>& parts, int64_t limit = 100) {
  auto text = CompositeText(kind, parts, limit);
  return text ? *text : "error: " + TextOf(text.takeError());
}

TEST(CompositeValueTest, SparseTensorsListWhatIsSet) {
  Tensor indices = Make({2, 2}, {0, 1, 2, 3}), shape = Make({2}, {3, 4});
  Tensor values = Make({2}, {1, -2.5}, proto::DT_FLOAT);
  auto sparse = Composite::Kind::kSparse;
  EXPECT_EQ(Text(sparse, {indices, values, shape}),
            "sparse float32 (3, 4), 2 of 12 set: [0, 1]: 1., [2, 3]: -2.5");
  EXPECT_EQ(Text(sparse, {indices, values, shape}, 1),
            "sparse float32 (3, 4), 2 of 12 set: [0, 1]: 1., ...");
  EXPECT_EQ(Text(sparse, {Make({0, 2}, {}), Make({0}, {}, proto::DT_FLOAT), shape}),
            "sparse float32 (3, 4), 0 of 12 set");
  EXPECT_EQ(
      Text(sparse,
           {indices, llvm::cantFail(Tensor::FromLiteral(Literal::MakeStrings({2}, {"a", "b"}))),
            shape}),
      "sparse string (3, 4), 2 of 12 set: [0, 1]: b'a', [2, 3]: b'b'");
  EXPECT_EQ(
      Text(sparse, {indices, Make({3}, {1, 2, 3}), shape}),
      "error: not a sparse tensor: the indices have shape [2,2], the values [3], and the tensor of "
      "the dense shape [2]");
  EXPECT_EQ(Text(sparse, {Make({2}, {0, 3}), Make({2, 2}, {1, 2, 3, 4}, proto::DT_INT32), shape}),
            "slices of int32 (3, 4): [0]: [1, 2], [3]: [3, 4]");
  EXPECT_EQ(
      Text(sparse, {Make({2}, {0, 3}), Make({2, 2}, {1, 2, 3, 4}, proto::DT_INT32), shape}, 2),
      "slices of int32 (3, 4): [0]: [1, 2], [3]: ...");
  EXPECT_EQ(Text(sparse, {indices, values, Make({1}, {3})}).substr(0, 26),
            "error: not a sparse tensor");
  EXPECT_EQ(Text(sparse, {indices, Tensor(), shape}),
            "error: a part of the sparse or ragged tensor is missing");
}

TEST(CompositeValueTest, RaggedTensorsAreLists) {
  auto ragged = Composite::Kind::kRagged;
  Tensor values = Make({4}, {1, 2, 3, 4}, proto::DT_INT32);
  EXPECT_EQ(Text(ragged, {Make({4}, {0, 2, 2, 4}), values}),
            "ragged int32 (3, None): [[1, 2], [], [3, 4]]");
  EXPECT_EQ(Text(ragged, {Make({3}, {0, 1, 2}), Make({3}, {0, 1, 4}, proto::DT_INT32), values}),
            "ragged int32 (2, None, None): [[[1]], [[2, 3, 4]]]");
  EXPECT_EQ(Text(ragged, {Make({2}, {0, 2}), Make({2, 2}, {1, 2, 3, 4}, proto::DT_INT32)}),
            "ragged int32 (1, None, 2): [[[1, 2], [3, 4]]]");
  EXPECT_EQ(Text(ragged, {Make({4}, {0, 2, 2, 4}), values}, 2),
            "ragged int32 (3, None): [[1, 2], ...]");
  EXPECT_EQ(Text(ragged, {Make({1}, {0}), Make({0}, {}, proto::DT_INT32)}),
            "ragged int32 (0, None): []");
}

TEST(CompositeValueTest, SplitsThatDoNotFitAreSaid) {
  auto ragged = Composite::Kind::kRagged;
  Tensor values = Make({4}, {1, 2, 3, 4}, proto::DT_INT32);
  for (const Tensor& splits : {Make({3}, {0, 3, 2}), Make({3}, {1, 2, 4}), Make({0}, {}),
                               Make({2}, {0, 9}), Make({2}, {0, -4}), Make({}, {0})}) {
    EXPECT_EQ(Text(ragged, {splits, values}).substr(0, 24), "error: not a ragged tens")
        << splits.ToString();
  }
  EXPECT_EQ(Text(ragged, {Make({3}, {0, 1, 5}), Make({3}, {0, 1, 4}), values}).substr(0, 24),
            "error: not a ragged tens");
  EXPECT_EQ(Text(ragged, {Make({2}, {0, 1}), Make({}, {7})}),
            "error: not a ragged tensor: the values are a scalar");
}

}  // namespace
}  // namespace grapnel
