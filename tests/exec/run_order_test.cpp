#include "lib/exec/run_order.h"

#include <thread>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

using Told = std::vector<int>;

void EmitAt(RunOrder& order, uint32_t position, Told& told, int what) {
  AtOrderPoint at({&order, position});
  EmitInOrder([&told, what] { told.push_back(what); });
}

TEST(RunOrder, TellsWhatIsNextAtOnceAndTheRestLater) {
  RunOrder order;
  Told told;
  order.Begin(3, {});
  EmitAt(order, 2, told, 20);
  EmitAt(order, 1, told, 10);
  EXPECT_EQ(told, Told());
  EmitAt(order, 0, told, 0);
  EXPECT_EQ(told, Told({0}));
  order.Done(1);
  EXPECT_EQ(told, Told({0}));
  order.Done(0);
  EXPECT_EQ(told, Told({0, 10, 20}));
  EmitAt(order, 2, told, 21);
  EXPECT_EQ(told, Told({0, 10, 20, 21}));
  order.Done(2);
  order.End();
}

TEST(RunOrder, TellsWhatIsLeftWhenTheRunFails) {
  RunOrder order;
  Told told;
  order.Begin(3, {});
  EmitAt(order, 2, told, 2);
  EmitAt(order, 1, told, 1);
  order.End();
  EXPECT_EQ(told, Told({1, 2}));
}

TEST(RunOrder, IsPartOfTheOneAroundIt) {
  RunOrder outer, inner;
  Told told;
  outer.Begin(2, {});
  inner.Begin(2, {&outer, 1});
  EmitAt(inner, 1, told, 11);
  EmitAt(inner, 0, told, 10);
  inner.Done(0);
  EXPECT_EQ(told, Told());
  EmitAt(outer, 0, told, 0);
  outer.Done(0);
  EXPECT_EQ(told, Told({0, 10, 11}));
}

TEST(RunOrder, KeepsItOnManyThreads) {
  constexpr int kPositions = 1000, kThreads = 4;
  RunOrder order;
  Told told;
  order.Begin(kPositions, {});
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < kPositions; i += kThreads) {
        EmitAt(order, i, told, 2 * i);
        EmitAt(order, i, told, 2 * i + 1);
        order.Done(i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  order.End();
  ASSERT_EQ(told.size(), 2U * kPositions);
  for (int i = 0; i < 2 * kPositions; ++i) EXPECT_EQ(told[i], i);
}

}  // namespace
}  // namespace grapnel
