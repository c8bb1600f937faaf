#include "lib/support/json.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, DeepTextsAreRefused) {
  EXPECT_TRUE(static_cast<bool>(ParseJson(Nested(256))));
  auto deep = ParseJson("[\n " + Nested(256) + "]");
  ASSERT_FALSE(static_cast<bool>(deep));
  EXPECT_EQ(TextOf(deep.takeError()), "[2:257, byte=258]: nested more than 256 deep");
  EXPECT_FALSE(TextOf(ParseJson(std::string(50000, '{')).takeError()).empty());
}

TEST(Json, BracketsInTextsAreNone) {
  std::string text = "[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\\\\\"]";
  auto value = ParseJson(text);
  ASSERT_TRUE(static_cast<bool>(value)) << TextOf(value.takeError());
  EXPECT_EQ((*value->getAsArray())[0].getAsString()->size(), 2002u);
}

TEST(Json, UnfinishedTextsEnd) {
  for (const char* text : {"\"", "\"\\", "[\"", "{", "", "]]]"})
    EXPECT_FALSE(TextOf(ParseJson(text).takeError()).empty()) << text;
}

}  // namespace
}  // namespace grapnel
