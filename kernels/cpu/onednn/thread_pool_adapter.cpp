#include "kernels/cpu/onednn/thread_pool_adapter.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/support/denormals.h"

namespace grapnel::onednn {
namespace {

// A loop with as many parts as its primitive was made for; free threads take the parts one after
// another. So results do not depend on the number of threads, and a thread that loses its core
// leaves its remaining parts to the other threads.
struct ThreadPoolAdapter {
  void (*body)(void*);
  void* data;
  int size;                        // at most 64
  std::atomic<uint64_t> begun{0};  // one bit per part
  std::atomic<int> waiting{0}, barriers_passed{0};
  std::mutex mutex{};
  std::vector<std::thread> threads{};  // for parts not begun when another waits
};

// The state of this thread: it runs a part, or it may start a loop.
struct Member {
  ThreadPoolAdapter* team = nullptr;
  int index = 0;
  int most_parts = 1;
  void* pool = nullptr;
};
thread_local Member member;

const GrapnelOnednnHost* host = nullptr;
ForeignThreads foreign;

void RunMember(ThreadPoolAdapter& team, int index) {
  Member before = member;
  member = Member{&team, index, 1, nullptr};
  team.body(team.data);
  member = before;
}

// Claims the part; false if another thread already has.
bool Begin(ThreadPoolAdapter& team, int index) {
  uint64_t bit = uint64_t{1} << index;
  return !(team.begun.fetch_or(bit, std::memory_order_relaxed) & bit);
}

void RunPart(void* shared, int32_t index) {
  ThreadPoolAdapter& team = *static_cast<ThreadPoolAdapter*>(shared);
  if (Begin(team, index)) RunMember(team, index);
}

// Parts that wait for one another need one thread each. Starting them is slow but rare: no oneDNN
// code that is used here is known to wait.
void BeginTheOthers(ThreadPoolAdapter& team) {
  for (int index = 0; index < team.size; ++index) {
    if (!Begin(team, index)) continue;
    std::lock_guard lock(team.mutex);
    team.threads.emplace_back([&team, index] {
      FlushDenormals flush;
      RunMember(team, index);
    });
  }
}

}  // namespace

void SetHost(const GrapnelOnednnHost* the_host, ForeignThreads the_foreign) {
  host = the_host;
  foreign = the_foreign;
}

TeamScope::TeamScope(int parts, void* pool)
    : parts_before_(member.most_parts), pool_before_(member.pool) {
  member.most_parts = parts;
  member.pool = pool;
  // The other runtime runs each part on its own thread, even if there are more parts than cores: a
  // different number of parts would change the last bits of sums.
  if (!foreign.set) return;
  foreign_before_ = foreign.most();
  foreign.set(parts);
}

TeamScope::~TeamScope() {
  member.most_parts = parts_before_;
  member.pool = pool_before_;
  if (foreign.set) foreign.set(foreign_before_);
}

void RunLoop(void (*body)(void*), void* data, int parts) {
  ThreadPoolAdapter team{body, data, parts == 0 ? MostParts() : parts};
  if (member.team || !member.pool) team.size = 1;
  if (team.size <= 1) return RunMember(team, 0);
  host->run_parts(member.pool, team.size, RunPart, &team);
  for (std::thread& thread : team.threads) thread.join();
}

void AwaitParts() {
  ThreadPoolAdapter* team = member.team;
  if (!team || team->size == 1) return;
  BeginTheOthers(*team);
  int passed = team->barriers_passed.load(std::memory_order_acquire);
  if (team->waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == team->size) {
    team->waiting.store(0, std::memory_order_relaxed);
    team->barriers_passed.fetch_add(1, std::memory_order_release);
    team->barriers_passed.notify_all();
    return;
  }
  team->barriers_passed.wait(passed, std::memory_order_acquire);
}

int PartIndex() { return member.index; }
int NumParts() { return member.team ? member.team->size : 1; }
bool IsInLoop() { return NumParts() > 1; }
int MostParts() { return member.most_parts; }

}  // namespace grapnel::onednn
