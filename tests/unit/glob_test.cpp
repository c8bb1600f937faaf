#include "lib/support/glob.h"

#include "gtest/gtest.h"

namespace grapnel {
namespace {

bool Fits(llvm::StringRef pattern, llvm::StringRef name) {
  auto glob = Glob::Parse(pattern);
  if (glob) return glob->Fits(name);
  ADD_FAILURE() << TextOf(glob.takeError());
  return false;
}

std::string ErrorOf(llvm::StringRef pattern) {
  auto glob = Glob::Parse(pattern);
  return glob ? "" : TextOf(glob.takeError());
}

TEST(Glob, FitsWholeNames) {
  EXPECT_TRUE(Fits("dense*", "dense/kernel"));
  EXPECT_TRUE(Fits("*/kernel", "block/dense/kernel"));
  EXPECT_TRUE(Fits("*", ""));
  EXPECT_TRUE(Fits("**", "a/b"));
  EXPECT_TRUE(Fits("a?c*e", "abcde"));
  EXPECT_FALSE(Fits("dense", "dense/kernel"));
  EXPECT_FALSE(Fits("a?c", "ac"));
  EXPECT_TRUE(Fits("", ""));
  EXPECT_FALSE(Fits("", "a"));
}

TEST(Glob, SetsOfCharacters) {
  EXPECT_TRUE(Fits("x_[12]", "x_2"));
  EXPECT_TRUE(Fits("x_[0-9]*", "x_17"));
  EXPECT_FALSE(Fits("x_[^12]", "x_2"));
  EXPECT_TRUE(Fits("x_[!12]", "x_3"));
  EXPECT_TRUE(Fits("[]]", "]"));
  EXPECT_TRUE(Fits("{a,b}", "{a,b}")) << "braces are nothing special, whichever LLVM it is";
}

TEST(Glob, WhatIsSpecialCanBeMeantItself) {
  EXPECT_TRUE(Fits("a\\*", "a*"));
  EXPECT_FALSE(Fits("a\\*", "ab"));
  EXPECT_TRUE(Fits("x[0]", "x[0]")) << "a name fits itself";
  EXPECT_TRUE(Fits("x[0]", "x0"));
  EXPECT_TRUE(llvm::cantFail(Glob::Parse("dense/kernel:0")).IsName());
  EXPECT_FALSE(llvm::cantFail(Glob::Parse("dense/*")).IsName());
}

TEST(Glob, ErrorsQuoteThePattern) {
  EXPECT_EQ(
      ErrorOf("conv["),
      "'conv[' is not a pattern: [ and ] with characters, or a range such as a-z, between them "
      "were expected (\\[ is the character itself)");
  EXPECT_NE(ErrorOf("[]").find("'[]' is not a pattern"), std::string::npos);
  EXPECT_NE(ErrorOf("[z-a]").find("'[z-a]' is not a pattern"), std::string::npos);
  EXPECT_EQ(ErrorOf("conv\\"),
            "'conv\\' is not a pattern: a character was expected after the last \\");
  EXPECT_EQ(ErrorOf("conv\\\\"), "");
  EXPECT_NE(ErrorOf("a[\\").find("is not a pattern"), std::string::npos);
}

TEST(Glob, OutlivesWhatItWasMadeOf) {
  std::vector<Glob> globs;
  {
    std::vector<std::string> texts = {"a", "dense/*", "x_[0-9]"};  // short enough to move inline
    globs = llvm::cantFail(Glob::ParseAll(texts));
  }
  std::vector<Glob> copies = globs;
  globs.clear();
  copies.insert(copies.begin(), llvm::cantFail(Glob::Parse("y")));
  EXPECT_TRUE(FitsAny(copies, "a"));
  EXPECT_TRUE(FitsAny(copies, "dense/kernel"));
  EXPECT_TRUE(FitsAny(copies, "x_1"));
  EXPECT_FALSE(FitsAny(copies, "b"));
}

}  // namespace
}  // namespace grapnel
