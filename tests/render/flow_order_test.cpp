#include "lib/render/flow_order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace grapnel {
namespace {

TEST(FlowOrder, ChainsStayTogether) {
  // 0 -> 2 -> 4 and 1 -> 3 -> 5
  EXPECT_EQ(FlowOrder(6, {{0, 2}, {2, 4}, {1, 3}, {3, 5}}),
            (std::vector<uint32_t>{0, 2, 4, 1, 3, 5}));
}

TEST(FlowOrder, ReaderComesAfterAllThatItReads) {
  EXPECT_EQ(FlowOrder(3, {{2, 0}, {1, 0}, {1, 0}}), (std::vector<uint32_t>{1, 2, 0}));
}

TEST(FlowOrder, CycleIsListedOnce) {
  std::vector<uint32_t> order = FlowOrder(4, {{0, 1}, {1, 2}, {2, 1}, {2, 3}});
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace grapnel
