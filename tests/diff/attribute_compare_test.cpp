#include "lib/diff/attribute_compare.h"

#include <gtest/gtest.h>

#include "google/protobuf/text_format.h"
#include "lib/diff/body_view.h"
#include "lib/ir/module.h"
#include "lib/proto/dynamic_message.h"

namespace grapnel {
namespace {

std::string AsIs(llvm::StringRef name) { return name.str(); }

bool Same(const std::string& a, const std::string& b, llvm::StringRef key = "x") {
  return SameAttr(key, AttrView(a), AttrView(b), AsIs);
}

TEST(AttributeCompareTest, ListsAreTheSamePackedOrNot) {
  proto::AttrValue value;
  for (int i : {1, 2, 2, 1}) value.mutable_list()->add_i(i);
  std::string unpacked("\x0a\x08\x18\x01\x18\x02\x18\x02\x18\x01", 10);
  EXPECT_NE(value.SerializeAsString(), unpacked);
  EXPECT_TRUE(Same(value.SerializeAsString(), unpacked));
  EXPECT_FALSE(Same(attr::Ints({1, 2, 2, 2}), unpacked));
}

std::string Config(const char* text) {
  std::unique_ptr<google::protobuf::Message> config = proto::MakeDynamicMessage("ConfigProto");
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, config.get()));
  return config->SerializeAsString();
}

TEST(AttributeCompareTest, ConfigsAreComparedByFieldAndToldByWhatDiffers) {
  std::string both = Config("intra_op_parallelism_threads: 3 inter_op_parallelism_threads: 5");
  std::string reordered =
      Config("inter_op_parallelism_threads: 5") + Config("intra_op_parallelism_threads: 3");
  std::string a = attr::String(both), b = attr::String(reordered);
  EXPECT_NE(a, b);
  EXPECT_TRUE(Same(a, b, "config_proto"));
  EXPECT_FALSE(Same(a, b, "any_other_string"));
  std::string changed =
      attr::String(Config("intra_op_parallelism_threads: 3 inter_op_parallelism_threads: 7"));
  auto [before, after] = AttrTexts("config_proto", AttrView(a), AttrView(changed));
  EXPECT_EQ(before, "inter_op_parallelism_threads: 5");
  EXPECT_EQ(after, "inter_op_parallelism_threads: 7");
}

TEST(NameClassTest, NumbersThatMakeNamesUniqueGo) {
  EXPECT_EQ(NameClass("functional_1/conv2d_7_1/BiasAdd"), "functional/conv2d/BiasAdd");
  EXPECT_EQ(NameClass("__inference_f_16"), "f");
  EXPECT_EQ(NameClass("conv2d/1/x_"), "conv2d/1/x_");
  EXPECT_EQ(NameClass(""), "");
}

}  // namespace
}  // namespace grapnel
