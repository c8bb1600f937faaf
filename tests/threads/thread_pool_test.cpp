// Loops of the pool with as many threads as there are cores, fewer and more.
#include "lib/support/thread_pool.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

constexpr double kWorthSplitting = 1e9;

class ThreadPoolTest : public testing::TestWithParam<int> {};

// Loops follow one another at once, then after a while in which all threads fall asleep.
TEST_P(ThreadPoolTest, EachUnitIsDoneOnceInEachLoop) {
  ThreadPool pool(GetParam());
  for (int total : {2, 3, 7, 64, 1000}) {
    std::vector<int> done(total);
    for (int loop = 0; loop < 50; ++loop) {
      if (loop == 25) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      pool.ParallelFor(total, kWorthSplitting, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) ++done[i];
      });
    }
    EXPECT_EQ(done, std::vector<int>(total, 50));
  }
}

// A part that takes long: the caller, which has no part left, sleeps and is woken.
TEST_P(ThreadPoolTest, ALoopEndsWithItsSlowestPart) {
  ThreadPool pool(GetParam());
  for (int slow = 0; slow < 8; ++slow) {
    std::vector<int> done(8);
    pool.ParallelFor(8, kWorthSplitting, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (i == slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        ++done[i];
      }
    });
    EXPECT_EQ(done, std::vector<int>(8, 1));
  }
}

TEST_P(ThreadPoolTest, ALoopInALoopAndLoopsOfOtherThreadsRunToo) {
  ThreadPool pool(GetParam());
  std::atomic<int> done{0};
  auto loops = [&] {
    for (int i = 0; i < 20; ++i) {
      pool.ParallelFor(8, kWorthSplitting, [&](int64_t begin, int64_t end) {
        pool.ParallelFor(end - begin, kWorthSplitting,
                         [&](int64_t from, int64_t to) { done += static_cast<int>(to - from); });
      });
    }
  };
  std::thread other(loops);
  loops();
  other.join();
  EXPECT_EQ(done, 2 * 20 * 8);
}

TEST_P(ThreadPoolTest, WhatABodyThrowsComesBackAndTheNextLoopRuns) {
  ThreadPool pool(GetParam());
  auto throws = [](int64_t begin, int64_t end) {
    if (begin <= 5 && 5 < end) throw std::runtime_error("five");
  };
  EXPECT_THROW(pool.ParallelFor(8, kWorthSplitting, throws), std::runtime_error);
  std::atomic<int64_t> done{0};
  pool.ParallelFor(8, kWorthSplitting, [&](int64_t begin, int64_t end) { done += end - begin; });
  EXPECT_EQ(done, 8);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 4, 16));

}  // namespace
}  // namespace grapnel
