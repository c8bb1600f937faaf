// Examples, raw bytes, CSV and tensors as bytes: what a file from outside may hold.
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

// One sparse feature 'a', one dense feature 'd' of two numbers, both int64.
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

TEST(KernelParseExample, Errors) {
  std::string good = Example({{"d", Int64Feature({4, 5})}});
  EXPECT_EQ(ParseBoth({good, Example({})}).ErrorText(),
            "Name: <unknown>, Feature: d (data type: int64) is required but could not be found");
  EXPECT_EQ(ParseBoth({good, Example({{"d", Int64Feature({1})}})}, {"u", "v"}).ErrorText(),
            "Name: v, Key: d, Index: 1: number of int64 values != expected, values size 1 but "
            "output shape [2]");
  EXPECT_EQ(ParseBoth({Example({{"d", Field(2, "")}})}).ErrorText(),
            "Name: <unknown>, Key: d, Index: 0: data types don't match, int64 was expected, the "
            "feature is float");
  EXPECT_EQ(ParseBoth({"\x0a\x7f"}).ErrorText(),
            "Name: <unknown>, could not parse example input 0: 2 bytes");
  EXPECT_EQ(ParseBoth({good}, {"u", "v"}).ErrorText(), "2 names for 1 examples");
  // A number of eleven bytes.
  EXPECT_EQ(ParseBoth({Example({{"d", Field(3, Field(1, std::string(11, '\x80')))}})}).ErrorText(),
            "Name: <unknown>, Key: d, Index: 0: the list of values is damaged");
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

TEST(KernelParseExample, ShapesThatCannotBe) {
  auto run = [](Shape shape, Tensor otherwise) {
    OpRun run("ParseSingleExample");
    run.In(Scalar<std::string>("")).In(std::move(otherwise));
    run.Attr("dense_keys", attr::Strings({"d"})).Attr("Tdense", attr::Types({proto::DT_INT64}));
    run.Attr("dense_shapes", attr::Shapes({std::move(shape)})).Out({proto::DT_INT64});
    return run.ErrorText();
  };
  EXPECT_EQ(run(Shape({int64_t{1} << 40, int64_t{1} << 40}), Vec<int64_t>({})),
            "dense_shape of 'd': [1099511627776,1099511627776] is too large");
  EXPECT_EQ(run(Shape(D{2, -1}), Vec<int64_t>({})),
            "dense_shape of 'd': [2,?] has an unknown size after its first");
  EXPECT_EQ(run(Shape(D{-1, 0}), Vec<int64_t>({1})),
            "dense_shape of 'd': [?,0] has steps without elements");
  EXPECT_EQ(run(Shape(D{2}), Vec<int64_t>({1})),
            "dense feature 'd': a default of shape [1] for [2]");
}

OpRun ParseSequence(S serialized) {
  OpRun run("ParseSequenceExample");
  run.In(Vec<std::string>(std::move(serialized))).In(Vec<std::string>({}));
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

TEST(KernelDecodeRaw, Errors) {
  auto run = [](S bytes) {
    return OpRun("DecodeRaw")
        .In(Vec<std::string>(std::move(bytes)))
        .Attr("out_type", attr::Type(proto::DT_INT32))
        .Out({proto::DT_INT32});
  };
  EXPECT_EQ(DimsOf(run({}).One()), (D{0, 0}));
  EXPECT_EQ(DimsOf(run({"", ""}).One()), (D{2, 0}));
  EXPECT_EQ(run({"abcd", "ab"}).ErrorText(),
            "DecodeRaw requires input strings to all be the same size, but element 1 has size 2 "
            "!= 4");
  EXPECT_EQ(run({"abc"}).ErrorText(),
            "input to DecodeRaw has length 3 that is not a multiple of 4, the size of int32");
}

TEST(KernelDecodePaddedRaw, Errors) {
  auto run = [](int32_t length) {
    return OpRun("DecodePaddedRaw")
        .In(Vec<std::string>({"abcd"}))
        .In(Scalar(length))
        .Attr("out_type", attr::Type(proto::DT_INT16))
        .Out({proto::DT_INT16})
        .ErrorText();
  };
  EXPECT_EQ(run(0), "fixed_length (0) must be greater than zero");
  EXPECT_EQ(run(3), "fixed_length (3) must be a multiple of the size of out_type (2)");
}

TEST(KernelDecodeCsv, Errors) {
  auto run = [](std::string record) {
    return OpRun("DecodeCSV")
        .In(Vec<std::string>({std::move(record)}))
        .In(Vec<int32_t>({}))
        .In(Vec<std::string>({"d"}))
        .Out({proto::DT_INT32, proto::DT_STRING})
        .ErrorText();
  };
  EXPECT_EQ(run("1,a"), "no error");
  EXPECT_EQ(run(""), "expect 2 fields but have 0 in record 0");
  EXPECT_EQ(run("1,a,b"), "expect 2 fields but have 3 in record 0");
  EXPECT_EQ(run(",a"), "field 0 is required but missing in record 0");
  EXPECT_EQ(run("x,a"), "field 0 in record 0 is not a valid int32: x");
  EXPECT_EQ(run("1,a\"b"), "unquoted fields cannot have quotes/CRLFs inside");
  EXPECT_EQ(run("1,\"a"), "quoted field has to end with quote followed by delim or end");
  EXPECT_EQ(run("1,\""), "quoted field has to end with quote followed by delim or end");
  EXPECT_EQ(run("1,\"a\"b"), "quote inside a string has to be escaped by another quote");
}

TEST(KernelParseTensor, Errors) {
  auto run = [](std::string bytes) {
    return OpRun("ParseTensor")
        .In(Scalar<std::string>(std::move(bytes)))
        .Attr("out_type", attr::Type(proto::DT_FLOAT))
        .Out({proto::DT_FLOAT})
        .ErrorText();
  };
  EXPECT_EQ(run(Literal::Scalar(proto::DT_INT32, 1).ToTensorProto()),
            "type mismatch between parsed tensor (int32) and dtype (float)");
  EXPECT_NE(run("abc"), "no error");
  // One value under a shape of 2^36: 256 GiB.
  std::string dim;
  AppendVarintField(&dim, 1, uint64_t{1} << 36);
  std::string huge("\x08\x01", 2);
  AppendBytesField(&huge, 2, Field(2, dim));
  huge += std::string("\x2a\x04\0\0\x80\x3f", 6);
  EXPECT_EQ(run(huge), "serialized claims 68719476736 elements and has one");
}

TEST(KernelDecodeJsonExample, Errors) {
  auto run = [](std::string json) {
    return OpRun("DecodeJSONExample").In(Vec<std::string>({std::move(json)})).ErrorText();
  };
  const std::string start = "element 0: Error while parsing JSON: ";
  EXPECT_EQ(run("{"), start + "Unexpected end of string. Expected an object key or }.");
  EXPECT_EQ(run("[]"), start + "Root element must be a message.");
  EXPECT_EQ(run(R"({"feature":{}})"), start + "feature: Cannot find field.");
  EXPECT_EQ(run(R"({"features":{"feature":{"a":{"int64_list":{"value":[1.5]}}}}})"),
            start +
                "(features.feature[0].value.int64_list.value[0]): "
                "invalid value 1.5 for type TYPE_INT64");
  EXPECT_EQ(run(R"({"features":{"feature":{"a":{"bytes_list":{"value":["*"]}}}}})"),
            start +
                "(features.feature[0].value.bytes_list.value[0]): "
                "invalid value \"*\" for type TYPE_BYTES");
}

TEST(KernelDecodeCompressed, Errors) {
  auto run = [](std::string bytes, const char* kind) {
    return OpRun("DecodeCompressed")
        .In(Scalar<std::string>(std::move(bytes)))
        .Attr("compression_type", attr::String(kind))
        .ErrorText();
  };
  EXPECT_EQ(run("abc", ""), "no error");
  EXPECT_EQ(run("abc", "SNAPPY"), "compression_type 'SNAPPY': '', 'GZIP' and 'ZLIB' are supported");
  EXPECT_EQ(run("abc", "ZLIB"), "the zlib data is damaged (incorrect header check) at its start");
}

}  // namespace
}  // namespace grapnel
