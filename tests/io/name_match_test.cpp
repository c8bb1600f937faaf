// Names that differ only in Keras's numbers.
#include "lib/io/name_match.h"

#include "gtest/gtest.h"

namespace grapnel {
namespace {

using Places = std::vector<int>;

TEST(MatchNames, TheSameNameComesFirst) {
  EXPECT_EQ(MatchNames({"net/dense", "net/dense_1"}, {"net/dense_1", "net/dense"}), Places({1, 0}));
}

TEST(MatchNames, ElseTheOrderOfNumbers) {
  EXPECT_EQ(MatchNames({"net/dense", "net/dense_2", "net/dense_10", "net/norm"},
                       {"net_1/dense_31", "net_1/dense_7", "net_1/norm_3", "net_1/dense_30"}),
            Places({1, 3, 0, 2}));
}

// If one side has one more, only equal names can match.
TEST(MatchNames, AsManyOfBoth) {
  EXPECT_EQ(MatchNames({"dense", "dense_1"}, {"dense_5", "dense_6", "dense_7"}), Places({-1, -1}));
  EXPECT_EQ(MatchNames({"dense", "dense_1"}, {"dense", "dense_1", "dense_2"}), Places({0, 1}));
}

// Numbers shifted by one: the same name belongs to a different layer.
TEST(MatchNames, ShiftedNumbersAreNotTheSameNames) {
  EXPECT_EQ(MatchNames({"dense", "dense_1"}, {"dense_1", "dense_2"}), Places({0, 1}));
}

// A final digit without an underscore before it makes a different name; so does a number that is
// the whole name.
TEST(MatchNames, OtherNumbersAreNames) {
  EXPECT_EQ(MatchNames({"conv1"}, {"conv2"}), Places({-1}));
  EXPECT_EQ(MatchNames({"_1"}, {"_2"}), Places({-1}));
  EXPECT_EQ(MatchNames({}, {"a"}), Places());
}

}  // namespace
}  // namespace grapnel
