// The six functions of the OpenMP runtime that Debian's libdnnl calls, run by the program's own
// pool.
//
// Two sets of threads on the same cores fight: each spins a while before it sleeps, and a loop
// whose thread waits for a core takes milliseconds instead of microseconds. So these functions
// stand in for libgomp's: the loader looks for a symbol of libdnnl in the module that brought it in
// before it looks in libgomp. When the process has libgomp in its global scope (a host program with
// OpenMP of its own) that one wins, and then it is told the number of threads.
#include "kernels/cpu/onednn/team.h"

#include <dlfcn.h>
#include <immintrin.h>

#include <atomic>

#define EXPORTED __attribute__((visibility("default")))

extern "C" {
EXPORTED void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned flags);
EXPORTED void GOMP_barrier();
EXPORTED int omp_get_max_threads();
EXPORTED int omp_get_num_threads();
EXPORTED int omp_get_thread_num();
EXPORTED int omp_in_parallel();
}

namespace grapnel::onednn {
namespace {

struct Team {
  void (*body)(void*);
  void* data;
  int size;
  std::atomic<int> waiting{0};
  std::atomic<int> barriers_passed{0};
};

// What this thread is: a member of a team, or one that may start a team.
struct Member {
  Team* team = nullptr;
  int index = 0;
  int max_threads = 1;
  void* pool = nullptr;
};
thread_local Member member;

const GrapnelOnednnHost* host = nullptr;
void (*foreign_set_num_threads)(int) = nullptr;

void RunMember(void* team_pointer, int32_t index) {
  Team* team = static_cast<Team*>(team_pointer);
  Member before = member;
  member = Member{team, index, 1, nullptr};
  team->body(team->data);
  member = before;
}

}  // namespace

void SetHost(const GrapnelOnednnHost* the_host) {
  host = the_host;
  void* parallel = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  if (parallel && parallel != reinterpret_cast<void*>(&GOMP_parallel)) {
    foreign_set_num_threads =
        reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  }
}

TeamScope::TeamScope(int threads, void* pool)
    : threads_before_(member.max_threads), pool_before_(member.pool) {
  member.max_threads = threads;
  member.pool = pool;
  if (foreign_set_num_threads) foreign_set_num_threads(threads);
}

TeamScope::~TeamScope() {
  member.max_threads = threads_before_;
  member.pool = pool_before_;
}

}  // namespace grapnel::onednn

using grapnel::onednn::member;
using grapnel::onednn::Team;

void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned /*flags*/) {
  Team team{body, data, threads == 0 ? omp_get_max_threads() : static_cast<int>(threads)};
  // A loop inside a loop, or one on a thread that no scope covers, runs here.
  if (member.team || !member.pool) team.size = 1;
  if (team.size <= 1) {
    grapnel::onednn::RunMember(&team, 0);
  } else {
    grapnel::onednn::host->run_team(member.pool, team.size, grapnel::onednn::RunMember, &team);
  }
}

void GOMP_barrier() {
  Team* team = member.team;
  if (!team || team->size == 1) return;
  int passed = team->barriers_passed.load(std::memory_order_acquire);
  if (team->waiting.fetch_add(1, std::memory_order_acq_rel) + 1 == team->size) {
    team->waiting.store(0, std::memory_order_relaxed);
    team->barriers_passed.fetch_add(1, std::memory_order_release);
    return;
  }
  while (team->barriers_passed.load(std::memory_order_acquire) == passed) _mm_pause();
}

int omp_get_max_threads() { return member.max_threads; }
int omp_get_num_threads() { return member.team ? member.team->size : 1; }
int omp_get_thread_num() { return member.index; }
int omp_in_parallel() { return member.team != nullptr && member.team->size > 1; }
