#include "lib/watch/tensor_expression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lib/watch/array_text.h"
#include "lib/watch/tensor_slice.h"
#include "lib/watch/tensor_summary.h"

namespace grapnel {
namespace {

Tensor Make(DataType dtype, Dims dims, std::vector<long double> values) {
  NumberArray array;
  array.dtype = dtype;
  array.dims = std::move(dims);
  array.values = std::move(values);
  return llvm::cantFail(TensorOf(array));
}

Expected<Tensor> Lookup(llvm::StringRef name) {
  if (name == "x") return Make(proto::DT_FLOAT, {2, 3}, {1, -2, 3, 4, 0.5, -6});
  if (name == "y" || name == "a-b/y:1") return Make(proto::DT_INT32, {1, 3}, {7, 8, 9});
  if (name == "z") return Make(proto::DT_DOUBLE, {3}, {1, NAN, INFINITY});
  if (name == "b") return Make(proto::DT_BOOL, {3}, {1, 0, 1});
  if (name == "e") return Make(proto::DT_FLOAT, {0}, {});
  if (name == "u") return Make(proto::DT_UINT8, {2}, {250, 10});
  if (name == "w") return Make(proto::DT_UINT64, {2}, {9007199254740993, 18446744073709551614U});
  if (name == "s") return Tensor::FromLiteral(Literal::MakeStrings({2}, {"one", "two"}));
  if (name == "c") {
    NumberArray array;
    array.dtype = proto::DT_COMPLEX64;
    array.dims = {2};
    array.values = {3, 0};
    array.imaginary = {4, -1};
    return TensorOf(array);
  }
  return MakeError("tensor '{0}' not found", name);
}

Expected<Tensor> Evaluate(llvm::StringRef text) {
  ASSIGN_OR_RETURN(TensorExpression expression, TensorExpression::Parse(text));
  return expression.Evaluate(Lookup);
}

std::string Text(llvm::StringRef text) {
  auto tensor = Evaluate(text);
  return tensor ? ArrayText(*tensor) : TextOf(tensor.takeError());
}

struct Case {
  const char *expression, *text;  // repr() of NumPy 2.4.6's result
};

// clang-format off
const Case kCases[] = {
    {"x[0]", R"(array([ 1., -2.,  3.], dtype=float32))"},
    {"x[:, 1]", R"(array([-2. ,  0.5], dtype=float32))"},
    {"x[-1, ::-1]", R"(array([-6. ,  0.5,  4. ], dtype=float32))"},
    {"x[..., 0]", R"(array([1., 4.], dtype=float32))"},
    {"x[1:, :2]", R"(array([[4. , 0.5]], dtype=float32))"},
    {"x[None, 0]", R"(array([[ 1., -2.,  3.]], dtype=float32))"},
    {"x[5:]", R"(array([], shape=(0, 3), dtype=float32))"},
    {"y[0, -2]", R"(array(8, dtype=int32))"},
    {"x + 1", R"(array([[ 2. , -1. ,  4. ],
       [ 5. ,  1.5, -5. ]], dtype=float32))"},
    {"x * y", R"(array([[  7., -16.,  27.],
       [ 28.,   4., -54.]]))"},
    {"x / 2", R"(array([[ 0.5 , -1.  ,  1.5 ],
       [ 2.  ,  0.25, -3.  ]], dtype=float32))"},
    {"2 ** y", R"(array([[128, 256, 512]], dtype=int32))"},
    {"y // 2", R"(array([[3, 4, 4]], dtype=int32))"},
    {"y % 4", R"(array([[3, 0, 1]], dtype=int32))"},
    {"-y", R"(array([[-7, -8, -9]], dtype=int32))"},
    {"y - 10", R"(array([[-3, -2, -1]], dtype=int32))"},
    {"x + z", R"(array([[ 2., nan, inf],
       [ 5., nan, inf]]))"},
    {"b + 1", R"(array([2, 1, 2]))"},
    {"y * 1.5", R"(array([[10.5, 12. , 13.5]]))"},
    {"u + 10", R"(array([ 4, 20], dtype=uint8))"},
    {"np.abs(x)", R"(array([[1. , 2. , 3. ],
       [4. , 0.5, 6. ]], dtype=float32))"},
    {"np.sum(x)", R"(array(0.5, dtype=float32))"},
    {"np.sum(x, axis=0)", R"(array([ 5. , -1.5, -3. ], dtype=float32))"},
    {"np.sum(x, axis=1, keepdims=True)", R"(array([[ 2. ],
       [-1.5]], dtype=float32))"},
    {"np.sum(y)", R"(array(24))"},
    {"np.sum(b)", R"(array(2))"},
    {"np.sum(u)", R"(array(260, dtype=uint64))"},
    {"np.mean(x)", R"(array(0.08333334, dtype=float32))"},
    {"np.mean(y)", R"(array(8.))"},
    {"np.max(x)", R"(array(4., dtype=float32))"},
    {"np.min(x, axis=1)", R"(array([-2., -6.], dtype=float32))"},
    {"np.argmax(x)", R"(array(3))"},
    {"np.argmin(x, axis=1)", R"(array([1, 2]))"},
    {"np.max(z)", R"(array(nan))"},
    {"np.isnan(z)", R"(array([False,  True, False]))"},
    {"np.isinf(z)", R"(array([False, False,  True]))"},
    {"np.any(np.isnan(z))", R"(array(True))"},
    {"np.all(x > -10)", R"(array(True))"},
    {"x > 0", R"(array([[ True, False,  True],
       [ True,  True, False]]))"},
    {"(x > 0) & (x < 4)", R"(array([[ True, False,  True],
       [False,  True, False]]))"},
    {"~b", R"(array([False,  True, False]))"},
    {"np.std(x)", R"(array(3.3218553, dtype=float32))"},
    {"np.var(y)", R"(array(0.66666667))"},
    {"np.median(x)", R"(array(0.75, dtype=float32))"},
    {"np.prod(y)", R"(array(504))"},
    {"np.sqrt(np.abs(x))", R"(array([[1.        , 1.4142135 , 1.7320508 ],
       [2.        , 0.70710677, 2.4494898 ]], dtype=float32))"},
    {"np.square(y)", R"(array([[49, 64, 81]], dtype=int32))"},
    {"np.where(x > 0, x, 0)", R"(array([[1. , 0. , 3. ],
       [4. , 0.5, 0. ]], dtype=float32))"},
    {"np.maximum(x, 0)", R"(array([[1. , 0. , 3. ],
       [4. , 0.5, 0. ]], dtype=float32))"},
    {"np.minimum(x, y)", R"(array([[ 1. , -2. ,  3. ],
       [ 4. ,  0.5, -6. ]]))"},
    {"np.count_nonzero(x)", R"(array(6))"},
    {"np.round(x)", R"(array([[ 1., -2.,  3.],
       [ 4.,  0., -6.]], dtype=float32))"},
    {"np.floor(x)", R"(array([[ 1., -2.,  3.],
       [ 4.,  0., -6.]], dtype=float32))"},
    {"np.sign(x)", R"(array([[ 1., -1.,  1.],
       [ 1.,  1., -1.]], dtype=float32))"},
    {"np.exp(y)", R"(array([[1096.63315843, 2980.95798704, 8103.08392758]]))"},
    {"np.log(u)", R"(array([5.52 , 2.303], dtype=float16))"},
    {"x == 4", R"(array([[False, False, False],
       [ True, False, False]]))"},
    {"x != x", R"(array([[False, False, False],
       [False, False, False]]))"},
    {"y <= 8", R"(array([[ True,  True, False]]))"},
    {"np.sum(e)", R"(array(0., dtype=float32))"},
    {"np.shape(x)", R"(array([2, 3]))"},
    {"np.size(x)", R"(array(6))"},
    {"np.mean(b)", R"(array(0.66666667))"},
    {"1 + 2", R"(array(3))"},
    {"7 / 2", R"(array(3.5))"},
    {"7 // 2", R"(array(3))"},
    {"-7 // 2", R"(array(-4))"},
    {"-7 % 3", R"(array(2))"},
    {"2 ** 3 ** 2", R"(array(512))"},
    {"-2 ** 2", R"(array(-4))"},
    {"np.ndim(x)", R"(array(2))"},
    {"u == [250, 11]", R"(array([ True, False]))"},
    {"w == 9007199254740992", R"(array([False, False]))"},
    {"w == 18446744073709551614", R"(array([False,  True]))"},
    {"w - 9007199254740993", R"(array([                   0, 18437736874454810621], dtype=uint64))"},
    {"18446744073709551615", R"(array(18446744073709551615, dtype=uint64))"},
    {"[18446744073709551615, 1]", R"(array([18446744073709551615,                    1], dtype=uint64))"},
    {"-9223372036854775808", R"(array(-9223372036854775808))"},
    {"9223372036854775807 + 1", R"(array(9223372036854775808, dtype=uint64))"},
    {"9223372036854775808 - 9223372036854775809", R"(array(-1))"},
};
// clang-format on

TEST(TensorExpression, GivesWhatNumPyGives) {
  for (const Case& the_case : kCases)
    EXPECT_EQ(Text(the_case.expression), the_case.text) << the_case.expression;
}

// Evaluation in blocks gives the same as for small tensors.
TEST(TensorExpression, IsTheSameOfLargeTensors) {
  constexpr int kSize = 20000;
  for (DataType dtype : {proto::DT_FLOAT, proto::DT_INT32, proto::DT_UINT8, proto::DT_HALF}) {
    std::vector<long double> values(kSize);
    for (int i = 0; i < kSize; ++i) values[i] = (i * 7919) % 101;
    values[kSize - 3] = 120;
    Tensor large = Make(dtype, {kSize / 2, 2}, values);
    auto lookup = [&](llvm::StringRef) -> Expected<Tensor> { return large; };
    // With an axis, everything is computed at once.
    auto at_once = [&](const std::string& name, const std::string& of) {
      std::string text = llvm::formatv("{0}({0}({1}, axis=1))", name, of).str();
      return ArrayText(
          llvm::cantFail(llvm::cantFail(TensorExpression::Parse(text)).Evaluate(lookup)));
    };
    for (const char* name : {"min", "max", "any", "all", "sum"}) {
      for (const char* of :
           {"x", "x - 50", "abs(x * 2) > 3", "isfinite(x)", "where(x > 4, x, 7)"}) {
        std::string text = std::string(name) + "(" + of + ")";
        Tensor made =
            llvm::cantFail(llvm::cantFail(TensorExpression::Parse(text)).Evaluate(lookup));
        EXPECT_EQ(ArrayText(made), at_once(name, of))
            << text << " of " << DataTypeName(dtype).str();
      }
    }
    auto are_true = [&](const char* text) {
      return llvm::cantFail(llvm::cantFail(TensorExpression::Parse(text)).AreTrue(lookup));
    };
    EXPECT_TRUE(are_true("x <= 120"));
    EXPECT_FALSE(are_true("x < 120"));
    EXPECT_TRUE(are_true("x == x +- 0"));
  }
  std::vector<long double> values(kSize, 1);
  values[kSize / 2] = NAN;
  Tensor large = Make(proto::DT_FLOAT, {kSize}, values);
  auto text = [&](const char* expression) {
    return ArrayText(
        llvm::cantFail(llvm::cantFail(TensorExpression::Parse(expression))
                           .Evaluate([&](llvm::StringRef) -> Expected<Tensor> { return large; })));
  };
  EXPECT_EQ(text("max(x)"), "array(nan, dtype=float32)");
  EXPECT_EQ(text("min(x)"), "array(nan, dtype=float32)");
  EXPECT_EQ(text("mean(x)"), "array(nan, dtype=float32)");
  EXPECT_EQ(text("count_nonzero(isnan(x))"), "array(1)");
}

TEST(TensorExpression, AsksOfShapesDtypesAndStrings) {
  const std::pair<const char*, bool> cases[] = {
      {"shape(x) == [2, 3]", true},
      {"shape(x) == [?, 3]", true},
      {"shape(x) == [None,None]", true},
      {"shape(x) != [?, 3]", false},
      {"shape(x) == [2]", false},
      {"shape(s) == [2] and rank(s) == 1 and size(s) == 2", true},
      {"shape(x) == shape(y)", false},
      {"shape(x[0]) == shape(z)", true},
      {"dtype(x) == float", true},
      {"dtype(x) == tf.float32", true},
      {"'float64' == dtype(z)", true},
      {"dtype(x) != int32", true},
      {"dtype(x + 1) == dtype(x)", true},
      {"dtype(s) == string", true},
      {"s[0] == 'one' and \"two\" == s[1]", true},
      {"any(s == 'two')", true},
      {"x[0, 0] == 1.01 +- 0.02", true},
      {"x[0, 0] == 1.01 +- 0.005", false},
      {"x[0, 0] != 1.01 +- 0.005", true},
      {"u[1] - 3 == 7 +- 0", true},
      {"inf == inf +- 1 and not nan == nan +- 1", true},
      {"(u[0] +-1) == 249", true},
      {"sum(x) == 0.5 +- 1e-6 or x[0, 0] == 2", true},
  };
  for (const auto& [text, expected] : cases) {
    auto expression = TensorExpression::Parse(text);
    ASSERT_TRUE(static_cast<bool>(expression)) << text << ": " << TextOf(expression.takeError());
    EXPECT_EQ(llvm::cantFail(expression->IsTrue(Lookup)), expected) << text;
  }
}

// x is float[?,3], y int32 of an unknown shape, w a constant, v and u float[s1,?].
TensorExpression::Form FormOf(llvm::StringRef name) {
  TensorExpression::Form form;
  if (name == "x") form = {proto::DT_FLOAT, Shape({kUnknownDim, 3}), Tensor()};
  if (name == "y") form = {proto::DT_INT32, Shape(), Tensor()};
  if (name == "v" || name == "u") form = {proto::DT_FLOAT, Shape({-2, kUnknownDim}), Tensor()};
  if (name == "w") form = {proto::DT_FLOAT, Shape({2}), Make(proto::DT_FLOAT, {2}, {1, 4})};
  return form;
}

TEST(TensorExpression, IsDecidedWhereFormsDo) {
  constexpr std::optional<bool> kOpen;
  const std::pair<const char*, std::optional<bool>> cases[] = {
      {"rank(x) == 2", true},
      {"rank(x) == 3", false},
      {"rank(y) == 2", kOpen},
      {"shape(x) == [?, 3]", true},
      {"shape(x) == [2, 3]", kOpen},
      {"shape(x) == [2, 4]", false},
      {"shape(x) == [?]", false},
      {"shape(x) != [?, 3]", false},
      {"shape(x)[1] == 3 and shape(x)[-1] < 4", true},
      {"shape(x)[0] == 3", kOpen},
      {"shape(u)[0] == shape(v)[0]", kOpen},
      {"shape(u) == shape(v)", kOpen},
      {"shape(y) == [1]", kOpen},
      {"dtype(x) == float and dtype(y) == int32", true},
      {"dtype(x) == dtype(y)", false},
      {"size(w) == 2", true},
      {"size(x) == 2", kOpen},
      {"max(w) < 3", false},
      {"min(w) > 0 and w[1] == 4", true},
      {"min(x) > 0", kOpen},
      {"min(x) > 0 and rank(x) == 1", false},
      {"min(x) > 0 or rank(x) == 2", true},
      {"min(x) > 0 or rank(x) == 1", kOpen},
      {"not rank(x) == 1", true},
      {"rank(x) + 1 == 3 +- 0.5", true},
      {"w > 0", true},
      {"w > 1", false},
      {"sum(w / 0) == 1", false},
      {"w[5] == 1", kOpen},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(llvm::cantFail(TensorExpression::Parse(text)).Decide(FormOf), expected) << text;
}

TEST(TensorExpression, ReadsNamesAndWordsOfOthers) {
  EXPECT_EQ(Text("`a-b/y:1` + 1"), "array([[ 8,  9, 10]], dtype=int32)");
  EXPECT_EQ(Text("x.max()"), "array(4., dtype=float32)");
  EXPECT_EQ(Text("x[0].sum(axis=0)"), "array(2., dtype=float32)");
  EXPECT_EQ(Text("tf.reduce_sum(y)"), "array(24)");
  EXPECT_EQ(Text("np.isnan(np.nan) and not False or False"), "array(True)");
  EXPECT_EQ(Text("s[1:]"), "array([b'two'], dtype=object)");
  EXPECT_EQ(Text("abs(c)"), "array([5., 1.], dtype=float32)");
  EXPECT_EQ(Text("imag(c)"), "array([ 4., -1.], dtype=float32)");
  EXPECT_EQ(Text("has_inf_or_nan(z)"), "array(True)");
  EXPECT_EQ(Text("has_nan(x)"), "array(False)");
  auto expression = llvm::cantFail(TensorExpression::Parse("x + max(y) * x"));
  EXPECT_EQ(expression.Tensors(), std::vector<std::string>({"x", "y"}));
}

TEST(TensorExpression, SaysWhatIsWrong) {
  EXPECT_EQ(Text("x +"), "column 4: a tensor, a number or a function was expected, not the end");
  EXPECT_EQ(Text("x y"), "column 3: an operator or the end was expected, not 'y'");
  EXPECT_EQ(Text("(x"), "column 3: ')' was expected, not the end");
  EXPECT_EQ(Text("x[0"), "column 4: ',' or ']' was expected, not the end");
  EXPECT_EQ(Text("x[::0]"), "column 6: the step of a slice is 0");
  EXPECT_EQ(Text("x[2]"), "index 2 is out of range: axis 0 of shape [2,3] has 2 elements");
  EXPECT_EQ(Text("x[0, 0, 0]"), "3 indices are too many for a tensor of shape [2,3]");
  EXPECT_EQ(Text("x < 99999999999999999999"),
            "column 5: 99999999999999999999 is greater than the greatest integer, "
            "18446744073709551615: with a decimal point it is a double");
  EXPECT_EQ(Text("-9223372036854775809"),
            "column 2: -9223372036854775809 is less than the least integer, "
            "-9223372036854775808: with a decimal point it is a double");
  EXPECT_EQ(Text("x + u"), "shapes [2,3] and [2] do not broadcast");
  EXPECT_EQ(Text("s + 1"), "+: string[2] [\"one\",\"two\"] holds no numbers");
  EXPECT_EQ(Text("c + 1"), "+ does not take complex numbers: take their abs(), real() or imag()");
  EXPECT_EQ(Text("max(e)"), "max: the array has no elements");
  EXPECT_EQ(Text("max(x, y)"), "max takes 1 arguments, 2 are given");
  EXPECT_EQ(Text("y // 0"), "//: an integer is divided by zero");
  EXPECT_EQ(Text("maxx(x)"), "function 'maxx' not found; did you mean 'max'?");
  EXPECT_EQ(
      Text("x and y"),
      "'and' takes operands of one element, and one has 6: use any(...), all(...), or & and |");
  EXPECT_EQ(Text("q + 1"), "tensor 'q' not found");
  EXPECT_EQ(Text(std::string(1000, '(')), "the expression is nested more than 200 deep");
}

TEST(TensorExpression, AsksForTruth) {
  auto is_true = [](llvm::StringRef text) {
    return llvm::cantFail(TensorExpression::Parse(text)).IsTrue(Lookup);
  };
  EXPECT_TRUE(llvm::cantFail(is_true("max(x) > 3")));
  EXPECT_FALSE(llvm::cantFail(is_true("any(x > 10)")));
  EXPECT_EQ(TextOf(is_true("x > 3").takeError()),
            "'x > 3' has 6 elements of shape [2,3], one was expected: use any(...) or all(...)");
}

TEST(TensorSlice, PutsElementsInPlace) {
  auto with = [](llvm::StringRef name, llvm::StringRef slice, llvm::StringRef value) {
    auto made = WithElements(*Lookup(name), slice, llvm::cantFail(Evaluate(value)));
    return made ? ArrayText(*made) : TextOf(made.takeError());
  };
  EXPECT_EQ(with("y", "[0, 1]", "5"), "array([[7, 5, 9]], dtype=int32)");
  EXPECT_EQ(with("y", "", "1"), "array([[1, 1, 1]], dtype=int32)");
  EXPECT_EQ(with("x", "[:, 0]", "u"),
            "array([[250. ,  -2. ,   3. ],\n       [ 10. ,   0.5,  -6. ]], dtype=float32)");
  EXPECT_EQ(with("w", "[0]", "18446744073709551615"),
            "array([18446744073709551615, 18446744073709551614], dtype=uint64)");
  EXPECT_EQ(with("x", "[0]", "u"), "a value of shape [2] does not broadcast to shape [3]");
  EXPECT_EQ(with("x", "[0]", "s[0]"),
            "a value of dtype string does not fit a tensor of dtype float");
}

TEST(TensorSummary, CountsAndMeasures) {
  EXPECT_EQ(llvm::cantFail(NumericSummary(*Lookup("z"))),
            "| nan + +inf | total |\n|   1 1    1 |     3 |\n"
            "| min max mean std |\n|   1   1    1   0 |\n");
  EXPECT_EQ(llvm::cantFail(NumericSummary(*Lookup("b"))),
            "| False True | total |\n|     1    2 |     3 |\n");
  EXPECT_EQ(llvm::cantFail(ChannelsText(*Lookup("x"), 0, 1)),
            "index  min  max      mean     std  nan  inf  zero\n"
            "    0  -2     3  0.666667  2.0548    0    0     0\n... 1 more\n");
  EXPECT_EQ(TextOf(HistogramText(*Lookup("c"), 2).takeError()),
            "the numbers are complex: take their abs(), real() or imag() first");
}

}  // namespace
}  // namespace grapnel
