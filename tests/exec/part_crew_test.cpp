// Parts that wake one another, stepped by one thread or several.
#include "lib/exec/part_crew.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "lib/exec/mailbox.h"

namespace grapnel {
namespace {

using std::chrono::milliseconds;

void Nothing(int) {}

std::string Ran(PartCrew& crew) {
  Error error = crew.Run();
  return error ? TextOf(std::move(error)) : "";
}

TEST(PartCrewTest, EachPartIsSteppedOnceAndAgainWhenWoken) {
  HelperThreads helpers;
  std::atomic<int> steps[3] = {};
  PartCrew* woken = nullptr;
  PartCrew crew(
      3, 1, helpers,
      [&](int part) {
        // The first wakes the last, which wakes itself once.
        if (++steps[part] == 1 && part == 0) woken->Wake(2);
        if (part == 2 && steps[2] == 1) woken->Wake(2);
        return Error::success();
      },
      Nothing);
  woken = &crew;
  EXPECT_EQ(Ran(crew), "");
  EXPECT_EQ(steps[0], 1);
  EXPECT_EQ(steps[1], 1);
  EXPECT_EQ(steps[2], 2);
  EXPECT_EQ(Ran(crew), "");
  EXPECT_EQ(steps[1], 2);
}

TEST(PartCrewTest, LongPartsRunAtTheSameTime) {
  HelperThreads helpers;
  std::atomic<int> inside{0}, most{0};
  PartCrew crew(
      3, 3, helpers,
      [&](int) {
        most = std::max<int>(most, ++inside);
        for (int i = 0; i < 2000 && most < 3; ++i) std::this_thread::sleep_for(milliseconds(1));
        --inside;
        return Error::success();
      },
      Nothing);
  EXPECT_EQ(Ran(crew), "");
  EXPECT_EQ(most, 3);
}

TEST(PartCrewTest, NoMoreThreadsThanAllowed) {
  HelperThreads helpers;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  PartCrew crew(
      8, 2, helpers,
      [&](int) {
        std::this_thread::sleep_for(milliseconds(2));
        std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
        return Error::success();
      },
      Nothing);
  for (int run = 0; run < 3; ++run) EXPECT_EQ(Ran(crew), "");
  EXPECT_LE(threads.size(), 2u);
}

TEST(PartCrewTest, TheFirstErrorStopsTheOthers) {
  HelperThreads helpers;
  std::atomic<bool> stopped{false};
  std::atomic<int> runs{0};
  PartCrew* crew_address = nullptr;
  PartCrew crew(
      2, 2, helpers,
      [&](int part) {
        ++runs;
        if (part == 1) return MakeError("part 1 fails");
        while (!stopped) std::this_thread::yield();
        crew_address->Wake(0);  // too late
        return MakeError("part 0 was stopped");
      },
      [&](int part) { stopped = stopped || part == 0; });
  crew_address = &crew;
  EXPECT_EQ(Ran(crew), "part 1 fails");
  EXPECT_EQ(runs, 2);
}

// Two parts throw a ball to and fro through their mailboxes; none is lost, whoever wakes whom.
TEST(PartCrewTest, NoNewsIsLost) {
  for (int threads : {1, 2}) {
    HelperThreads helpers;
    Mailbox boxes[2];
    std::atomic<int> left{20000};
    std::vector<Parcel> news[2];
    PartCrew crew(
        2, threads, helpers,
        [&](int part) {
          news[part].clear();
          boxes[part].Take(&news[part]);
          for (Parcel& ball : news[part]) {
            EXPECT_EQ(ball.to, static_cast<uint32_t>(part));
            if (--left <= 0) continue;
            ball.to = 1 - part;
            boxes[1 - part].Put(std::move(ball));
          }
          return Error::success();
        },
        Nothing);
    for (int part = 0; part < 2; ++part) boxes[part].OnNews([&crew, part] { crew.Wake(part); });
    for (uint32_t i = 0; i < 3; ++i) {
      Parcel ball;
      ball.to = i % 2;
      boxes[i % 2].Put(std::move(ball));
    }
    EXPECT_EQ(Ran(crew), "");
    EXPECT_LE(left, 0);
    EXPECT_GE(left, -2);
  }
}

TEST(MailboxTest, WhatCameIsTakenInItsOrderAndOnce) {
  Mailbox box;
  int woken = 0;
  box.OnNews([&] { ++woken; });
  for (uint32_t i = 0; i < 3; ++i) {
    Parcel parcel;
    parcel.to = i;
    box.Put(std::move(parcel));
  }
  EXPECT_EQ(woken, 1);
  EXPECT_TRUE(box.HasNews());
  std::vector<Parcel> taken;
  box.Take(&taken);
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
