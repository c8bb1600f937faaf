#include "lib/ir/tensor_name.h"

#include <gtest/gtest.h>

#include "lib/ir/graph.h"
#include "llvm/ADT/Twine.h"

namespace grapnel {
namespace {

std::string Parts(const TensorName& name) {
  return (llvm::Twine(name.control ? "^" : "") + "[" + name.node + "]" +
          (name.output.empty() ? "" : "[" + name.output.str() + "]") +
          (name.has_index ? " " : " implied ") + llvm::Twine(name.index))
      .str();
}
std::string Read(llvm::StringRef text) { return Parts(ReadTensorName(text)); }
std::string ReadInFunction(llvm::StringRef text) { return Parts(ReadFunctionTensorName(text)); }

TEST(TensorName, EverySpelling) {
  EXPECT_EQ(Read("x"), "[x] implied 0");
  EXPECT_EQ(Read("x:0"), "[x] 0");
  EXPECT_EQ(Read("x:12"), "[x] 12");
  EXPECT_EQ(Read("scope/x_1:3"), "[scope/x_1] 3");
  EXPECT_EQ(Read("x1"), "[x1] implied 0");
  EXPECT_EQ(Read("^x"), "^[x] implied 0");
  EXPECT_EQ(Read("x:007"), "[x] 7");
  EXPECT_EQ(Read("a:b:1"), "[a:b] 1");
}

TEST(TensorName, WhatIsNoNumberBelongsToTheNode) {
  for (const char* text :
       {"", "x:", "x:y", "x:-1", "x:+1", "x: 1", "x:1y", ":0", ":", "x:99999999999", "a^b"})
    EXPECT_EQ(Read(text), "[" + std::string(text) + "] implied 0");
  EXPECT_EQ(Read("^"), "^[] implied 0");
  EXPECT_EQ(Read("^x:1"), "^[x:1] implied 0");
  EXPECT_EQ(Read("^^x"), "^[^x] implied 0");
}

TEST(TensorName, InFunctionsAnOutputHasAName) {
  EXPECT_EQ(ReadInFunction("x"), "[x] implied 0");
  EXPECT_EQ(ReadInFunction("mul:product:2"), "[mul][product] 2");
  EXPECT_EQ(ReadInFunction("mul:product"), "[mul][product] implied 0");
  EXPECT_EQ(ReadInFunction("arg:1"), "[arg] 1");
  EXPECT_EQ(ReadInFunction("^mul"), "^[mul] implied 0");
  EXPECT_EQ(ReadInFunction("mul:"), "[mul:] implied 0");
  EXPECT_EQ(ReadInFunction("mul:product:"), "[mul:product:] implied 0");
  EXPECT_EQ(ReadInFunction("mul:product:-1"), "[mul][product:-1] implied 0");
  EXPECT_EQ(ReadInFunction(""), "[] implied 0");
}

TEST(TensorName, IsWrittenBack) {
  EXPECT_EQ(OutputName("x", 0), "x:0");
  EXPECT_EQ(OutputName("a/x", 11), "a/x:11");
  EXPECT_EQ(NodeDefInput("x", 0), "x");
  EXPECT_EQ(NodeDefInput("x", 1), "x:1");
  EXPECT_EQ(NodeDefInput("x", kControlPort), "^x");
  for (int index : {0, 1, 9, 10, 123456}) {
    std::string text = OutputName("s/x_1", index);
    TensorName name = ReadTensorName(text);
    EXPECT_EQ(name.node, "s/x_1");
    EXPECT_EQ(name.index, index);
  }
}

TEST(TensorName, OneNameForOneTensor) {
  EXPECT_EQ(WithoutZeroIndex("x:0"), "x");
  EXPECT_EQ(WithoutZeroIndex("x"), "x");
  EXPECT_EQ(WithoutZeroIndex("x:1"), "x:1");
  EXPECT_EQ(WithoutZeroIndex("x:10"), "x:10");
  EXPECT_EQ(WithoutZeroIndex("^x"), "^x");
  EXPECT_EQ(WithoutZeroIndex(":0"), ":0");
}

}  // namespace
}  // namespace grapnel
