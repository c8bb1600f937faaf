// oneDNN's loops on a pool, including those whose parts wait for each other.
#include "kernels/cpu/onednn/thread_pool_adapter.h"

#include <atomic>
#include <vector>

#include "gtest/gtest.h"
#include "lib/support/thread_pool.h"

namespace grapnel::onednn {
namespace {

void RunParts(void* pool, int32_t n, void (*body)(void*, int32_t), void* arg) {
  static_cast<ThreadPool*>(pool)->ParallelFor(n, 1e9, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(arg, static_cast<int32_t>(i));
  });
}
constexpr GrapnelOnednnHost kHost = {GRAPNEL_ONEDNN_API_VERSION, RunParts};

class TeamTest : public testing::TestWithParam<int> {
 protected:
  TeamTest() : pool(GetParam()) { SetHost(&kHost, {}); }
  ThreadPool pool;
};

struct Counts {
  std::atomic<int> of_part[16] = {}, parts{0};
};

TEST_P(TeamTest, EachPartRunsOnceAndKnowsItsPlace) {
  for (int parts : {1, 2, 3, 16}) {
    TeamScope scope(parts, &pool);
    EXPECT_EQ(MostParts(), parts);
    Counts counts;
    auto body = [](void* data) {
      auto& seen = *static_cast<Counts*>(data);
      ++seen.of_part[PartIndex()];
      seen.parts += NumParts();
    };
    for (int loop = 0; loop < 20; ++loop) RunLoop(body, &counts, 0);
    for (int i = 0; i < 16; ++i) EXPECT_EQ(counts.of_part[i], i < parts ? 20 : 0) << i;
    EXPECT_EQ(counts.parts, 20 * parts * parts);
  }
}

// Each part must see after the wait what the others wrote before it.
struct Steps {
  int written[16] = {};
  std::atomic<int> wrong{0};
};
void TakeSteps(void* data) {
  auto& steps = *static_cast<Steps*>(data);
  for (int step = 1; step <= 3; ++step) {
    steps.written[PartIndex()] = step;
    AwaitParts();
    for (int i = 0; i < NumParts(); ++i) steps.wrong += steps.written[i] != step;
    AwaitParts();
  }
}

TEST_P(TeamTest, PartsWaitForOneAnother) {
  for (int parts : {1, 2, 3, 16}) {
    TeamScope scope(parts, &pool);
    Steps steps;
    for (int loop = 0; loop < 5; ++loop) RunLoop(TakeSteps, &steps, 0);
    EXPECT_EQ(steps.wrong, 0) << parts;
  }
}

TEST_P(TeamTest, ALoopWithoutAPoolOrWithinAnotherIsOnePart) {
  TeamScope scope(4, TeamScope::kNoPool);
  Counts counts;
  auto body = [](void* data) { static_cast<Counts*>(data)->parts += NumParts(); };
  RunLoop(body, &counts, 0);
  EXPECT_EQ(counts.parts, 1);
  {
    TeamScope with_pool(4, &pool);
    struct Both {
      Counts* counts;
      void (*inner)(void*);
    } both{&counts, body};
    RunLoop(
        [](void* data) {
          EXPECT_TRUE(IsInLoop());
          RunLoop(static_cast<Both*>(data)->inner, static_cast<Both*>(data)->counts, 8);
        },
        &both, 0);
  }
  EXPECT_EQ(counts.parts, 1 + 4);
  EXPECT_EQ(MostParts(), 4);
}

INSTANTIATE_TEST_SUITE_P(Threads, TeamTest, testing::Values(1, 2, 4, 16));

}  // namespace
}  // namespace grapnel::onednn
