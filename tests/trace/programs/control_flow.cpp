// Nested loops and branches, with captures, arrays and early exits.
#include "grapnel/trace/predicate_case.h"
#include "grapnel/trace/tensor_array.h"
#include "programs.h"

namespace grapnel {
namespace {

std::array<Value, 2> Collatz(Tracer& t, Value n) {
  auto step = [&](Value n, Value steps) {
    Value next = t.If(
        n % 2 == 0, [&] { return FloorDiv(n, 2); }, [&] { return 3 * n + 1; });
    return Values{next, steps + 1};
  };
  return t.While([](Value n, Value) { return n > 1; }, step, {n, t.Constant(0)});
}
PROGRAM(Collatz, {{"n", kInt32, {}}});

Value NestedLoops(Tracer& t, Value x) {
  auto inner = [&](Value j, Value u) {
    Value next = u * 0.5f + x;
    return Values{j + 1, next};
  };
  auto outer = [&](Value i, Value v) {
    Value w = t.While([](Value j, Value) { return j < 3; }, inner, {t.Constant(0), v})[1];
    return Values{i + 1, w};
  };
  return t.While([](Value i, Value) { return i < 2; }, outer, {t.Constant(0), x})[1];
}
PROGRAM(NestedLoops, {{"x", kFloat, {3}}});

Value CollectSquares(Tracer& t, Value x) {
  TensorArray squares(t, kFloat, 4, {.element_shape = Shape::Scalar()});
  auto body = [&](Value i, Value array) {
    Value v = Slice(x, {i});
    Value next = i + 1;
    return Values{next, squares.With(array).Write(i, v * v)};
  };
  auto loop = t.While([](Value i, Value) { return i < 4; }, body, {t.Constant(0), squares});
  return squares.With(loop[1]).Stack();
}
PROGRAM(CollectSquares, {{"x", kFloat, {4}}});

Values RunningRows(Tracer& t, Value x) {
  TensorArrayOptions rows_of_two = {.element_shape = Shape(llvm::ArrayRef<int64_t>{2})};
  TensorArray rows = TensorArray(t, kFloat, 3, rows_of_two).Unstack(x);
  TensorArray sums(t, kFloat, 3, rows_of_two);
  auto body = [&](Value i, Value total, Value array) {
    Value next = total + rows.Read(i);
    Value step = i + 1;
    return Values{step, next, sums.With(array).Write(i, next)};
  };
  Value zero = t.Constant(0);
  auto loop =
      t.While([](Value i, Value, Value) { return i < 3; }, body, {zero, Zeros(t, {2}), sums});
  return {loop[1], sums.With(loop[2]).Stack()};
}
PROGRAM(RunningRows, {{"x", kFloat, {3, 2}}});

Values GrowingArray(Tracer& t, Value n) {
  TensorArray numbers(t, kInt32, 0, {.dynamic_size = true, .element_shape = Shape::Scalar()});
  auto body = [&](Value i, Value a, Value b, Value array) {
    TensorArray longer = numbers.With(array).Write(i, a);
    Value next = i + 1;
    return Values{next, b, a + b, longer};
  };
  Value zero = t.Constant(0), first = t.Constant(0), second = t.Constant(1);
  auto loop = t.While([&](Value i, Value, Value, Value) { return i < n; }, body,
                      {zero, first, second, numbers});
  TensorArray all = numbers.With(loop[3]);
  Value stacked = all.Stack();
  return {stacked, all.Size()};
}
PROGRAM(GrowingArray, {{"n", kInt32, {}}});

Value BranchInLoop(Tracer& t, Value x) {
  auto body = [&](Value i, Value v) {
    Value even = Equal(i % 2, 0);
    Value next = t.If(
        even, [&] { return v * 2.0f; }, [&] { return v + x; });
    return Values{i + 1, next};
  };
  return t.While([](Value i, Value) { return i < 5; }, body, {t.Constant(0), x})[1];
}
PROGRAM(BranchInLoop, {{"x", kFloat, {3}}});

Value EarlyExit(Tracer& t, Value x) {
  auto go_on = [](Value i, Value done) {
    Value inside = i < 6;
    return LogicalAnd(inside, LogicalNot(done));
  };
  auto body = [&](Value i, Value) {
    Value next = i + 1;
    return Values{next, Slice(x, {i}) < 0.0f};
  };
  Value zero = t.Constant(0), no = t.Constant(false);
  auto [i, done] = t.While(go_on, body, {zero, no});
  return Select(done, i - 1, -1);
}
PROGRAM(EarlyExit, {{"x", kFloat, {6}}});

Value SwitchOfThree(Tracer& t, Value i, Value x) {
  return t.Case(
      i, [&] { return x + 1.0f; }, [&] { return Tanh(x); }, [&] { return -x; });
}
PROGRAM(SwitchOfThree, {{"i", kInt32, {}}, {"x", kFloat, {3}}});

Value CaseOfPredicates(Tracer& t, Value s, Value x) {
  Value small = s < -0.5f;
  Value large = s > 0.5f;
  return PredicateCase(
      t, {{small, [&] { return Values{x - 1.0f}; }}, {large, [&] { return Values{x + 1.0f}; }}},
      [&] { return Values{x * s}; })[0];
}
PROGRAM(CaseOfPredicates, {{"s", kFloat, {}}, {"x", kFloat, {2}}});

Values TwoResults(Tracer& t, Value x, Value flag) {
  auto swap = [&] {
    Value second = Slice(x, {1});
    return std::array<Value, 2>{second, Slice(x, {0})};
  };
  auto keep = [&] {
    Value first = Slice(x, {0});
    return std::array<Value, 2>{first, Slice(x, {1})};
  };
  auto [a, b] = t.If(flag, swap, keep);
  Value difference = a - b;
  return {difference, a * b};
}
PROGRAM(TwoResults, {{"x", kFloat, {2}}, {"flag", kBool, {}}});

}  // namespace
}  // namespace grapnel
