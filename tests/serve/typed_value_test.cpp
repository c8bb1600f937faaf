#include "lib/serve/work/typed_value.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

std::string Typed(llvm::StringRef text, DataType dtype, llvm::StringRef shape = "") {
  auto tensor = ParseTypedValue(text, dtype, llvm::cantFail(ParseDims(shape)));
  if (!tensor) return TextOf(tensor.takeError());
  return DimsText(tensor->dims()) + " " + tensor->ToLiteral().ToString(20);
}

// True if it is a value; drops the error.
bool Checked(Expected<Tensor> tensor) {
  if (tensor) return true;
  llvm::consumeError(tensor.takeError());
  return false;
}

TEST(TypedValue, BracketsSayTheShape) {
  EXPECT_EQ(Typed("[[1, 2.5], [-3, 0]]", proto::DT_FLOAT, "7"), "[2,2] [1,2.5,-3,0]");
  EXPECT_EQ(Typed("[[], []]", proto::DT_FLOAT), "[2,0] []");
  EXPECT_EQ(Typed(" 4 ", proto::DT_INT32), "[] 4");
  EXPECT_EQ(Typed("[[[true]]]", proto::DT_BOOL), "[1,1,1] [true]");
}

TEST(TypedValue, OneElementFillsAndAFlatListIsLaidOut) {
  EXPECT_EQ(Typed("3", proto::DT_INT64, "2,2"), "[2,2] [3,3,3,3]");
  EXPECT_EQ(Typed("[1,2,3,4]", proto::DT_INT64, "2,2"), "[2,2] [1,2,3,4]");
  EXPECT_EQ(Typed("[1,2,3]", proto::DT_INT64, "2,2"), "[3] [1,2,3]");
}

TEST(TypedValue, NumbersAreExactOrRefused) {
  EXPECT_EQ(Typed("9007199254740993", proto::DT_INT64), "[] 9007199254740993");
  EXPECT_EQ(Typed("[9007199254740993, 18446744073709551615]", proto::DT_UINT64),
            "[2] [9007199254740993,18446744073709551615]");
  EXPECT_EQ(Typed("18446744073709551616", proto::DT_UINT64),
            "'18446744073709551616' is not a value of uint64");
  EXPECT_EQ(Typed("-1", proto::DT_UINT64), "'-1' is not a value of uint64");
  EXPECT_EQ(Typed("9223372036854775808", proto::DT_INT64),
            "'9223372036854775808' is not a value of int64");
  EXPECT_EQ(Typed("300", proto::DT_UINT8), "'300' is not a value of uint8");
  EXPECT_EQ(Typed("-1", proto::DT_UINT8), "'-1' is not a value of uint8");
  EXPECT_EQ(Typed("1.5", proto::DT_INT32), "'1.5' is not a value of int32");
  EXPECT_EQ(Typed("two", proto::DT_FLOAT), "'two' is not a value of float");
  EXPECT_EQ(Typed("[nan, -inf]", proto::DT_FLOAT), "[2] [nan,-inf]");
}

TEST(TypedValue, StringsAreInQuotes) {
  auto tensor = ParseTypedValue(R"(["a b", "say \"x\", ]"])", proto::DT_STRING, {});
  ASSERT_TRUE(static_cast<bool>(tensor)) << TextOf(tensor.takeError());
  EXPECT_EQ(tensor->data<std::string>()[0], "a b");
  EXPECT_EQ(tensor->data<std::string>()[1], "say \"x\", ]");
}

TEST(TypedValue, WhatIsNoTensorIsSaid) {
  for (const char* text : {"[1, [2]]", "[[1], 2]", "[[1], [2, 3]]", "[[], 1]", "[[1], []]"})
    EXPECT_NE(Typed(text, proto::DT_FLOAT).find("different lengths"), std::string::npos) << text;
  for (const char* text : {"", "[", "[1", "[1 2]", "1]", "[1,,2]", "[\"a]", "[,]"})
    EXPECT_FALSE(Checked(ParseTypedValue(text, proto::DT_STRING, {}))) << text;
  EXPECT_NE(Typed("[1", proto::DT_FLOAT).find("expected ',' or ']'"), std::string::npos);
  EXPECT_NE(Typed(std::string(100000, '['), proto::DT_FLOAT).find("brackets"), std::string::npos);
  EXPECT_NE(Typed("1", proto::DT_RESOURCE).find("resource"), std::string::npos);
}

TEST(TypedValue, ShapesOfTooMuchAreRefused) {
  EXPECT_NE(Typed("1", proto::DT_FLOAT, "1000000,1000000").find("too large"), std::string::npos);
  EXPECT_NE(Typed("1", proto::DT_FLOAT, "4000000000,4000000000,4000000000").find("too large"),
            std::string::npos);
  auto most = FilledTensor(Fill::kOnes, proto::DT_STRING, {kLargestFill}, 0);
  EXPECT_NE(TextOf(most.takeError()).find("too large"), std::string::npos);
  for (const char* shape : {"-1", "1,x", "[2", "1.5", "99999999999999999999"})
    EXPECT_FALSE(TextOf(ParseDims(shape).takeError()).empty()) << shape;
}

TEST(TypedValue, FillsAreWhatTheySay) {
  auto text = [](Fill fill, DataType dtype, uint64_t seed) {
    return llvm::cantFail(FilledTensor(fill, dtype, {3}, seed)).ToLiteral().ToString();
  };
  EXPECT_EQ(text(Fill::kZeros, proto::DT_HALF, 0), "[0,0,0]");
  EXPECT_EQ(text(Fill::kOnes, proto::DT_BOOL, 0), "[true,true,true]");
  EXPECT_EQ(text(Fill::kNormal, proto::DT_FLOAT, 5), text(Fill::kNormal, proto::DT_FLOAT, 5));
  EXPECT_NE(text(Fill::kNormal, proto::DT_FLOAT, 5), text(Fill::kNormal, proto::DT_FLOAT, 6));
  Tensor many = llvm::cantFail(FilledTensor(Fill::kNormal, proto::DT_INT32, {1000}, 1));
  for (int64_t i = 0; i < many.num_elements(); ++i) EXPECT_GE(many.IntAt(i), 0);
  EXPECT_FALSE(Checked(FilledTensor(Fill::kNormal, proto::DT_STRING, {3}, 0)));
}

}  // namespace
}  // namespace grapnel
