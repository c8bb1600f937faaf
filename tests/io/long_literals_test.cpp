// Long literals that are read separately give the same result as protobuf's parser.
#include "lib/io/long_literals.h"

#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "lib/proto/graph.pb.h"

namespace grapnel {
namespace {

using google::protobuf::TextFormat;

// Reads a node whose attribute `s` has this literal both ways; checks whether it was taken out.
bool Reads(const std::string& literal, bool is_taken_out) {
  std::string text = "name: \"a\" # it's \"one\"\nattr { key: \"s\" value { s: " + literal +
                     " } }\nattr { key: 'l' value { list { s: \"b\" s: " + literal + " } } }";
  proto::NodeDef plain, fast;
  LongLiterals literals;
  std::string shorter = literals.TakeOut(text);
  bool reads = TextFormat::ParseFromString(text, &plain);
  EXPECT_EQ(TextFormat::ParseFromString(shorter, &fast), reads);
  EXPECT_EQ(literals.empty(), !is_taken_out);
  EXPECT_TRUE(literals.PutBack(&fast) || !reads);
  if (reads) {
    EXPECT_EQ(fast.attr().at("s").s(), plain.attr().at("s").s());
    EXPECT_EQ(fast.attr().at("l").list().s(1), plain.attr().at("l").list().s(1));
  }
  return reads;
}

std::string Many(const std::string& part) {
  std::string text;
  while (text.size() < 5000) text += part;
  return text;
}

TEST(LongLiterals, MarkSpeltByEscapesIsNoticed) {
  std::string text = "name: \"\\147rapnel literal <0>\" op: \"" + Many("x") + "\"";
  proto::NodeDef node;
  LongLiterals literals;
  ASSERT_TRUE(TextFormat::ParseFromString(literals.TakeOut(text), &node));
  EXPECT_FALSE(literals.PutBack(&node));
}

TEST(LongLiterals, ReadsEscapes) {
  EXPECT_TRUE(Reads("\"" + Many("ab\\n\\r\\t\\a\\b\\f\\v\\\\\\'\\\"\\?'") + "\"", true));
  EXPECT_TRUE(Reads("\"" + Many("\\0z\\07\\377\\0001\\18") + "\\1\"", true));
  EXPECT_TRUE(Reads("'" + Many("\\\"\"\\'\xC3\xA9") + "\\\\'", true));
}

TEST(LongLiterals, LeavesToProtobufWhatItDoesNotKnow) {
  EXPECT_TRUE(Reads("\"" + Many("\\u00e9") + "\"", false));
  EXPECT_TRUE(Reads("\"" + Many("\\x41") + "\"", false));
  EXPECT_FALSE(Reads("\"" + Many("a\n") + "\"", false));
  EXPECT_FALSE(Reads("\"" + Many("\\q") + "\"", false));
  EXPECT_FALSE(Reads("\"" + Many("never ends"), false));
  EXPECT_TRUE(Reads("\"short\"", false));
  EXPECT_TRUE(Reads("\"" + Many("grapnel literal <0>") + "\"", false));
}

TEST(LongLiterals, JoinsThoseSideBySide) {
  std::string one = "\"" + Many("\\001") + "\"";
  EXPECT_TRUE(Reads("\"before\" " + one + "\n  " + one + " 'after'", true));
}

}  // namespace
}  // namespace grapnel
