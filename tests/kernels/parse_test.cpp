// Serialized Examples: truncated anywhere, with duplicate keys, and errors of sequences.
#include "lib/ir/wire.h"
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using S = std::vector<std::string>;

std::string Field(uint32_t number, llvm::StringRef bytes) {
  std::string out;
  AppendBytesField(&out, number, bytes);
  return out;
}
std::string Int64Feature(const D& values) {
  std::string packed;
  for (int64_t value : values) AppendVarint(&packed, static_cast<uint64_t>(value));
  return Field(3, Field(1, packed));
}
std::string Example(const std::vector<std::pair<std::string, std::string>>& features) {
  std::string map;
  for (const auto& [key, feature] : features) map += Field(1, Field(1, key) + Field(2, feature));
  return Field(1, map);
}

// Parses one sparse feature 'a' and one dense feature 'd' of two numbers, both int64.
OpRun ParseBoth(S serialized, S names = {}) {
  OpRun run("ParseExampleV2");
  run.In(Vec<std::string>(std::move(serialized))).In(Vec<std::string>(std::move(names)));
  run.In(Vec<std::string>({"a"})).In(Vec<std::string>({"d"})).In(Vec<std::string>({}));
  run.In(Vec<int64_t>({}));
  run.Attr("num_sparse", attr::Int(1)).Attr("sparse_types", attr::Types({proto::DT_INT64}));
  run.Attr("Tdense", attr::Types({proto::DT_INT64}));
  run.Attr("dense_shapes", attr::Shapes({Shape(D{2})}));
  run.Out({proto::DT_INT64, proto::DT_INT64, proto::DT_INT64, proto::DT_INT64});
  return run;
}

TEST(KernelParseExample, TheLastOfAKeyCounts) {
  auto out = ParseBoth({Example({{"a", Int64Feature({1})},
                                 {"a", Int64Feature({-2, 3})},
                                 {"d", Int64Feature({4, 5})}})})
                 .All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{0, 0, 0, 1}));
  EXPECT_EQ(Values<int64_t>(out[1]), (D{-2, 3}));
  EXPECT_EQ(Values<int64_t>(out[2]), (D{1, 2}));
  EXPECT_EQ(Values<int64_t>(out[3]), (D{4, 5}));
}

TEST(KernelParseExample, CutOffAnywhereIsNoCrash) {
  std::string good = Example({{"a", Int64Feature({1, 300})}, {"d", Int64Feature({4, 5})}});
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(ParseBoth({good.substr(0, size)}).ErrorText(), "no error");
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] ^= '\x81';
    llvm::consumeError(ParseBoth({damaged}).Try().takeError());
  }
}

OpRun ParseSequence(S serialized) {
  OpRun run("ParseSequenceExample");
  run.In(Vec<std::string>(std::move(serialized))).In(Vec<std::string>({}));
  run.Attr("Nfeature_list_dense", attr::Int(1));
  run.Attr("feature_list_dense_keys", attr::Strings({"y"}));
  run.Attr("feature_list_dense_types", attr::Types({proto::DT_INT64}));
  run.Attr("feature_list_dense_shapes", attr::Shapes({Shape(D{2})}));
  return run.Out({proto::DT_INT64, proto::DT_INT64});
}

TEST(KernelParseSequence, Errors) {
  auto with = [](const std::string& feature) {
    return Field(2, Field(1, Field(1, "y") + Field(2, Field(1, feature))));
  };
  auto out = ParseSequence({with(Int64Feature({1, 2}))}).All();
  EXPECT_EQ(Values<int64_t>(out[0]), (D{1, 2}));
  EXPECT_EQ(Values<int64_t>(out[1]), (D{1}));
  EXPECT_EQ(ParseSequence({""}).ErrorText(),
            "Name: <unknown>, Feature list 'y' is required but could not be found; did you mean to "
            "include it in feature_list_dense_missing_assumed_empty?");
  EXPECT_EQ(ParseSequence({with(Int64Feature({1}))}).ErrorText(),
            "Name: <unknown>, Key: y, Index: 0: number of int64 values != expected, values size 1 "
            "but output shape [2]");
  EXPECT_EQ(ParseSequence({with(Field(1, ""))}).ErrorText(),
            "Name: <unknown>, Feature list: y, Index: 0: data types don't match, int64 was "
            "expected, the feature is string");
  std::string good = with(Int64Feature({1, 2}));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(ParseSequence({good.substr(0, size)}).ErrorText(), "no error");
}

}  // namespace
}  // namespace grapnel
