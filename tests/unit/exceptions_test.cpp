#include "lib/support/exceptions.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "lib/support/thread_pool.h"

namespace grapnel {
namespace {

TEST(Exceptions, BecomeErrors) {
  auto text = [](auto thrown) {
    return TextOf(WithoutExceptions([&]() -> Error { throw thrown; }));
  };
  EXPECT_EQ(text(std::bad_alloc()), "there is not enough memory");
  EXPECT_EQ(text(std::length_error("vector::reserve")), "a list does not fit into memory");
  EXPECT_EQ(text(7), "failed: unknown exception");
  EXPECT_EQ(llvm::cantFail(WithoutExceptions([]() -> Expected<int> { return 7; })), 7);
}

// An exception from any thread is rethrown by the loop's caller, and the pool stays usable.
TEST(Exceptions, LeaveAPoolAsItWas) {
  ThreadPool pool(4);
  for (int64_t bad : {0, 500, 999}) {
    auto loop = [&](int64_t begin, int64_t end) {
      if (begin <= bad && bad < end) throw std::length_error("part");
    };
    EXPECT_THROW(pool.ParallelFor(1000, 1e6, loop), std::length_error) << bad;
    std::vector<int> seen(1000);
    pool.ParallelFor(1000, 1e6, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++seen[i];
    });
    EXPECT_EQ(seen, std::vector<int>(1000, 1));
  }
}

}  // namespace
}  // namespace grapnel
