// Printed texts and messages, exactly as in TensorFlow 2.21.
#include <limits>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string Format(Tensor x, int64_t summarize = 3) {
  return *OpRun("StringFormat")
              .In(std::move(x))
              .Attr("template", attr::String("a {} b"))
              .Attr("placeholder", attr::String("{}"))
              .Attr("summarize", attr::Int(summarize))
              .Out({proto::DT_STRING})
              .One()
              .data<std::string>();
}

TEST(KernelStringFormat, ShowsTheEdges) {
  EXPECT_EQ(Format(Scalar(1.5f)), "a 1.5 b");
  EXPECT_EQ(Format(Iota<int32_t>({6})), "a [0 1 2 3 4 5] b");
  EXPECT_EQ(Format(Iota<int32_t>({7})), "a [0 1 2 ... 4 5 6] b");
  EXPECT_EQ(Format(Iota<int32_t>({10}), 1), "a [0 ... 9] b");
  EXPECT_EQ(Format(Iota<int32_t>({10}), 0), "a [ ...] b");
  EXPECT_EQ(Format(Iota<int32_t>({2, 2, 2})), "a [[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]] b");
  EXPECT_EQ(Format(Iota<int32_t>({8, 8})),
            "a [[0 1 2 ... 5 6 7]\n [8 9 10 ... 13 14 15]\n [16 17 18 ... 21 22 23]\n ...\n [40 41 "
            "42 ... 45 46 47]\n"
            " [48 49 50 ... 53 54 55]\n [56 57 58 ... 61 62 63]] b");
  EXPECT_EQ(Format(Floats({0}, {})), "a [] b");
  EXPECT_EQ(Format(Vec<std::string>({"a b", "c\"d\n\x01'\\"})),
            "a [\"a b\" \"c\\\"d\\n\\001\\'\\\\\"] b");
}

TEST(KernelPrint, SendsLinesToTheSink) {
  OpRun v2("PrintV2");
  v2.In(Scalar<std::string>("hello"))
      .Attr("output_stream", attr::String("stdout"))
      .Attr("end", attr::String("!\n"));
  v2.One();
  EXPECT_EQ(v2.printed(), std::vector<std::string>{"hello!"});
  OpRun bad("PrintV2");
  bad.In(Scalar<std::string>("hello")).Attr("output_stream", attr::String("printer"));
  EXPECT_EQ(bad.ErrorText(),
            "unknown output stream: printer; expected stdout, stderr, log(info), log(warning), "
            "log(error) or file://PATH");
  OpRun v1("Print");
  v1.In(Iota<int32_t>({10}))
      .In(Iota<int32_t>({10}))
      .In(Scalar<std::string>("s"))
      .In(Floats({2, 2}, {1.5f, 2, 3, 4}))
      .Attr("message", attr::String("msg "))
      .Attr("summarize", attr::Int(3))
      .Attr("first_n", attr::Int(-1));
  EXPECT_EQ(DimsOf(v1.One()), std::vector<int64_t>{10});
  EXPECT_EQ(v1.printed(), std::vector<std::string>{"msg [0 1 2...][s][[1.5 2][3...]...]"});
}

TEST(KernelString, AsStringAndJoin) {
  auto as = [](Tensor x) { return OpRun("AsString").In(std::move(x)).Out({proto::DT_STRING}); };
  using S = std::vector<std::string>;
  EXPECT_EQ(Values<std::string>(as(Vec<float>({1, 0.1f, kNaN})).One()),
            (S{"1.000000", "0.100000", "nan"}));
  EXPECT_EQ(Values<std::string>(as(Vec<float>({1})).Attr("precision", attr::Int(2)).One()),
            S{"1.00"});
  EXPECT_EQ(Values<std::string>(as(Vec<float>({0.1f})).Attr("scientific", attr::Bool(true)).One()),
            S{"1.000000e-01"});
  EXPECT_EQ(Values<std::string>(as(Vec<float>({0.1f})).Attr("shortest", attr::Bool(true)).One()),
            S{"0.1"});
  EXPECT_EQ(Values<std::string>(as(Ints({2}, {1, -22}))
                                    .Attr("width", attr::Int(5))
                                    .Attr("fill", attr::String("0"))
                                    .One()),
            (S{"00001", "-0022"}));
  EXPECT_EQ(Values<std::string>(as(Vec<bool>({true})).One()), S{"true"});
  EXPECT_EQ(Values<std::string>(as(Vec<Complex64>({{1, 2}})).One()), S{"(1.000000,2.000000)"});
  EXPECT_EQ(as(Ints({1}, {1})).Attr("precision", attr::Int(5)).ErrorText(),
            "precision not supported for datatype int32");
  Tensor joined = OpRun("StringJoin")
                      .In(Vec<std::string>({"a", "b"}))
                      .In(Scalar<std::string>("c"))
                      .In(Vec<std::string>({"d", "e"}))
                      .Attr("separator", attr::String("-"))
                      .One();
  EXPECT_EQ(Values<std::string>(joined), (S{"a-c-d", "b-c-e"}));
  EXPECT_EQ(
      OpRun("StringJoin").In(Vec<std::string>({"a", "b"})).In(Vec<std::string>({"d"})).ErrorText(),
      "input shapes do not match: [2] vs. [1]");
  EXPECT_EQ(Values<std::string>(OpRun("StringLower").In(Vec<std::string>({"AbC"})).One()),
            S{"abc"});
}

}  // namespace
}  // namespace grapnel
