// Strings, data pipelines, assertions, printing, random numbers.
#include "grapnel/trace/check_ops.h"
#include "grapnel/trace/dataset.h"
#include "grapnel/trace/random_ops.h"
#include "grapnel/trace/string_ops.h"
#include "programs.h"

namespace grapnel {
namespace {

using data::Dataset;

Values JoinAndLower(Tracer&, Value x, Value y) {
  Value joined = strings::Join({x, y}, "-");
  Value lower = strings::Lower(joined);
  return {lower, strings::Length(joined)};
}
PROGRAM(JoinAndLower, {{"x", kString, {3}}, {"y", kString, {3}}});

Values Texts(Tracer&, Value x, Value i) {
  Value part = strings::Substr(x, 0, 0);
  Value number = strings::AsString(i);
  Value named = strings::RegexReplace(x, "[aeiou]", "*");
  Value both = named + number;
  Value bucket = strings::ToHashBucketFast(x, 100);
  return {part, both, bucket, strings::Upper(x)};
}
PROGRAM(Texts, {{"x", kString, {4}}, {"i", kInt32, {4}}});

Values SumOfDataset(Tracer& t, Value n) {
  Dataset numbers = Dataset::Range(t, n);
  Value zero = t.Constant(0, kInt64);
  return numbers.Reduce({zero},
                        [](Values total, Values x) { return Values{total[0] + x[0] * x[0]}; });
}
PROGRAM(SumOfDataset, {{"n", kInt64, {}}});

Values MapAndBatch(Tracer& t, Value x, Value w) {
  Dataset rows = Dataset::FromTensorSlices(t, {x});
  Dataset batches =
      rows.Map([&](Values row) { return Values{row[0] * w}; }).Batch(2, /*drop_remainder=*/true);
  return batches.Reduce({Zeros(t, {2, 2})}, [](Values total, Values batch) {
    return Values{total[0] + Tanh(batch[0])};
  });
}
PROGRAM(MapAndBatch, {{"x", kFloat, {6, 2}}, {"w", kFloat, {2}}});

Values ZipAndFilter(Tracer& t, Value i, Value x) {
  Dataset numbers = Dataset::FromTensorSlices(t, {i});
  Dataset pairs = Dataset::Zip({numbers, Dataset::FromTensorSlices(t, {x})});
  Dataset some = pairs.Filter([](Values pair) { return Values{pair[0] > 2}; }).Take(3);
  return some.Reduce({t.Constant(0.0f)}, [](Values total, Values pair) {
    return Values{total[0] + Cast(pair[0], kFloat) * pair[1]};
  });
}
PROGRAM(ZipAndFilter, {{"i", kInt32, {5}}, {"x", kFloat, {5}}});

Values FlatMapAndRepeat(Tracer& t, Value n) {
  Dataset numbers = Dataset::Range(t, 1, n);
  Dataset all = numbers.FlatMap([&](Values i) { return Dataset::Range(t, i[0]); })
                    .Repeat(2)
                    .Skip(1)
                    .Shuffle(8, 7)
                    .Prefetch(2);
  return all.Reduce({t.Constant(0, kInt64)},
                    [](Values total, Values x) { return Values{total[0] * 3 + x[0]}; });
}
PROGRAM(FlatMapAndRepeat, {{"n", kInt64, {}}});

Value AssertAllPositive(Tracer&, Value x) {
  Assert(ReduceAll(x > 0.0f), {x}, 5);
  return Sqrt(x);
}
PROGRAM(AssertAllPositive, {{"x", kFloat, {3}}});

Value AssertComparisons(Tracer&, Value x, Value y) {
  Value shape = ShapeOf(x);
  AssertEqual(shape, ShapeOf(y), {.message = "x and y must be alike"});
  AssertGreater(x, 0.0f);
  AssertLess(y, 100.0f);
  AssertNonNegative(x);
  return x + y;
}
PROGRAM(AssertComparisons, {{"x", kFloat, {kAny, 3}}, {"y", kFloat, {kAny, 3}}});

Value AssertStatic(Tracer&, Value x, Value i) {
  AssertRank(x, 2);
  AssertType(i, kInt32);
  AssertRankAtLeast(i, 1);
  AssertScalar(ReduceSum(x));
  AssertInteger(i);
  return EnsureShape(x, Shape(llvm::ArrayRef<int64_t>{kAny, 3})) * 2.0f;
}
PROGRAM(AssertStatic, {{"x", kFloat, {kAny, kAny}}, {"i", kInt32, {2}}});

const PrintOptions kToNowhere = {.output_stream = "file:///dev/null"};

Value PrintInLoop(Tracer& t, Value x) {
  auto body = [&](Value i, Value v) {
    t.Print("step {}", {i}, kToNowhere);
    Value next = i + 1;
    return Values{next, v * 0.5f};
  };
  return t.While([](Value i, Value) { return i < 3; }, body, {t.Constant(0), x})[1];
}
PROGRAM(PrintInLoop, {{"x", kFloat, {3}}});

Value PrintInBranch(Tracer& t, Value x) {
  auto positive = [&] {
    t.Print("positive: {}", {x}, kToNowhere);
    return Sqrt(x);
  };
  return t.If(x > 0.0f, positive, [&] { return x * 0.0f; });
}
PROGRAM(PrintInBranch, {{"x", kFloat, {}}});

Values StatelessDraws(Tracer& t, Value seed) {
  Value uniform = StatelessUniform(t, {3}, seed);
  Value normal = StatelessNormal(t, {2, 2}, seed, {.mean = 1, .stddev = 2});
  UniformOptions whole = {.minimum = 3, .maximum = 9, .dtype = kInt32};
  return {uniform, normal, StatelessUniform(t, {4}, seed, whole)};
}
PROGRAM(StatelessDraws, {{"seed", kInt32, {2}}});

Value SeededDraws(Tracer& t, Value x) {
  Value noise = RandomNormal(t, {3}, {.seed = 11});
  Value scale = RandomUniform(t, {}, {.minimum = 1, .maximum = 2, .seed = 12});
  return x + noise * scale;
}
PROGRAM(SeededDraws, {{"x", kFloat, {3}}});

Value StatelessDropout(Tracer& t, Value x, Value seed) {
  Value draws = StatelessUniform(t, {4, 5}, seed);
  Value keep = Cast(draws >= 0.25f, kFloat);
  return x * keep / 0.75f;
}
PROGRAM(StatelessDropout, {{"x", kFloat, {4, 5}}, {"seed", kInt32, {2}}});

}  // namespace
}  // namespace grapnel
