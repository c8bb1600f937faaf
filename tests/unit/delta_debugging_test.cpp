#include "lib/support/delta_debugging.h"

#include <set>

#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns what remains of `count` numbers if all but `needed` may be removed.
std::set<size_t> Left(size_t count, const std::set<size_t>& needed, int* calls) {
  std::set<size_t> left;
  for (size_t i = 0; i < count; ++i) left.insert(i);
  *calls = 0;
  llvm::cantFail(TakeInChunks(count, [&](llvm::ArrayRef<size_t> chunk) -> Expected<bool> {
    ++*calls;
    if (llvm::any_of(chunk, [&](size_t i) { return needed.count(i) > 0; })) return false;
    for (size_t i : chunk) EXPECT_EQ(left.erase(i), 1u) << i << " was offered after it went";
    return true;
  }));
  return left;
}

TEST(DeltaDebuggingTest, WhatIsNeededIsLeft) {
  int calls = 0;
  for (size_t count : {0, 1, 2, 3, 7, 64, 100}) {
    for (const std::set<size_t>& needed :
         {std::set<size_t>{}, std::set<size_t>{0}, std::set<size_t>{2, 3, 63}}) {
      std::set<size_t> there;
      for (size_t i : needed) {
        if (i < count) there.insert(i);
      }
      EXPECT_EQ(Left(count, needed, &calls), there) << count;
    }
  }
}

TEST(DeltaDebuggingTest, FewAreFoundInFewCalls) {
  int calls = 0;
  Left(1024, {}, &calls);
  EXPECT_EQ(calls, 1);
  Left(1024, {511}, &calls);
  EXPECT_LE(calls, 22);
}

TEST(DeltaDebuggingTest, AnErrorEndsIt) {
  int calls = 0;
  Error error = TakeInChunks(10, [&](llvm::ArrayRef<size_t>) -> Expected<bool> {
    ++calls;
    return MakeError("no");
  });
  EXPECT_EQ(llvm::toString(std::move(error)), "no");
  EXPECT_EQ(calls, 1);
}

TEST(DeltaDebuggingTest, FirstBadIsFoundByHalves) {
  for (int64_t first = 1; first <= 100; ++first) {
    int calls = 0;
    auto found = FirstBad(0, 100, [&](int64_t i) -> Expected<bool> {
      ++calls;
      EXPECT_TRUE(i > 0 && i < 100);
      return i >= first;
    });
    EXPECT_EQ(llvm::cantFail(std::move(found)), first);
    EXPECT_LE(calls, 7);
  }
}

}  // namespace
}  // namespace grapnel
