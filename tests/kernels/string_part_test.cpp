// Numbers in strings, parts of strings, hashes of strings.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using S = std::vector<std::string>;
using D = std::vector<int64_t>;

OpRun ToNumber(std::string text, DataType type) {
  OpRun run("StringToNumber");
  run.In(Vec<std::string>({std::move(text)})).Attr("out_type", attr::Type(type)).Out({type});
  return run;
}

TEST(KernelStringToNumber, ReadsWhatStrtodDoes) {
  auto number = [](const char* text) {
    return *ToNumber(text, proto::DT_FLOAT).One().data<float>();
  };
  EXPECT_EQ(number(" 1.5\n"), 1.5f);
  EXPECT_EQ(number("+3e2"), 300);
  EXPECT_EQ(number("0x10"), 16);
  EXPECT_EQ(number("1e400"), INFINITY);
  EXPECT_TRUE(std::isnan(number("nan")));
  EXPECT_EQ(*ToNumber(" -4 ", proto::DT_INT64).One().data<int64_t>(), -4);
  EXPECT_EQ(*ToNumber("+4", proto::DT_UINT32).One().data<uint32_t>(), 4u);
}

TEST(KernelStringToNumber, RefusesWhatIsNone) {
  for (const char* text : {"", " ", "abc", "1f", "1 2", "- 1"}) {
    EXPECT_EQ(ToNumber(text, proto::DT_FLOAT).ErrorText(),
              "element 0, '" + std::string(text) + "', is no float");
  }
  for (const char* text : {"1.5", "99999999999", "+-1", "0x10"})
    EXPECT_NE(ToNumber(text, proto::DT_INT32).ErrorText(), "no error") << text;
  EXPECT_NE(ToNumber("-1", proto::DT_UINT64).ErrorText(), "no error");
}

struct Parts {
  D at;
  S values;
  D shape;
  bool operator==(const Parts& o) const {
    return at == o.at && values == o.values && shape == o.shape;
  }
};

Parts Split(const char* op, S texts, std::string at, std::string key, std::string value) {
  auto out = OpRun(op)
                 .In(Vec<std::string>(std::move(texts)))
                 .In(Scalar<std::string>(std::move(at)))
                 .Attr(std::move(key), std::move(value))
                 .Out({proto::DT_INT64, proto::DT_STRING, proto::DT_INT64})
                 .All();
  return {Values<int64_t>(out[0]), Values<std::string>(out[1]), Values<int64_t>(out[2])};
}

TEST(KernelStringSplit, AtTextsAndAtSpace) {
  auto split = [](std::string text, std::string at, int64_t most) {
    return Split("StringSplitV2", {std::move(text)}, std::move(at), "maxsplit", attr::Int(most))
        .values;
  };
  EXPECT_EQ(split("a,b,,c", ",", -1), (S{"a", "b", "", "c"}));
  EXPECT_EQ(split("a,b,,c", ",", 1), (S{"a", "b,,c"}));
  EXPECT_EQ(split("", ",", -1), S{""});
  EXPECT_EQ(split("  a b   c  ", "", -1), (S{"a", "b", "c"}));
  EXPECT_EQ(split("  a b   c  ", "", 1), (S{"a", "b   c  "}));
  EXPECT_EQ(split("  a b", "", 0), S{"  a b"});
  EXPECT_EQ(split(" ", "", -1), S{});
  Parts parts = Split("StringSplitV2", {"a b", "", "c"}, "", "maxsplit", attr::Int(-1));
  EXPECT_TRUE(parts == (Parts{{0, 0, 0, 1, 2, 0}, {"a", "b", "c"}, {3, 2}}));
}

TEST(KernelStringSplit, AtAnyCharacter) {
  auto split = [](std::string text, std::string at, bool skip) {
    return Split("StringSplit", {std::move(text)}, std::move(at), "skip_empty", attr::Bool(skip))
        .values;
  };
  EXPECT_EQ(split("a,b;;c,", ",;", true), (S{"a", "b", "c"}));
  EXPECT_EQ(split("a,b;;c,", ",;", false), (S{"a", "b", "", "c", ""}));
  EXPECT_EQ(split("a,b", "", true), (S{"a", ",", "b"}));
  EXPECT_EQ(split("", ",", false), S{});
  EXPECT_EQ(OpRun("StringSplit")
                .In(Scalar<std::string>("a"))
                .In(Scalar<std::string>(","))
                .Out({proto::DT_INT64, proto::DT_STRING, proto::DT_INT64})
                .ErrorText(),
            "input must be a vector, not []");
}

TEST(KernelStringLength, InBytesAndCharacters) {
  auto length = [](const char* unit) {
    return *OpRun("StringLength")
                .In(Vec<std::string>({"w\xc3\xb6"}))
                .Attr("unit", attr::String(unit))
                .Out({proto::DT_INT32})
                .One()
                .data<int32_t>();
  };
  EXPECT_EQ(length("BYTE"), 3);
  EXPECT_EQ(length("UTF8_CHAR"), 2);
  EXPECT_EQ(Values<std::string>(OpRun("StringStrip").In(Vec<std::string>({" a b\n"})).One()),
            S{"a b"});
}

OpRun Substr(S texts, Tensor pos, Tensor len, const char* unit = "BYTE") {
  OpRun run("Substr");
  run.In(Vec<std::string>(std::move(texts))).In(std::move(pos)).In(std::move(len));
  run.Attr("unit", attr::String(unit)).Out({proto::DT_STRING});
  return run;
}

TEST(KernelSubstr, CountsFromEitherEnd) {
  EXPECT_EQ(
      Values<std::string>(Substr({"hello", "world"}, Ints({2}, {1, -3}), Ints({2}, {2, 9})).One()),
      (S{"el", "rld"}));
  EXPECT_EQ(Values<std::string>(Substr({"w\xc3\xb6rld"}, Scalar(1), Scalar(2), "UTF8_CHAR").One()),
            S{"\xc3\xb6r"});
  EXPECT_EQ(Values<std::string>(Substr({"hello"}, Scalar(1), Scalar(-2)).One()), S{"ello"});
  EXPECT_EQ(Values<std::string>(Substr({"ab"}, Ints({2, 1}, {0, 1}), Ints({2, 1}, {1, 1})).One()),
            (S{"a", "b"}));
  EXPECT_EQ(Substr({"ab"}, Scalar(3), Scalar(1)).ErrorText(),
            "pos 3 is out of range for string 'ab' at index 0");
  EXPECT_EQ(Substr({"ab"}, Ints({1}, {3}), Scalar(1)).ErrorText(),
            "pos and len must have the same shape, not [1] and []");
}

TEST(KernelStringHash, IsTensorFlows) {
  auto hash = [](const char* op, std::string text) {
    return *OpRun(op)
                .In(Vec<std::string>({std::move(text)}))
                .Attr("num_buckets", attr::Int(int64_t{1} << 62))
                .Attr("key", attr::Ints({1, 2}))
                .Out({proto::DT_INT64})
                .One()
                .data<int64_t>();
  };
  EXPECT_EQ(hash("StringToHashBucketFast", ""), 1936946117179621455);
  EXPECT_EQ(hash("StringToHashBucketFast", "abc"), 2640714258260161385);
  EXPECT_EQ(hash("StringToHashBucketFast", "hello world"), 1769834696496558107);
  EXPECT_EQ(hash("StringToHashBucketFast", std::string(20, 'x')), 3621402210320469444);
  EXPECT_EQ(hash("StringToHashBucketFast", std::string(40, 'y')), 276292113409495006);
  EXPECT_EQ(hash("StringToHashBucketFast", std::string(200, 'w')), 526236191678461824);
  EXPECT_EQ(hash("StringToHashBucketStrong", "abc"), 1250540936487842205);
  EXPECT_EQ(OpRun("StringToHashBucketStrong")
                .In(Vec<std::string>({"a"}))
                .Attr("num_buckets", attr::Int(2))
                .Attr("key", attr::Ints({1}))
                .Out({proto::DT_INT64})
                .ErrorText(),
            "key must have 2 numbers, not 1");
  EXPECT_EQ(OpRun("StringToHashBucketFast")
                .In(Vec<std::string>({"a"}))
                .Out({proto::DT_INT64})
                .ErrorText(),
            "num_buckets must be at least 1, got 0");
}

}  // namespace
}  // namespace grapnel
