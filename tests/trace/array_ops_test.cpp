// Slices, shapes of numbers and scalars, nested constants, cases of predicates, and their errors.
// tests/python/programs_test.py compares graphs with TensorFlow's.
#include "lib/trace/array_ops.h"

#include "lib/trace/math_ops.h"
#include "lib/trace/nn_ops.h"
#include "lib/trace/predicate_case.h"
#include "lib/trace/random_ops.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using Texts = std::vector<std::string>;

std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

std::string ConstantText(const Module& module, llvm::StringRef name) {
  auto literal = Literal::FromConst(module.main.Find(name));
  return literal ? (DataTypeName(literal->dtype()) + Shape(literal->dims()).ToString() + " " +
                    literal->ToString())
                       .str()
                 : llvm::toString(literal.takeError());
}

TEST(Constants, OfNestedLists) {
  Tracer t;
  t.Constant({{1, 2}, {3, 4}});
  t.Constant({{{1.0f}, {2.0f}}, {{3.0f}, {4.0f}}});
  t.Constant(std::vector<std::vector<double>>{{1, 2, 3}});
  t.Constant({{true}, {false}});
  t.Constant(std::vector<std::string>{"a", "b"});
  t.Constant({{1, 2}, {3, 4}}, proto::DT_HALF);
  t.Constant(std::vector<std::vector<std::vector<int64_t>>>{{{7}}});
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(ConstantText(*module, "Const"), "int32[2,2] [1,2,3,4]");
  EXPECT_EQ(ConstantText(*module, "Const_1"), "float[2,2,1] [1,2,3,4]");
  EXPECT_EQ(ConstantText(*module, "Const_2"), "double[1,3] [1,2,3]");
  EXPECT_EQ(ConstantText(*module, "Const_3"), "bool[2,1] [true,false]");
  EXPECT_EQ(ConstantText(*module, "Const_4"), "string[2] [\"a\",\"b\"]");
  EXPECT_EQ(ConstantText(*module, "Const_5"), "half[2,2] [1,2,3,4]");
  EXPECT_EQ(ConstantText(*module, "Const_6"), "int64[1,1,1] [7]");
}

TEST(Slices, HaveTheShapesOfPython) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {4, 6, 5}, "x");
  Value i = t.Placeholder(proto::DT_INT32, {}, "i");
  EXPECT_EQ(Slice(x, {1}).shape(), Shape(Dims{6, 5}));
  EXPECT_EQ(Slice(x, {-1, -1, -1}).shape(), Shape::Scalar());
  EXPECT_EQ(Slice(x, {kEllipsis, Span({}, 2)}).shape(), Shape(Dims{4, 6, 2}));
  EXPECT_EQ(Slice(x, {kNewAxis, kAll, kNewAxis}).shape(), Shape(Dims{1, 4, 1, 6, 5}));
  EXPECT_EQ(Slice(x, {Span(3, 0, -2)}).shape(), Shape(Dims{2, 6, 5}));
  EXPECT_EQ(Slice(x, {i, Span(1)}).shape(), Shape(Dims{5, 5}));
  EXPECT_EQ(SliceOf(x, {0, 1, 0}, {1, 2, -1}).shape(), Shape(Dims{1, 2, 5}));
  EXPECT_EQ(Split(x, 3, 1)[2].shape(), Shape(Dims{4, 2, 5}));
  EXPECT_EQ(Split(x, std::vector<int>{1, 4}, -1)[1].shape(), Shape(Dims{4, 6, 4}));
  EXPECT_EQ(Unstack(x, -2).size(), 6u);
  EXPECT_EQ(Transpose(x).shape(), Shape(Dims{5, 6, 4}));
  Traced(t.Finish());
}

TEST(Slices, NumbersAndScalarsArePacked) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {kUnknownDim, 3}, "x");
  Value n = t.Placeholder(proto::DT_INT64, {}, "n");
  Zeros(t, {n, 2});
  ReshapeTo(x, {n, -1});
  Tile(x, {2, 1});
  Fill(t, {2}, n);
  Range(t, 0, n, 2);
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(ConstantText(*module, "zeros/packed/1"), "int64[] 2");
  EXPECT_EQ(LineOf(module->main, "Reshape/shape"), "Reshape/shape = Pack(n, Reshape/shape/1)");
  EXPECT_EQ(ConstantText(*module, "Tile/multiples"), "int32[2] [2,1]");
  EXPECT_EQ(ConstantText(*module, "range/delta"), "int64[] 2");
}

TEST(Cases, NoDefaultAndExclusiveOnesAssert) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    Value low = x<0.0f, high = x> 1.0f;
    auto same = [&] { return Values{x}; };
    auto twice = [&] { return Values{x * 2.0f}; };
    Value a = PredicateCase(t, {{low, same}, {high, twice}})[0];
    Value b = PredicateCase(t, {{low, same}, {high, twice}}, same, /*exclusive=*/true)[0];
    return Values{a, b};
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "case/cond"), "case/cond = If(Less, x, Less, Greater)");
  EXPECT_EQ(LineOf(module->main, "case_1/preds_c"), "case_1/preds_c = Pack(Less, Greater)");
  EXPECT_EQ(LineOf(module->main, "case_1/cond"),
            "case_1/cond = StatelessIf(Less, x, Greater, ^case_1/Assert/AssertGuard/Identity)");
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(ArrayOps, TheOnlyPredicateOfACaseIsChecked) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    return PredicateCase(t, {{x > 0.0f, [&] { return Values{x * 2.0f}; }}});
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "case/preds_c"), "case/preds_c = Pack(Greater)");
  EXPECT_EQ(LineOf(module->main, "case/Cast"), "case/Cast = Cast(case/preds_c_1)");
  EXPECT_EQ(LineOf(module->main, "case/Assert_1/AssertGuard"),
            "case/Assert_1/AssertGuard = If(Greater, Greater, case/preds_c, "
            "^case/Assert/AssertGuard)");
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(Errors, AtTheLineOfTheCall) {
  Tracer t, other;
  Value x = t.Placeholder(proto::DT_FLOAT, {2, 3}, "x");
  Value far = other.Placeholder(proto::DT_FLOAT, {2, 3}, "far");
  Value wide = t.Placeholder(proto::DT_FLOAT, {kUnknownDim}, "wide");
  int line = __LINE__;
  Slice(x, {kEllipsis, kEllipsis});
  Unstack(wide);
  Gather(x, far);
  Softmax(Cast(x, proto::DT_INT32));
  t.Constant({{1, 2}, {3}}, proto::DT_FLOAT);
  PredicateCase(t, {{x, [&] { return Values{x}; }}});
  Zeros(t, {2, 1.5f});
  BooleanMask(x, t.Placeholder(proto::DT_BOOL, {}, "mask"));
  std::string errors = ErrorsOf(t.Finish());
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(errors).split(lines, '\n');
  ASSERT_EQ(lines.size(), 8u) << errors;
  EXPECT_EQ(lines[0], At(line + 1) + "a slice has one ellipsis at most");
  EXPECT_TRUE(lines[1].contains("op 'Unpack': the size of dimension 0 of shape ["))
      << lines[1].str();
  EXPECT_EQ(lines[2].find(At(line + 3)), 0u) << lines[2].str();
  EXPECT_TRUE(lines[2].contains("belongs to another Tracer")) << lines[2].str();
  EXPECT_TRUE(lines[3].contains("op 'Softmax': does not support int32")) << lines[3].str();
  EXPECT_TRUE(lines[4].contains("rows of different lengths")) << lines[4].str();
  EXPECT_EQ(lines[5], At(line + 6) + "case: a predicate is float, bool was expected");
  EXPECT_EQ(lines[6].find(At(line + 7)), 0u) << lines[6].str();
  EXPECT_TRUE(lines[7].contains("boolean_mask: the mask has shape []")) << lines[7].str();
}

}  // namespace
}  // namespace grapnel
