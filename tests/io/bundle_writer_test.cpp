// A written checkpoint reads back the same.
#include "lib/io/bundle_writer.h"

#include "gtest/gtest.h"
#include "lib/io/bundle.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

TEST(BundleWriter, WhatItWritesIsReadBack) {
  TempFolder folder;
  std::string prefix = folder / "saved/variables";
  const float values[] = {1, 2, 3, 4};
  Literal numbers = Literal::Borrow(
      proto::DT_FLOAT, {2, 2}, {reinterpret_cast<const char*>(values), sizeof values}, nullptr);
  Literal words = Literal::MakeStrings({2}, {"", std::string("a\0b", 3)});
  auto writer = llvm::cantFail(BundleWriter::Create(prefix));
  EXPECT_EQ(TextOf(writer->Add("w/numbers", numbers)), "");
  EXPECT_EQ(TextOf(writer->Add("a/words", words)), "");
  EXPECT_NE(TextOf(writer->Add("a/words", words)), "");
  EXPECT_FALSE(FileExists(prefix + ".index"));
  EXPECT_EQ(TextOf(writer->Finish()), "");
  Bundle bundle = llvm::cantFail(Bundle::Open(prefix));
  EXPECT_EQ(bundle.names(), (std::vector<llvm::StringRef>{"a/words", "w/numbers"}));
  EXPECT_TRUE(llvm::cantFail(bundle.Read("w/numbers")).SameValue(numbers));
  EXPECT_TRUE(llvm::cantFail(bundle.Read("a/words")).SameValue(words));
}

}  // namespace
}  // namespace grapnel
