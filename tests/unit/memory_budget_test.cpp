// The memory budget, and loops whose body throws.
#include "lib/support/memory_budget.h"

#include <stdexcept>

#include "gtest/gtest.h"
#include "lib/support/thread_pool.h"

namespace grapnel {
namespace {

TEST(MemoryBudget, CountsAndRefuses) {
  MemoryBudget& budget = MemoryBudget::Get();
  int64_t before = budget.limit();
  budget.SetLimit(budget.taken() + 100);
  EXPECT_TRUE(budget.Take(60));
  EXPECT_FALSE(budget.Take(60));
  EXPECT_TRUE(budget.Allows(40));
  EXPECT_FALSE(budget.Allows(41));
  budget.Give(60);
  EXPECT_TRUE(budget.Take(100));
  budget.Give(100);
  EXPECT_EQ(TextOf(CheckMemory(26, 4)),
            "cannot allocate 104 B: " + TextOf(MemoryRefused(104)).substr(23));
  EXPECT_FALSE(static_cast<bool>(CheckMemory(25, 4)));
  EXPECT_FALSE(static_cast<bool>(CheckMemory(-1, 1 << 20)));
  Error huge = CheckMemory(INT64_MAX, 8);
  EXPECT_TRUE(huge.isA<OutOfMemory>());
  huge = Annotate("node 'x'", std::move(huge));
  EXPECT_TRUE(huge.isA<OutOfMemory>());
  llvm::consumeError(std::move(huge));
  budget.SetLimit(before);
}

TEST(MemoryBudget, ReadsSizes) {
  EXPECT_EQ(*ParseMemory("8G"), 8000000000);
  EXPECT_EQ(*ParseMemory("1.5mb"), 1500000);
  EXPECT_EQ(*ParseMemory("4096"), 4096);
  EXPECT_GT(*ParseMemory("90%"), *ParseMemory("10%"));
  for (const char* wrong : {"", "G", "-1G", "8Q", "0", "1e30", "nan"}) {
    auto parsed = ParseMemory(wrong);
    EXPECT_FALSE(parsed) << wrong;
    llvm::consumeError(parsed.takeError());
  }
}

TEST(ThreadPool, ThrowsWhatABodyThrows) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(pool.ParallelFor(1000, 1e6,
                                  [](int64_t begin, int64_t end) {
                                    if (begin <= 500 && 500 < end) throw std::length_error("500");
                                  }),
                 std::length_error);
    std::atomic<int64_t> sum{0};
    pool.ParallelFor(1000, 1e6, [&](int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 1000);
  }
}

}  // namespace
}  // namespace grapnel
