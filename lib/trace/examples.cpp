#include "lib/trace/examples.h"

#include "lib/trace/ops.h"
#include "lib/trace/trace.h"

namespace grapnel {
namespace {

// The harmonic mean of a vector: n / (1/x[0] + ... + 1/x[n-1]). The minimum is computed, but
// unused.
Value HarmonicMean(Tracer&, Value x) {
  ReduceMin(x);
  Value n = Cast(Size(x), proto::DT_FLOAT);
  return n / ReduceSum(1.0f / x);
}

// HarmonicMean with the minimum printed: printing is an effect, so no optimizer may drop the
// minimum.
Value HarmonicMeanPrint(Tracer& t, Value x) {
  t.Print("min: {}", {ReduceMin(x)});
  Value n = Cast(Size(x), proto::DT_FLOAT);
  return n / ReduceSum(1.0f / x);
}

// Replaces an even n with n / 2 and an odd n with 3n + 1 until n is 1; counts the steps.
std::array<Value, 2> Collatz(Tracer& t, Value n) {
  auto not_done = [](Value n, Value) { return n > 1; };
  auto step = [&t](Value n, Value steps) {
    auto half = [&] { return FloorDiv(n, 2); };
    auto triple = [&] { return 3 * n + 1; };
    Value next = t.If(n % 2 == 0, half, triple);
    return Values{next, steps + 1};
  };
  return t.While(not_done, step, {n, t.Constant(0)});
}

Literal Floats(llvm::ArrayRef<int64_t> dims, const std::vector<float>& values) {
  return Literal::Make(proto::DT_FLOAT, dims,
                       {reinterpret_cast<const char*>(values.data()), values.size() * 4});
}

// Adapts a function of a Tracer and one value to TraceExample::call.
template <typename Fn>
auto CallOf(Fn fn) {
  return [fn](Tracer& t, llvm::ArrayRef<Value> args) { return Tracer::ListOf(fn(t, args[0])); };
}

std::vector<TraceExample>* MakeExamples() {
  auto* examples = new std::vector<TraceExample>{
      {"collatz",
       "a While with an If in it: 27 takes 111 steps to 1",
       {{"n", proto::DT_INT32, {}}},
       CallOf(Collatz),
       nullptr,
       {{"n:0", Literal::Scalar(proto::DT_INT32, 27)}},
       {{"Identity:0", Literal::Scalar(proto::DT_INT32, 1)},
        {"Identity_1:0", Literal::Scalar(proto::DT_INT32, 111)}}},
      {"harmonic_mean",
       "a few ops, one of them unused",
       {{"x", proto::DT_FLOAT, {3}}},
       CallOf(HarmonicMean),
       nullptr,
       {{"x:0", Floats({3}, {1, 2, 4})}},
       {{"Identity:0", Floats({}, {12.0f / 7})}}},
      {"harmonic_mean_print",
       "harmonic_mean with a Print that a control edge keeps alive",
       {{"x", proto::DT_FLOAT, {3}}},
       CallOf(HarmonicMeanPrint),
       nullptr,
       {{"x:0", Floats({3}, {1, 2, 4})}},
       {{"Identity:0", Floats({}, {12.0f / 7})}}},
  };
  for (TraceExample& example : *examples) {
    example.trace = [&example] {
      return TraceFunction(example.name, example.inputs, example.call);
    };
  }
  return examples;
}

}  // namespace

const std::vector<TraceExample>& TraceExamples() {
  static const auto* const kExamples = MakeExamples();
  return *kExamples;
}

}  // namespace grapnel
