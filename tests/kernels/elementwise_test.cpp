// Elementwise kernels: hand-computed values, broadcasting, and cases where TensorFlow's answer is
// not the obvious one.
#include <cmath>
#include <limits>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Unary(const char* op, Tensor in) { return OpRun(op).In(std::move(in)).One(); }
Tensor Binary(const char* op, Tensor a, Tensor b) {
  return OpRun(op).In(std::move(a)).In(std::move(b)).One();
}
Tensor Compare(const char* op, Tensor a, Tensor b) {
  return OpRun(op).In(std::move(a)).In(std::move(b)).Out({proto::DT_BOOL}).One();
}

void ExpectNear(const Tensor& got, std::vector<float> want, float tolerance = 1e-6f) {
  std::vector<float> values = Values<float>(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(values[i])) << i;
    else if (std::isinf(want[i]))
      EXPECT_EQ(values[i], want[i]) << i;
    else
      EXPECT_NEAR(values[i], want[i], tolerance * std::max(1.0f, std::abs(want[i]))) << i;
  }
}

// TensorFlow's result is slightly too small in whole vectors: docs/reference/found-in-tensorflow.md.
TEST(KernelUnary, TheReciprocalOfOneIsOne) {
  EXPECT_EQ(Values<float>(Unary("Reciprocal", Floats({17}, std::vector<float>(17, 1)))),
            std::vector<float>(17, 1));
}

// erf is 1 where the nearest float is 1, also if input and output share a buffer and there is more
// than one block.
TEST(KernelUnary, ErfReachesOne) {
  std::vector<float> in(3000, 3.84f), want(3000, 1);
  in[7] = -kInf, want[7] = -1;
  in[1500] = kNaN, want[1500] = kNaN;
  in[2999] = 0.5f, want[2999] = 0.5204999f;
  ExpectNear(Unary("Erf", Floats({3000}, in)), want);
  EXPECT_EQ(Values<float>(Unary("Erf", Floats({2}, {3.9311154f, -4.0f}))),
            (std::vector<float>{1, -1}));
}

TEST(KernelBinary, AddsOneShape) {
  ExpectNear(Binary("AddV2", Floats({3}, {1, 2, 3}), Floats({3}, {10, 20, 30})), {11, 22, 33});
}

TEST(KernelBinary, BroadcastsBothSides) {
  Tensor out = Binary("Sub", Floats({2, 1}, {10, 20}), Floats({1, 3}, {1, 2, 3}));
  EXPECT_EQ(DimsOf(out), (std::vector<int64_t>{2, 3}));
  ExpectNear(out, {9, 8, 7, 19, 18, 17});
  ExpectNear(Binary("Sub", Floats({}, {1}), Floats({2}, {3, 5})), {-2, -4});
  ExpectNear(Binary("Sub", Floats({2}, {3, 5}), Floats({}, {1})), {2, 4});
}

// A repeated row is lengthened: 7 rows of 3 end in the middle of the lengthened row.
TEST(KernelBinary, RepeatsAShortRowOnEitherSide) {
  for (bool left : {false, true}) {
    Tensor big = Iota<float>({700, 3}), row = Floats({3}, {1, 2, 3});
    Tensor out = left ? Binary("Sub", row, big) : Binary("Sub", big, row);
    std::vector<float> values = Values<float>(out);
    for (int i = 0; i < 2100; ++i) {
      float want = static_cast<float>(i - (i % 3 + 1)) * (left ? -1 : 1);
      ASSERT_EQ(values[i], want) << i;
    }
  }
}

TEST(KernelBinary, WalksFourDimensions) {
  Tensor out = Binary("Mul", Iota<float>({2, 3, 1, 2}), Iota<float>({3, 4, 1}));
  EXPECT_EQ(DimsOf(out), (std::vector<int64_t>{2, 3, 4, 2}));
  std::vector<float> values = Values<float>(out);
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 3; ++b) {
      for (int c = 0; c < 4; ++c) {
        for (int d = 0; d < 2; ++d) {
          ASSERT_EQ(values[((a * 3 + b) * 4 + c) * 2 + d], ((a * 3 + b) * 2 + d) * (b * 4 + c));
        }
      }
    }
  }
}

// Operands that repeat in short rows: by group, by batch, by column, both at once. The result may
// be in the memory of the full-size operand.
TEST(KernelBinary, RepeatsWhatIsShortInAnyDimension) {
  using D = std::vector<int64_t>;
  const std::pair<D, D> kShapes[] = {
      {{1, 37, 8, 4}, {1, 1, 8, 1}},    {{3, 37, 8, 4}, {3, 1, 8, 1}},
      {{2, 41, 3, 5}, {1, 41, 1, 5}},   {{1, 1, 900, 7}, {1, 1, 900, 1}},
      {{5, 9, 1, 6}, {1, 9, 11, 1}},    {{4, 1, 30, 60}, {4, 1, 1, 60}},
      {{7, 1, 5, 100}, {7, 1, 1, 100}}, {{2, 600, 2, 3}, {1, 600, 1, 1}},
      {{3, 1, 1, 511}, {1, 40, 1, 511}}};
  for (auto [big, small] : kShapes) {
    for (bool left : {false, true}) {
      Tensor a = Iota<float>(left ? small : big), b = Iota<float>(left ? big : small);
      std::vector<float> x = Values<float>(a), y = Values<float>(b);
      const D &p = left ? small : big, &q = left ? big : small;
      D out_dims(4), at(4);
      for (int d = 0; d < 4; ++d) out_dims[d] = std::max(p[d], q[d]);
      Tensor out = Binary("SquaredDifference", std::move(a), std::move(b));
      ASSERT_EQ(DimsOf(out), out_dims);
      for (int64_t i = 0; i < out.num_elements(); ++i) {
        int64_t in_p = 0, in_q = 0;
        for (int64_t d = 4, rest = i; d-- > 0; rest /= out_dims[d]) at[d] = rest % out_dims[d];
        for (int d = 0; d < 4; ++d) {
          in_p = in_p * p[d] + (p[d] == 1 ? 0 : at[d]);
          in_q = in_q * q[d] + (q[d] == 1 ? 0 : at[d]);
        }
        float difference = x[in_p] - y[in_q];
        ASSERT_EQ(out.data<float>()[i], difference * difference) << i;
      }
    }
  }
}

TEST(KernelBinary, WritesOverAnInputThatDies) {
  Tensor a = Iota<float>({100000});
  const void* memory = a.raw();
  Tensor out = Binary("AddV2", std::move(a), Scalar<float>(1));
  EXPECT_EQ(out.raw(), memory);
  EXPECT_EQ(out.data<float>()[99999], 100000);
}

TEST(KernelBinary, LeavesAnInputThatOthersHold) {
  Tensor a = Iota<float>({100});
  Tensor out = Binary("AddV2", a, a);
  EXPECT_NE(out.raw(), a.raw());
  EXPECT_EQ(a.data<float>()[99], 99);
  EXPECT_EQ(out.data<float>()[99], 198);
}

TEST(KernelBinary, TakesEmptyTensors) {
  EXPECT_EQ(DimsOf(Binary("AddV2", Floats({0, 3}, {}), Floats({3}, {1, 2, 3}))),
            (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(DimsOf(Binary("AddV2", Floats({2, 0}, {}), Floats({1}, {1}))),
            (std::vector<int64_t>{2, 0}));
}

TEST(KernelBinary, SaysWhichShapesDoNotFit) {
  EXPECT_EQ(OpRun("AddV2").In(Iota<float>({2, 3})).In(Iota<float>({4})).ErrorText(),
            "incompatible shapes: [2,3] vs. [4]");
}

TEST(KernelBinary, ComputesSmallFloatsAndComplex) {
  using Eigen::bfloat16;
  using Eigen::half;
  EXPECT_EQ(static_cast<float>(*Binary("Mul", Scalar(half(1.5f)), Scalar(half(2.0f))).data<half>()),
            3.0f);
  EXPECT_EQ(
      static_cast<float>(
          *Binary("AddV2", Scalar(bfloat16(256.0f)), Scalar(bfloat16(1.0f))).data<bfloat16>()),
      256.0f);
  EXPECT_EQ(*Binary("Mul", Scalar(Complex64(1, 2)), Scalar(Complex64(3, -1))).data<Complex64>(),
            Complex64(5, 5));
  EXPECT_EQ(*Binary("SquaredDifference", Scalar(Complex64(1, 2)), Scalar(Complex64(0, 0)))
                 .data<Complex64>(),
            Complex64(5, 0));
}

TEST(KernelBinary, JoinsStringsInAdd) {
  Tensor out = Binary("Add", Vec<std::string>({"a", "b"}), Scalar<std::string>("c"));
  EXPECT_EQ(Values<std::string>(out), (std::vector<std::string>{"ac", "bc"}));
}

TEST(KernelBinary, WrapsIntegers) {
  EXPECT_EQ(*Binary("AddV2", Scalar<int8_t>(127), Scalar<int8_t>(1)).data<int8_t>(), -128);
  EXPECT_EQ(*Binary("Mul", Scalar<uint16_t>(65535), Scalar<uint16_t>(65535)).data<uint16_t>(), 1);
  int32_t low = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(*Binary("TruncateDiv", Scalar(low), Scalar(-1)).data<int32_t>(), low);
  EXPECT_EQ(*Binary("FloorMod", Scalar(low), Scalar(-1)).data<int32_t>(), 0);
}

TEST(KernelDivision, RoundsAsEachOpSays) {
  EXPECT_EQ(
      Values<int32_t>(Binary("FloorDiv", Ints({4}, {-7, 7, -7, 7}), Ints({4}, {2, -2, -2, 2}))),
      (std::vector<int32_t>{-4, -4, 3, 3}));
  EXPECT_EQ(
      Values<int32_t>(Binary("FloorMod", Ints({4}, {-7, 7, 1, -1}), Ints({4}, {2, -2, 3, 5}))),
      (std::vector<int32_t>{1, -1, 1, 4}));
  EXPECT_EQ(Values<int32_t>(Binary("Mod", Ints({2}, {-7, 7}), Ints({2}, {2, -2}))),
            (std::vector<int32_t>{-1, 1}));
  EXPECT_EQ(Values<int32_t>(Binary("Div", Ints({2}, {-7, 7}), Ints({2}, {2, -2}))),
            (std::vector<int32_t>{-3, -3}));
  ExpectNear(Binary("FloorDiv", Floats({5}, {-7, 7, 1, -1, 0}), Floats({5}, {2, -2, 0, 0, 0})),
             {-4, -4, kInf, -kInf, kNaN});
  ExpectNear(Binary("FloorMod", Floats({4}, {-7, 7, 5, 5}), Floats({4}, {2, -2, kInf, -kInf})),
             {1, -1, 5, -kInf});
  ExpectNear(Binary("DivNoNan", Floats({2}, {1, 1}), Floats({2}, {0, 4})), {0, 0.25f});
  ExpectNear(Binary("MulNoNan", Floats({2}, {kNaN, kInf}), Floats({2}, {0, 0})), {0, 0});
}

TEST(KernelDivision, RefusesZeroDivisorsAndNegativePowers) {
  for (const char* op : {"Div", "FloorDiv", "FloorMod", "TruncateDiv", "Mod"}) {
    EXPECT_EQ(OpRun(op).In(Ints({2}, {1, 2})).In(Ints({2}, {1, 0})).ErrorText(),
              "integer division by zero")
        << op;
  }
  EXPECT_EQ(OpRun("FloorDiv").In(Ints({2}, {1, 2})).In(Ints({}, {0})).ErrorText(),
            "integer division by zero");
  EXPECT_EQ(OpRun("Pow").In(Ints({}, {2})).In(Ints({}, {-1})).ErrorText(),
            "integers to negative integer powers are not allowed");
}

TEST(KernelPower, ComputesByHand) {
  EXPECT_EQ(Values<int32_t>(Binary("Pow", Ints({3}, {2, -3, 7}), Ints({3}, {10, 3, 0}))),
            (std::vector<int32_t>{1024, -27, 1}));
  ExpectNear(Binary("Pow", Floats({3}, {2, 9, 3}), Floats({3}, {0.5f, 0.5f, 2})),
             {1.41421356f, 3, 9});
  ExpectNear(Binary("Atan2", Floats({2}, {1, -1}), Floats({2}, {1, -1})),
             {0.785398163f, -2.35619449f});
  ExpectNear(Binary("Xlogy", Floats({4}, {0, 0, kNaN, 1}), Floats({4}, {0, kNaN, 1, 0})),
             {0, 0, kNaN, -kInf});
  ExpectNear(Binary("Xdivy", Floats({2}, {0, 1}), Floats({2}, {0, 0})), {0, kInf});
  ExpectNear(Binary("Xlog1py", Floats({2}, {0, 2}), Floats({2}, {-1, 1})), {0, 1.38629436f});
  Tensor made = OpRun("Complex").In(Scalar(1.0f)).In(Scalar(2.0f)).Out({proto::DT_COMPLEX64}).One();
  EXPECT_EQ(*made.data<Complex64>(), Complex64(1, 2));
}

TEST(KernelComparison, AnswersAndKeepsNaN) {
  EXPECT_EQ(Values<bool>(Compare("Less", Floats({3}, {1, 2, kNaN}), Floats({}, {2}))),
            (std::vector<bool>{true, false, false}));
  EXPECT_EQ(Values<bool>(Compare("NotEqual", Floats({2}, {kNaN, 1}), Floats({2}, {kNaN, 1}))),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(Values<bool>(Compare("Equal", Vec<std::string>({"a", "b"}), Scalar<std::string>("b"))),
            (std::vector<bool>{false, true}));
  EXPECT_EQ(Values<bool>(Compare("GreaterEqual", Ints({2}, {1, 2}), Ints({2}, {2, 2}))),
            (std::vector<bool>{false, true}));
  ExpectNear(Binary("Maximum", Floats({3}, {kNaN, 1, 5}), Floats({3}, {1, kNaN, 3})),
             {kNaN, kNaN, 5});
  ExpectNear(Binary("Minimum", Floats({3}, {kNaN, 1, 5}), Floats({3}, {1, kNaN, 3})),
             {kNaN, kNaN, 3});
  Tensor near = OpRun("ApproximateEqual")
                    .In(Floats({2}, {1, 2}))
                    .In(Floats({2}, {1.05f, 2.5f}))
                    .Out({proto::DT_BOOL})
                    .Attr("tolerance", attr::Float(0.1f))
                    .One();
  EXPECT_EQ(Values<bool>(near), (std::vector<bool>{true, false}));
}

TEST(KernelComparison, ShapesThatDoNotFitAreUnequalWhenTheNodeSaysSo) {
  auto run = [](const char* op) {
    return OpRun(op)
        .In(Iota<float>({2, 3}))
        .In(Iota<float>({4}))
        .Out({proto::DT_BOOL})
        .Attr("incompatible_shape_error", attr::Bool(false))
        .One();
  };
  EXPECT_EQ(Values<bool>(run("Equal")), std::vector<bool>{false});
  EXPECT_EQ(Values<bool>(run("NotEqual")), std::vector<bool>{true});
}

TEST(KernelLogical, BitsAndShifts) {
  EXPECT_EQ(Values<bool>(Binary("LogicalAnd", Vec<bool>({true, true}), Vec<bool>({true, false}))),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(Values<int32_t>(Binary("BitwiseXor", Ints({}, {6}), Ints({}, {3}))),
            std::vector<int32_t>{5});
  EXPECT_EQ(
      Values<int32_t>(Binary("LeftShift", Ints({4}, {1, 1, 1, -8}), Ints({4}, {33, -1, 31, 1}))),
      (std::vector<int32_t>{INT32_MIN, 1, INT32_MIN, -16}));
  EXPECT_EQ(Values<int32_t>(Binary("RightShift", Ints({3}, {-8, -8, 16}), Ints({3}, {33, -1, 2}))),
            (std::vector<int32_t>{-1, -8, 4}));
  EXPECT_EQ(Values<int32_t>(Unary("Invert", Ints({}, {5}))), std::vector<int32_t>{-6});
}

TEST(KernelUnary, ComputesByHand) {
  ExpectNear(Unary("Exp", Floats({5}, {0, 1, kNaN, kInf, -kInf})), {1, 2.71828183f, kNaN, kInf, 0});
  ExpectNear(Unary("Log", Floats({5}, {1, 2.71828183f, kNaN, 0, -1})), {0, 1, kNaN, -kInf, kNaN});
  ExpectNear(Unary("Tanh", Floats({9}, {0, 1, kNaN, kInf, -kInf, 20, -20, 1e-5f, 0.5f})),
             {0, 0.761594156f, kNaN, 1, -1, 1, -1, 1e-5f, 0.46211716f});
  ExpectNear(Unary("Sigmoid", Floats({9}, {0, 1, kNaN, kInf, -kInf, 100, -100, -1, 2})),
             {0.5f, 0.731058579f, kNaN, 1, 0, 1, 0, 0.26894142f, 0.88079708f});
  ExpectNear(Unary("Sin", Floats({9}, {0, 1, kNaN, 2, 3, 100, 1e4f, -1, 0.5f})),
             {0, 0.841470985f, kNaN, 0.909297427f, 0.141120008f, -0.50636564f, -0.30561439f,
              -0.841470985f, 0.47942554f});
  ExpectNear(Unary("Cos", Floats({2}, {0, 1})), {1, 0.540302306f});
  ExpectNear(Unary("Sqrt", Floats({3}, {4, 0, -1})), {2, 0, kNaN});
  ExpectNear(Unary("Rsqrt", Floats({9}, {0, -1, 4, kInf, kNaN, 16, 1, 0.25f, 2})),
             {kInf, kNaN, 0.5f, 0, kNaN, 0.25f, 1, 2, 0.70710678f});
  ExpectNear(Unary("Erf", Floats({9}, {0, 0.5f, kNaN, kInf, -kInf, 1, -1, 2, 4})),
             {0, 0.520499878f, kNaN, 1, -1, 0.842700793f, -0.842700793f, 0.995322265f, 1});
  ExpectNear(Unary("Erfinv", Floats({4}, {0.5f, 1, -1, 2})), {0.4769363f, kInf, -kInf, kNaN},
             1e-5f);
  ExpectNear(Unary("Lgamma", Floats({4}, {0, -1, -1.5f, 3})),
             {kInf, kInf, 0.86004704f, 0.6931472f});
  ExpectNear(Unary("Digamma", Floats({4}, {0, -1, -1.5f, 3})), {kNaN, kNaN, 0.7031568f, 0.9227842f},
             1e-5f);
  ExpectNear(Unary("Round", Floats({5}, {0.5f, 1.5f, 2.5f, -0.5f, kNaN})), {0, 2, 2, 0, kNaN});
  ExpectNear(Unary("Sign", Floats({3}, {kNaN, -0.0f, 2})), {kNaN, 0, 1});
  ExpectNear(Unary("Expm1", Floats({2}, {1e-6f, 1})), {1e-6f, 1.71828183f});
  ExpectNear(Unary("Reciprocal", Floats({2}, {4, 0})), {0.25f, kInf});
  EXPECT_EQ(Values<int32_t>(Unary("Abs", Ints({2}, {-3, INT32_MIN}))),
            (std::vector<int32_t>{3, INT32_MIN}));
  EXPECT_EQ(Values<int32_t>(Unary("Neg", Ints({2}, {-3, INT32_MIN}))),
            (std::vector<int32_t>{3, INT32_MIN}));
}

// Long enough for the vector loops: their first and last elements must agree with libm.
TEST(KernelUnary, VectorLoopsAgreeWithLibm) {
  struct Pair {
    const char* op;
    float (*libm)(float);
    float low, high;
  };
  const Pair kPairs[] = {{"Exp", std::exp, -80, 80},          {"Log", std::log, 1e-6f, 1000},
                         {"Tanh", std::tanh, -9, 9},          {"Sin", std::sin, -50, 50},
                         {"Cos", std::cos, -50, 50},          {"Erf", std::erf, -4, 4},
                         {"Log1p", std::log1p, -0.9f, 90},    {"Expm1", std::expm1, -5, 20},
                         {"Atan", std::atan, -9, 9},          {"Sinh", std::sinh, -20, 20},
                         {"Cosh", std::cosh, -20, 20},        {"Erfc", std::erfc, -9, 9},
                         {"Atanh", std::atanh, -0.99f, 0.99f}};
  for (const Pair& pair : kPairs) {
    Tensor in = Iota<float>({1003});
    for (int i = 0; i < 1003; ++i)
      in.data<float>()[i] = pair.low + (pair.high - pair.low) * i / 1002;
    std::vector<float> x = Values<float>(in), y = Values<float>(Unary(pair.op, in));
    for (int i = 0; i < 1003; ++i) {
      float want = pair.libm(x[i]);
      ASSERT_NEAR(y[i], want, 2e-6f * std::max(1.0f, std::abs(want))) << pair.op << " of " << x[i];
    }
  }
}

// Puts each special value in every lane of a vector, and in the elements after the last vector.
TEST(KernelUnary, VectorLoopsKeepSpecialValues) {
  struct Case {
    const char* op;
    std::vector<float> of_nan_inf_minus_inf_zero;
  };
  const Case kCases[] = {{"Exp", {kNaN, kInf, 0, 1}},
                         {"Log", {kNaN, kInf, kNaN, -kInf}},
                         {"Tanh", {kNaN, 1, -1, 0}},
                         {"Sigmoid", {kNaN, 1, 0, 0.5f}},
                         {"Sqrt", {kNaN, kInf, kNaN, 0}},
                         {"Rsqrt", {kNaN, 0, kNaN, kInf}},
                         {"Erf", {kNaN, 1, -1, 0}},
                         {"Sin", {kNaN, kNaN, kNaN, 0}},
                         {"Cos", {kNaN, kNaN, kNaN, 1}},
                         {"Relu", {kNaN, kInf, 0, 0}},
                         {"Ceil", {kNaN, kInf, -kInf, 0}},
                         {"Rint", {kNaN, kInf, -kInf, 0}},
                         {"Elu", {kNaN, kInf, -1, 0}},
                         {"Softplus", {kNaN, kInf, 0, 0.6931472f}},
                         {"Expm1", {kNaN, kInf, -1, 0}},
                         {"Log1p", {kNaN, kInf, kNaN, 0}},
                         {"Sinh", {kNaN, kInf, -kInf, 0}},
                         {"Cosh", {kNaN, kInf, kInf, 1}},
                         {"Selu", {kNaN, kInf, -1.7580993f, 0}},
                         {"_MklFusedMish", {kNaN, kInf, kNaN, 0}}};
  const float kIn[] = {kNaN, kInf, -kInf, 0};
  for (const Case& c : kCases) {
    for (int k = 0; k < 4; ++k) {
      SCOPED_TRACE(std::string(c.op) + " of " + std::to_string(kIn[k]));
      ExpectNear(Unary(c.op, Floats({19}, std::vector<float>(19, kIn[k]))),
                 std::vector<float>(19, c.of_nan_inf_minus_inf_zero[k]));
    }
  }
}

TEST(KernelUnary, AnswersAboutFloats) {
  Tensor x = Floats({4}, {1, kNaN, kInf, -kInf});
  auto ask = [&](const char* op) {
    return Values<bool>(OpRun(op).In(x).Out({proto::DT_BOOL}).One());
  };
  EXPECT_EQ(ask("IsNan"), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(ask("IsInf"), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(ask("IsFinite"), (std::vector<bool>{true, false, false, false}));
}

TEST(KernelUnary, TakesComplexNumbersApart) {
  Tensor z = Scalar(Complex64(3, -4));
  auto real = [&](const char* op) {
    return *OpRun(op).In(z).Out({proto::DT_FLOAT}).One().data<float>();
  };
  EXPECT_EQ(real("Real"), 3);
  EXPECT_EQ(real("Imag"), -4);
  EXPECT_EQ(real("ComplexAbs"), 5);
  EXPECT_NEAR(real("Angle"), -0.927295218, 1e-6);
  EXPECT_EQ(*Unary("Conj", z).data<Complex64>(), Complex64(3, 4));
}

TEST(KernelActivation, LetsNaNThrough) {
  ExpectNear(Unary("Relu", Floats({3}, {kNaN, -1, 2})), {kNaN, 0, 2});
  ExpectNear(Unary("Relu6", Floats({4}, {kNaN, -1, 2, 7})), {kNaN, 0, 2, 6});
  ExpectNear(Unary("Elu", Floats({3}, {kNaN, -2, 7})), {kNaN, -0.86466473f, 7});
  ExpectNear(Unary("Selu", Floats({3}, {kNaN, -2, 7})), {kNaN, -1.5201665f, 7.354907f});
  ExpectNear(Unary("Softplus", Floats({4}, {kNaN, 100, -100, 0})), {kNaN, 100, 0, 0.6931472f});
  ExpectNear(Unary("Softsign", Floats({2}, {1, -3})), {0.5f, -0.75f});
  ExpectNear(
      OpRun("LeakyRelu").In(Floats({3}, {kNaN, -2, 7})).Attr("alpha", attr::Float(0.1f)).One(),
      {kNaN, -0.2f, 7});
}

TEST(KernelSelect, BroadcastsAllThree) {
  Tensor out = OpRun("SelectV2")
                   .In(Make<bool>({2, 1}, {true, false}))
                   .In(Floats({3}, {1, 2, 3}))
                   .In(Floats({}, {9}))
                   .Out({proto::DT_FLOAT})
                   .One();
  EXPECT_EQ(DimsOf(out), (std::vector<int64_t>{2, 3}));
  ExpectNear(out, {1, 2, 3, 9, 9, 9});
  Tensor rows = OpRun("Select")
                    .In(Vec<bool>({false, true}))
                    .In(Floats({2, 2}, {1, 2, 3, 4}))
                    .In(Floats({2, 2}, {5, 6, 7, 8}))
                    .Out({proto::DT_FLOAT})
                    .One();
  ExpectNear(rows, {5, 6, 3, 4});
  Tensor strings = OpRun("SelectV2")
                       .In(Vec<bool>({true, false}))
                       .In(Scalar<std::string>("y"))
                       .In(Vec<std::string>({"a", "b"}))
                       .Out({proto::DT_STRING})
                       .One();
  EXPECT_EQ(Values<std::string>(strings), (std::vector<std::string>{"y", "b"}));
}

TEST(KernelClip, KeepsNaNAndTheLowerBound) {
  auto clip = [](Tensor x, float low, float high) {
    return OpRun("ClipByValue").In(std::move(x)).In(Scalar(low)).In(Scalar(high)).One();
  };
  ExpectNear(clip(Floats({3}, {kNaN, 5, -5}), -1, 1), {kNaN, 1, -1});
  ExpectNear(clip(Floats({3}, {0, 5, -5}), 2, 1), {2, 2, 2});
}

TEST(KernelAddN, AddsAndRefusesOtherShapes) {
  ExpectNear(
      OpRun("AddN").In(Floats({2}, {1, 2})).In(Floats({2}, {3, 4})).In(Floats({2}, {5, 6})).One(),
      {9, 12});
  EXPECT_EQ(OpRun("AddN").In(Floats({2}, {1, 2})).In(Floats({1}, {3})).ErrorText(),
            "inputs must have the same shape: input 0 is [2], input 1 is [1]");
  EXPECT_EQ(*OpRun("L2Loss").In(Floats({2}, {3, 4})).One().data<float>(), 12.5f);
}

template <typename To, typename From>
std::vector<To> CastTo(std::vector<From> values, bool truncate = false) {
  return Values<To>(OpRun("Cast")
                        .In(Vec<From>(std::move(values)))
                        .Attr("SrcT", attr::Type(DataTypeOf<From>()))
                        .Attr("Truncate", attr::Bool(truncate))
                        .Out({DataTypeOf<To>()})
                        .One());
}

TEST(KernelCast, OverflowsAsTheProcessorDoes) {
  std::vector<float> x = {kNaN, kInf, -kInf, 300, -1, 2.7f, -2.7f};
  EXPECT_EQ((CastTo<int32_t>(x)),
            (std::vector<int32_t>{INT32_MIN, INT32_MIN, INT32_MIN, 300, -1, 2, -2}));
  EXPECT_EQ((CastTo<uint8_t>(x)), (std::vector<uint8_t>{0, 0, 0, 44, 255, 2, 254}));
  EXPECT_EQ((CastTo<int64_t>(x)),
            (std::vector<int64_t>{INT64_MIN, INT64_MIN, INT64_MIN, 300, -1, 2, -2}));
  EXPECT_EQ((CastTo<uint64_t>(std::vector<float>{-1, 1e19f})),
            (std::vector<uint64_t>{UINT64_MAX, 9999999980506447872ull}));
  EXPECT_EQ((CastTo<bool>(x)), (std::vector<bool>{true, true, true, true, true, true, true}));
}

TEST(KernelCast, ConvertsEveryKind) {
  EXPECT_EQ((CastTo<bool>(std::vector<Complex64>{{0, 0}, {0, 1}, {1, 0}})),
            (std::vector<bool>{false, false, true}));
  EXPECT_EQ((CastTo<int32_t>(std::vector<Complex64>{{1.9f, 5}})), std::vector<int32_t>{1});
  EXPECT_EQ((CastTo<Complex128>(std::vector<int8_t>{-3})), (std::vector<Complex128>{{-3.0, 0.0}}));
  EXPECT_EQ(static_cast<float>(CastTo<Eigen::half>(std::vector<double>{1.0 / 3})[0]), 0.333251953f);
  EXPECT_EQ(static_cast<float>(CastTo<Eigen::bfloat16>(std::vector<float>{1.999f})[0]), 2.0f);
  EXPECT_EQ(static_cast<float>(CastTo<Eigen::bfloat16>(std::vector<float>{1.999f}, true)[0]),
            1.9921875f);
  EXPECT_TRUE(std::isnan(static_cast<float>(CastTo<Eigen::bfloat16>(std::vector<float>{kNaN})[0])));
}

TEST(KernelScan, AllFourWays) {
  auto scan = [](const char* op, bool exclusive, bool reverse) {
    return Values<int32_t>(OpRun(op)
                               .In(Ints({2, 3}, {1, 2, 3, 4, 5, 6}))
                               .In(Ints({}, {-1}))
                               .Attr("exclusive", attr::Bool(exclusive))
                               .Attr("reverse", attr::Bool(reverse))
                               .One());
  };
  using V = std::vector<int32_t>;
  EXPECT_EQ(scan("Cumsum", false, false), (V{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(scan("Cumsum", true, false), (V{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(scan("Cumsum", false, true), (V{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(scan("Cumprod", true, true), (V{6, 3, 1, 30, 6, 1}));
  EXPECT_EQ(OpRun("Cumsum").In(Ints({1}, {1})).In(Ints({}, {5})).ErrorText(),
            "expected an axis in [-1, 1), got 5");
}

TEST(KernelUnaryOpsComposition, RunsOneAfterTheOther) {
  Tensor in = Floats({4}, {1, 4, 0.25f, kNaN});
  OpRun run("_UnaryOpsComposition");
  run.Attr("op_names", attr::Strings({"Sqrt", "Log", "Relu"})).In(std::move(in));
  ExpectNear(run.One(), {0, std::log(2.0f), 0, kNaN});
  // More than one block, the last one partial.
  Tensor many = Iota<float>({5000});
  OpRun longer("_UnaryOpsComposition");
  longer.Attr("op_names", attr::Strings({"Neg", "Abs"})).In(many);
  EXPECT_EQ(Values<float>(longer.One()), Values<float>(many));
  OpRun none("_UnaryOpsComposition");
  none.Attr("op_names", attr::Strings({"Exp"})).In(Floats({0}, {}));
  EXPECT_EQ(none.One().num_elements(), 0);
}

TEST(KernelUnaryOpsComposition, NamesTheOpThatItCannotRun) {
  OpRun run("_UnaryOpsComposition");
  run.Attr("op_names", attr::Strings({"Exp", "IsNan"})).In(Floats({1}, {1}));
  EXPECT_EQ(run.ErrorText(), "'IsNan' cannot be part of a composition for dtype float");
  OpRun empty("_UnaryOpsComposition");
  EXPECT_EQ(empty.In(Floats({1}, {1})).ErrorText(), "op_names must be a list of at least one op");
}

TEST(KernelQuantize, RoundsToWhatAnIntegerHolds) {
  auto quantize = [](float low, float high) {
    OpRun run("QuantizeAndDequantizeV2");
    run.Attr("num_bits", attr::Int(3)).Attr("range_given", attr::Bool(true));
    return run.In(Vec<float>({-9, -1, 0, 0.5f, 1, 9}))
        .In(Vec<float>({low}).Reshaped({}))
        .In(Vec<float>({high}).Reshaped({}));
  };
  // -4..3 represent -4..3: halves round to even, values out of range to the ends.
  ExpectNear(quantize(-4, 3).One(), {-4, -1, 0, 0, 1, 3});
  // The end that needs the smaller scale determines it: steps of 2.
  ExpectNear(quantize(-8, 3).One(), {-8, 0, 0, 0, 0, 6});
  EXPECT_EQ(quantize(2, 1).ErrorText(), "input_min must be at most input_max, got 2.00 and 1.00");
}

}  // namespace
}  // namespace grapnel
