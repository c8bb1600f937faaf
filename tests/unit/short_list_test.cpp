#include "lib/support/short_list.h"

#include <random>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

using List = ShortList<uint32_t, 2>;

std::vector<uint32_t> All(const List& list) { return {list.begin(), list.end()}; }

TEST(ShortList, DoesWhatAVectorDoes) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint32_t> expected;
    List list;
    for (int step = 0; step < 500; ++step) {
      uint32_t value = random();
      switch (random() % 6) {
        case 0:
        case 1:
          expected.push_back(value);
          list.push_back(value);
          break;
        case 2: {
          size_t at = random() % (expected.size() + 1);
          expected.insert(expected.begin() + at, value);
          list.insert(at, value);
          break;
        }
        case 3:
          if (expected.empty()) break;
          expected.pop_back();
          list.pop_back();
          break;
        case 4:
          if (expected.empty()) break;
          expected[value % expected.size()] = value;
          list[value % expected.size()] = value;
          break;
        default:
          if (value % 16) break;
          expected.clear();
          list.clear();
      }
      ASSERT_EQ(All(list), expected) << "seed " << seed << ", step " << step;
      ASSERT_EQ(llvm::ArrayRef<uint32_t>(list).size(), expected.size());
      if (!expected.empty()) ASSERT_EQ(list.back(), expected.back());
    }
  }
}

TEST(ShortList, IsCopiedAndMoved) {
  for (uint32_t size : {0, 1, 2, 3, 100}) {
    List list;
    for (uint32_t i = 0; i < size; ++i) list.push_back(i);
    std::vector<uint32_t> expected = All(list);
    List copy(list), other;
    other.push_back(7);
    other.push_back(7);
    other.push_back(7);
    other = list;
    EXPECT_EQ(All(copy), expected);
    EXPECT_EQ(All(other), expected);
    List moved(std::move(copy));
    EXPECT_EQ(All(moved), expected);
    EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): what is left is said
    other = std::move(moved);
    other.push_back(8);
    expected.push_back(8);
    EXPECT_EQ(All(other), expected);
    EXPECT_EQ(list.size(), size) << "a copy has memory of its own";
  }
}

}  // namespace
}  // namespace grapnel
