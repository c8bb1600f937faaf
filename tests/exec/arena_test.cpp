#include "lib/exec/arena.h"

#include <random>
#include <thread>

#include "gtest/gtest.h"
#include "lib/support/memory_budget.h"

namespace grapnel {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

BufferRef Take(Allocator& arena, size_t bytes) { return llvm::cantFail(arena.Allocate(bytes)); }
int64_t Counted() { return MemoryBudget::Get().taken(); }

TEST(Arena, AlignsAndCounts) {
  MemoryCounter counter;
  auto arena = MakeArena(IdleMemory::kKept, &counter);
  {
    BufferRef one = Take(*arena, 100), two = Take(*arena, 100000);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(one->data()) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(two->data()) % 64, 0u);
    EXPECT_EQ(two->size(), 100000u);
    EXPECT_EQ(counter.live(), 100100);
  }
  EXPECT_EQ(counter.live(), 0);
  EXPECT_EQ(counter.peak(), 100100);
}

TEST(Arena, TakesTheSmallestPieceThatFits) {
  auto arena = MakeArena(IdleMemory::kKept);
  BufferRef large = Take(*arena, 8 * kMegabyte), between = Take(*arena, 4096);
  BufferRef small = Take(*arena, 2 * kMegabyte), last = Take(*arena, 4096);
  void* at = small->data();
  large.reset();
  small.reset();
  EXPECT_EQ(Take(*arena, kMegabyte)->data(), at);
}

// Sizes that change from run to run reuse the same memory.
TEST(Arena, JoinsNeighbors) {
  auto arena = MakeArena(IdleMemory::kKept);
  int64_t before = Counted();
  for (size_t parts : {1, 2, 3, 5, 7, 4, 2, 1}) {
    std::vector<BufferRef> buffers;
    for (size_t i = 0; i < parts; ++i) buffers.push_back(Take(*arena, 12 * kMegabyte / parts));
  }
  EXPECT_LE(Counted() - before, static_cast<int64_t>(12 * kMegabyte + 7 * 4096));
}

TEST(Arena, BuffersOutliveIt) {
  int64_t before = Counted();
  auto arena = MakeArena(IdleMemory::kKept);
  BufferRef kept = Take(*arena, kMegabyte);
  arena.reset();
  std::memset(kept->data(), 1, kMegabyte);
  kept.reset();
  EXPECT_EQ(Counted(), before);
}

TEST(Arena, GivesBackWhatIsIdle) {
  auto arena = MakeArena(IdleMemory::kGivenBack);
  int64_t before = Counted();
  BufferRef first = Take(*arena, 3 * kMegabyte), second = Take(*arena, kMegabyte);
  std::memset(first->data(), 1, first->size());
  EXPECT_GE(Counted() - before, static_cast<int64_t>(4 * kMegabyte));
  first.reset();
  EXPECT_LE(Counted() - before, static_cast<int64_t>(kMegabyte + 4096));
  // Pages that were returned to the system read as zero again.
  EXPECT_EQ(static_cast<const char*>(Take(*arena, 3 * kMegabyte)->data())[kMegabyte], 0);
}

TEST(Arena, RefusesWhatTheBudgetHasNot) {
  auto arena = MakeArena(IdleMemory::kKept);
  MemoryBudget& budget = MemoryBudget::Get();
  int64_t limit = budget.limit();
  budget.SetLimit(budget.taken() + static_cast<int64_t>(10 * kMegabyte));
  { BufferRef eight = Take(*arena, 8 * kMegabyte); }
  auto twelve = arena->Allocate(12 * kMegabyte);
  EXPECT_FALSE(static_cast<bool>(twelve));
  llvm::consumeError(twelve.takeError());
  // Idle memory is released for others, and counts again when it is reused.
  { BufferRef nine = Take(*arena, 9 * kMegabyte); }
  { BufferRef eight = Take(*arena, 8 * kMegabyte); }
  auto too_large = arena->Allocate(size_t{1} << 60);
  EXPECT_FALSE(static_cast<bool>(too_large));
  llvm::consumeError(too_large.takeError());
  budget.SetLimit(limit);
}

// Each buffer keeps its contents while other threads allocate and free.
TEST(Arena, BuffersNeverOverlap) {
  auto arena = MakeArena(IdleMemory::kKept);
  auto work = [&](uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::pair<BufferRef, unsigned char>> live;
    for (int i = 0; i < 2000; ++i) {
      if (live.size() > 12 || (!live.empty() && random() % 3 == 0)) {
        size_t which = random() % live.size();
        auto* bytes = static_cast<unsigned char*>(live[which].first->data());
        size_t size = live[which].first->size();
        ASSERT_EQ(bytes[0], live[which].second);
        ASSERT_EQ(bytes[size / 2], live[which].second);
        ASSERT_EQ(bytes[size - 1], live[which].second);
        std::swap(live[which], live.back());
        live.pop_back();
        continue;
      }
      size_t size = 1 + random() % (random() % 8 == 0 ? 300000 : 5000);
      auto mark = static_cast<unsigned char>(random());
      live.emplace_back(Take(*arena, size), mark);
      std::memset(live.back().first->data(), mark, size);
    }
  };
  std::thread other(work, 1);
  work(2);
  other.join();
}

}  // namespace
}  // namespace grapnel
