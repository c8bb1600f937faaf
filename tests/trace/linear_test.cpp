// Tracing and gradients stay linear: ten times the size takes at most ten times as long, in each
// program of sized_programs.h. Measures thread time, so other load on the machine matters little.
#include <cstdlib>
#include <ctime>

#include "tests/trace/sized_programs.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

double ThreadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Times of the trace, and of the gradient in it.
struct Seconds {
  double trace = 0, gradient = 0;
};

Seconds TimesOf(const SizedProgram& program, int64_t size) {
  Seconds seconds;
  double begin = ThreadSeconds();
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {8, 8}, "x");
  Value y = program.build(t, x, size);
  double built = ThreadSeconds();
  Values gradients = Gradients(t, {y}, {x});
  seconds.gradient = ThreadSeconds() - built;
  EXPECT_TRUE(gradients[0].ok()) << program.name;
  auto module = t.Finish({y, gradients[0]});
  EXPECT_TRUE(bool(module)) << program.name << ": " << TextOf(module.takeError());
  seconds.trace = ThreadSeconds() - begin - seconds.gradient;
  return seconds;
}

// The slowdown of a program ten times as large; more than ten if it no longer fits the caches.
// Disturbances only lengthen a run, so the shortest of a few counts.
void ExpectLinear(const SizedProgram& program, int64_t size) {
  constexpr double kMost = 20;
  constexpr int kTries = 5;
  Seconds small, large;
  auto try_both = [&](bool is_first) {
    auto least = [&](double& kept, double time) { kept = is_first ? time : std::min(kept, time); };
    Seconds one = TimesOf(program, size), ten = TimesOf(program, 10 * size);
    least(small.trace, one.trace), least(small.gradient, one.gradient);
    least(large.trace, ten.trace), least(large.gradient, ten.gradient);
    return large.trace < kMost * small.trace && large.gradient < kMost * small.gradient;
  };
  bool is_linear = try_both(true);
  for (int i = 1; i < kTries && !is_linear; ++i) is_linear = try_both(false);
  EXPECT_LT(large.trace, kMost * small.trace) << program.name << ", the trace";
  EXPECT_LT(large.gradient, kMost * small.gradient) << program.name << ", the gradient";
}

// With --full up to a million ops: stack depth must not grow with the graph.
TEST(Linear, TenTimesTheSizeTakesTenTimesAsLong) {
  for (const SizedProgram& program : SizedPrograms())
    ExpectLinear(program, std::getenv("GRAPNEL_FULL") ? program.largest / 10 : 1'000);
}

// An imported graph has numbered names: new names do not try each of them again.
TEST(Linear, GoesOnWithALargeGraphAtOnce) {
  auto seconds_of = [](int64_t size) {
    Tracer first;
    Value x = first.Placeholder(proto::DT_FLOAT, {8, 8}, "x");
    auto module = Traced(first.Finish({sized::Wide(first, x, size)}));
    Tracer t(std::move(module));
    double begin = ThreadSeconds();
    Value again = t.Find("x");
    for (int64_t i = 0; i < size; ++i) Tanh(again);
    EXPECT_EQ(Tanh(again).name(), "Tanh_" + std::to_string(2 * size) + ":0");
    return ThreadSeconds() - begin;
  };
  double small = seconds_of(2'000), large = seconds_of(20'000);
  for (int i = 0; i < 4 && large > 20 * small; ++i) {
    small = std::min(small, seconds_of(2'000));
    large = std::min(large, seconds_of(20'000));
  }
  EXPECT_LT(large, 20 * small);
}

}  // namespace
}  // namespace grapnel
