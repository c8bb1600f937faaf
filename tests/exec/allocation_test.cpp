// A run in the steady state allocates nothing: counts calls of a replacement of malloc, unless a
// sanitizer's build has its own.
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <numeric>

#include "kernels/common/onednn_loader.h"
#include "lib/io/open.h"
#include "lib/trace/ops.h"
#include "lib/trace/trace.h"
#include "tests/exec/loop_graph.h"

// gcc announces sanitizers by a macro, clang by a feature.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GRAPNEL_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(GRAPNEL_TSAN)
#define GRAPNEL_SANITIZED
#endif

#if defined(__GLIBC__) && !defined(GRAPNEL_SANITIZED)

namespace {
std::atomic<bool> counts{false};
std::atomic<int64_t> allocations{0};
void Count() {
  if (counts.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}
}  // namespace

// Visible to the C++ library, unlike the rest of this file.
#pragma GCC visibility push(default)
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  Count();
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  Count();
  return __libc_realloc(old, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
void* memalign(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, size_t alignment, size_t size) {
  Count();
  *result = __libc_memalign(alignment, size);
  return *result ? 0 : ENOMEM;
}
}
#pragma GCC visibility pop

namespace grapnel {
namespace {

// 0, 1, 2, ...
Tensor Counting(llvm::ArrayRef<int64_t> dims) {
  std::vector<float> values(NumElements(dims).value());
  std::iota(values.begin(), values.end(), 0.0f);
  return FloatTensor(dims, values);
}

// Returns the allocations of the last ten of thirty runs, with the feeds copied (they share their
// memory) and the results dropped each time.
int64_t AllocationsLater(Executor& executor, const std::vector<Tensor>& feeds) {
  std::vector<Tensor> results(executor.num_fetches());
  allocations = 0;
  for (int i = 0; i < 30; ++i) {
    std::vector<Tensor> given = feeds;
    counts = i >= 20;
    Error error = executor.Run(given, results);
    counts = false;
    EXPECT_EQ(TextOf(std::move(error)), "");
    for (Tensor& result : results) result = Tensor();
  }
  return allocations;
}

int64_t AllocationsOf(const Module& module, int threads, const std::vector<Tensor>& feeds) {
  ThreadPool pool(threads);
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.pool = &pool;
  auto executor = llvm::cantFail(Executor::Compile(module.main, options));
  // On a busy machine nodes may overlap in a new way in a later run, and need memory for that once.
  int64_t least = INT64_MAX;
  for (int i = 0; i < 3 && least > 0; ++i)
    least = std::min(least, AllocationsLater(*executor, feeds));
  return least;
}

TEST(Allocations, TheCountCounts) {
  counts = true;
  allocations = 0;
  { std::vector<int> some(1000); }
  counts = false;
  EXPECT_GE(allocations, 1);
}

TEST(Allocations, NoneInElementwiseOpsAndMatMul) {
  auto module =
      llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {8, 16}}}, [](Tracer& t, Value x) {
        Value weights = t.Constant(Counting({16, 16}).ToLiteral());
        Value hidden = Tanh(MatMul(x, weights) + 1.0f);
        Value above = Square(x) + 1.0f;
        return Relu(hidden * x - 2.0f) / above;
      }));
  for (int threads : {1, 2})
    EXPECT_EQ(AllocationsOf(*module, threads, {Counting({8, 16})}), 0) << threads;
}

// oneDNN allocates three small blocks for every run of one of its primitives: this excludes them.
TEST(Allocations, NoneInLenet) {
  WithoutOnednn plain;
  auto module = llvm::cantFail(OpenGraph("testdata/models/lenet/graph.pb"));
  for (int threads : {1, 2})
    EXPECT_EQ(AllocationsOf(*module, threads, {Counting({2, 16, 16, 1})}), 0) << threads;
}

// Long enough for helpers, which are started once and kept.
TEST(Allocations, NoneWhereHelpersTakeNodes) {
  auto module =
      llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {200000}}}, [](Tracer& t, Value x) {
        // Each of the four is a step of its own: the reversals prevent fusion.
        auto reversed = [&](const char* op) -> Value {
          return t.Op("ReverseV2", {t.Op(op, {x}), t.Constant(std::vector<int32_t>{0})});
        };
        Value waves = reversed("Sin") + reversed("Cos"),
              roots = reversed("Sqrt") + reversed("Tanh");
        return waves * roots;
      }));
  EXPECT_EQ(AllocationsOf(*module, 2, {Counting({200000})}), 0);
}

TEST(Allocations, NoneInTheBodyOfAWhile) {
  auto module = llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {4}}}, [](Tracer& t, Value x) {
    return t.While([&](Value i, Value) { return i < 50; },
                   [&](Value i, Value y) {
                     Value half = y * 0.5f;
                     return Values{i + 1, half + x};
                   },
                   {t.Constant(0), x})[1];
  }));
  for (int threads : {1, 2})
    EXPECT_EQ(AllocationsOf(*module, threads, {Counting({4})}), 0) << threads;
}

TEST(Allocations, NoneInALoopOfSingleNodes) {
  LoopGraph graph({"Neg", "Square", "Tanh"}, 10);
  for (int threads : {1, 2}) {
    ThreadPool pool(threads);
    auto executor = graph.Compile(pool);
    EXPECT_EQ(AllocationsLater(*executor, {FloatTensor({}, {50})}), 0) << threads;
  }
}

}  // namespace
}  // namespace grapnel

#endif
