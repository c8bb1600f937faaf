// Partitions that wake each other, stepped by one thread or several.
#include "lib/exec/partition_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "lib/exec/rendezvous.h"

namespace grapnel {
namespace {

using std::chrono::milliseconds;

void Nothing(int) {}

std::string Ran(PartitionWorkers& workers) {
  Error error = workers.Run();
  return error ? TextOf(std::move(error)) : "";
}

TEST(PartitionWorkersTest, EachPartitionIsSteppedOnceAndAgainWhenWoken) {
  HelperThreads helpers;
  std::atomic<int> steps[3] = {};
  PartitionWorkers* woken = nullptr;
  PartitionWorkers workers(
      3, 1, helpers,
      [&](int part) {
        // The first wakes the last, which wakes itself once.
        if (++steps[part] == 1 && part == 0) woken->Wake(2);
        if (part == 2 && steps[2] == 1) woken->Wake(2);
        return Error::success();
      },
      Nothing);
  woken = &workers;
  EXPECT_EQ(Ran(workers), "");
  EXPECT_EQ(steps[0], 1);
  EXPECT_EQ(steps[1], 1);
  EXPECT_EQ(steps[2], 2);
  EXPECT_EQ(Ran(workers), "");
  EXPECT_EQ(steps[1], 2);
}

TEST(PartitionWorkersTest, LongPartitionsRunAtTheSameTime) {
  HelperThreads helpers;
  std::atomic<int> inside{0}, most{0};
  PartitionWorkers workers(
      3, 3, helpers,
      [&](int) {
        int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        for (int i = 0; i < 2000 && most < 3; ++i) std::this_thread::sleep_for(milliseconds(1));
        --inside;
        return Error::success();
      },
      Nothing);
  EXPECT_EQ(Ran(workers), "");
  EXPECT_EQ(most, 3);
}

TEST(PartitionWorkersTest, NoMoreThreadsThanAllowed) {
  HelperThreads helpers;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  PartitionWorkers workers(
      8, 2, helpers,
      [&](int) {
        std::this_thread::sleep_for(milliseconds(2));
        std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
        return Error::success();
      },
      Nothing);
  for (int run = 0; run < 3; ++run) EXPECT_EQ(Ran(workers), "");
  EXPECT_LE(threads.size(), 2u);
}

// A helper that starts early would step the partition at the same time as Run().
TEST(PartitionWorkersTest, NothingBeginsBeforeItRuns) {
  HelperThreads helpers;
  std::atomic<int> steps{0};
  PartitionWorkers workers(
      2, 2, helpers,
      [&](int) {
        ++steps;
        return Error::success();
      },
      Nothing);
  workers.Wake(0);
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(Ran(workers), "");
  EXPECT_EQ(steps, 2);
}

TEST(PartitionWorkersTest, TheFirstErrorStopsTheOthers) {
  HelperThreads helpers;
  std::atomic<bool> stopped{false};
  std::atomic<int> runs{0};
  PartitionWorkers* workers_address = nullptr;
  PartitionWorkers workers(
      2, 2, helpers,
      [&](int part) {
        ++runs;
        if (part == 1) return MakeError("part 1 fails");
        while (!stopped) std::this_thread::yield();
        workers_address->Wake(0);  // too late
        return MakeError("part 0 was stopped");
      },
      [&](int part) { stopped = stopped || part == 0; });
  workers_address = &workers;
  EXPECT_EQ(Ran(workers), "part 1 fails");
  EXPECT_EQ(runs, 2);
}

// Two partitions throw a ball back and forth through their rendezvous; no message is lost, on any
// thread.
TEST(PartitionWorkersTest, NoNewsIsLost) {
  for (int threads : {1, 2}) {
    HelperThreads helpers;
    Rendezvous boxes[2];
    std::atomic<int> left{20000};
    std::vector<Message> news[2];
    PartitionWorkers workers(
        2, threads, helpers,
        [&](int part) {
          news[part].clear();
          boxes[part].Receive(&news[part]);
          for (Message& ball : news[part]) {
            EXPECT_EQ(ball.to, static_cast<uint32_t>(part));
            if (--left <= 0) continue;
            ball.to = 1 - part;
            boxes[1 - part].Send(std::move(ball));
          }
          return Error::success();
        },
        Nothing);
    for (int part = 0; part < 2; ++part)
      boxes[part].OnNews([&workers, part] { workers.Wake(part); });
    for (uint32_t i = 0; i < 3; ++i) {
      Message ball;
      ball.to = i % 2;
      boxes[i % 2].Send(std::move(ball));
    }
    EXPECT_EQ(Ran(workers), "");
    EXPECT_LE(left, 0);
    EXPECT_GE(left, -2);
  }
}

TEST(RendezvousTest, WhatCameIsTakenInItsOrderAndOnce) {
  Rendezvous box;
  int woken = 0;
  box.OnNews([&] { ++woken; });
  for (uint32_t i = 0; i < 3; ++i) {
    Message message;
    message.to = i;
    box.Send(std::move(message));
  }
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(box.HasNews());
  std::vector<Message> taken;
  box.Receive(&taken);
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[2].to, 2u);
  EXPECT_FALSE(box.HasNews());
  box.Stop();
  EXPECT_TRUE(box.is_stopped());
  EXPECT_EQ(woken, 2);
  box.Clear();
  EXPECT_FALSE(box.is_stopped() || box.HasNews());
}

}  // namespace
}  // namespace grapnel
