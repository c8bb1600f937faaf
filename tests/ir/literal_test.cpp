#include "lib/ir/literal.h"

#include <gtest/gtest.h>

#include "lib/proto/tensor.pb.h"

namespace grapnel {
namespace {

Expected<Literal> Read(const proto::TensorProto& tensor, std::string* bytes) {
  *bytes = tensor.SerializeAsString();
  return Literal::FromTensorProto(*bytes);
}

proto::TensorProto Tensor(DataType dtype, const std::vector<int64_t>& dims) {
  proto::TensorProto tensor;
  tensor.set_dtype(dtype);
  for (int64_t dim : dims) tensor.mutable_tensor_shape()->add_dim()->set_size(dim);
  return tensor;
}

TEST(LiteralTest, OneValueStandsForAll) {
  proto::TensorProto tensor = Tensor(proto::DT_FLOAT, {1000, 1000});
  tensor.add_float_val(2.5);
  std::string bytes;
  Literal literal = llvm::cantFail(Read(tensor, &bytes));
  EXPECT_TRUE(literal.is_splat());
  EXPECT_EQ(literal.bytes().size(), 4u);
  EXPECT_EQ(literal.AsDouble(999999), 2.5);
  EXPECT_TRUE(literal.AllEqualTo(2.5));
}

TEST(LiteralTest, NoValueIsZerosAndTheLastValueIsRepeated) {
  std::string bytes;
  proto::TensorProto zeros = Tensor(proto::DT_INT64, {3});
  EXPECT_EQ(llvm::cantFail(Read(zeros, &bytes)).AsInts(), (std::vector<int64_t>{0, 0, 0}));
  proto::TensorProto tail = Tensor(proto::DT_INT32, {4});
  tail.add_int_val(1);
  tail.add_int_val(-7);
  EXPECT_EQ(llvm::cantFail(Read(tail, &bytes)).AsInts(), (std::vector<int64_t>{1, -7, -7, -7}));
}

TEST(LiteralTest, HalfAndBfloat16) {
  std::string bytes;
  proto::TensorProto half = Tensor(proto::DT_HALF, {2});
  half.add_half_val(0x3C00);
  half.add_half_val(0x0001);
  Literal literal = llvm::cantFail(Read(half, &bytes));
  EXPECT_EQ(literal.AsDouble(0), 1.0);
  EXPECT_EQ(literal.AsDouble(1), 5.9604644775390625e-08);
  EXPECT_EQ(Literal::Scalar(proto::DT_HALF, 65504).AsDouble(0), 65504);
  EXPECT_EQ(Literal::Scalar(proto::DT_HALF, 1e-7).AsDouble(0), 1.1920928955078125e-07);
  EXPECT_EQ(Literal::Scalar(proto::DT_BFLOAT16, 3.14).AsDouble(0), 3.140625);
}

TEST(LiteralTest, AClaimBeyondTheFileIsAnError) {
  std::string bytes;
  proto::TensorProto content = Tensor(proto::DT_FLOAT, {1000000000});
  content.set_tensor_content("abcd");
  EXPECT_EQ(TextOf(Read(content, &bytes).takeError()),
            "the tensor's content has 4 bytes, float[1000000000] needs 4000000000");
  proto::TensorProto negative = Tensor(proto::DT_FLOAT, {-2});
  EXPECT_EQ(TextOf(Read(negative, &bytes).takeError()),
            "the tensor has a dimension of size -2, 0 or more was expected");
  proto::TensorProto huge = Tensor(proto::DT_DOUBLE, {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(TextOf(Read(huge, &bytes).takeError()),
            "the tensor's shape [1099511627776,1099511627776] is larger than memory");
}

TEST(LiteralTest, RoundTripOfEveryNumericDtype) {
  for (int number = 1; number <= 23; ++number) {
    DataType dtype = static_cast<DataType>(number);
    if (DataTypeSize(dtype) == 0) continue;
    for (bool compress : {false, true}) {
      Literal literal = Literal::Make(
          dtype, {2},
          std::string(DataTypeSize(dtype), '\1') + std::string(DataTypeSize(dtype), '\0'));
      std::string proto = literal.ToTensorProto(compress);
      EXPECT_TRUE(llvm::cantFail(Literal::FromTensorProto(proto)).SameValue(literal))
          << DataTypeName(dtype).str();
    }
  }
}

TEST(LiteralTest, ASplatEqualsItsExpansionAndHashesAlike) {
  Literal splat = Literal::Make(proto::DT_INT32, {3}, std::string("\1\0\0\0", 4));
  Literal full = Literal::Vector32({1, 1, 1});
  EXPECT_TRUE(splat.SameValue(full));
  EXPECT_EQ(splat.Hash(), full.Hash());
  EXPECT_FALSE(full.SameValue(Literal::Vector32({1, 1, 2})));
}

}  // namespace
}  // namespace grapnel
