#include "lib/watch/tap_writer.h"

#include <atomic>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

TapEvent Event(int number) {
  TapEvent event;
  event.output = number;
  return event;
}

TEST(TapWriter, WritesAllInOrder) {
  std::vector<int> written;
  {
    TapWriter writer([&](const TapEvent& event) { written.push_back(event.output); });
    for (int i = 0; i < 5000; ++i) writer.Add(Event(i));
    writer.Drain();
    EXPECT_EQ(written.size(), 5000U);
    writer.Add(Event(5000));
  }
  ASSERT_EQ(written.size(), 5001U);
  for (int i = 0; i <= 5000; ++i) EXPECT_EQ(written[i], i);
}

TEST(TapWriter, MakesThoseWaitWhoAreTooFast) {
  std::atomic<int> written{0};
  TapWriter writer(
      [&](const TapEvent&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++written;
      },
      /*most_waiting=*/10 * sizeof(TapEvent));
  for (int i = 0; i < 40; ++i) {
    writer.Add(Event(i));
    EXPECT_LE(i - written, 11);
  }
  writer.Drain();
  EXPECT_EQ(written, 40);
  EXPECT_GT(writer.waited().count(), 0);
}

TEST(TapWriter, TakesOneThatIsLargerThanItsLimit) {
  int written = 0;
  TapWriter writer([&](const TapEvent&) { ++written; }, /*most_waiting=*/1);
  for (int i = 0; i < 3; ++i) writer.Add(Event(i));
  writer.Drain();
  EXPECT_EQ(written, 3);
}

}  // namespace
}  // namespace grapnel
