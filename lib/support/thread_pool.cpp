#include "lib/support/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lib/support/denormals.h"

namespace grapnel {
namespace {

thread_local bool inside_parallel_for = false;

int UsableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

// How long a thread spins before it sleeps, in ticks of the processor's clock: some 40 and 300
// microseconds. Does not count pause instructions, because their duration differs tenfold among
// processors.
constexpr uint64_t kUntilWork = 100'000, kUntilOthersEnd = 800'000;

// Spins until the condition holds or `ticks` have passed; returns whether it holds.
template <typename Condition>
bool Spin(uint64_t ticks, Condition&& holds) {
  for (uint64_t begin = __builtin_ia32_rdtsc(); !holds(); __builtin_ia32_pause()) {
    if (__builtin_ia32_rdtsc() - begin > ticks) return false;
  }
  return true;
}

}  // namespace

// Runs one parallel loop at a time. Each thread has a share of the loop's parts, at the same
// position in every loop, because its core's caches hold what it wrote there in the previous loop.
// After its share, it takes parts that other threads have not begun. Threads spin briefly before
// they sleep, because the loops of a network follow each other within microseconds.
struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::mutex one_loop;
  std::vector<std::thread> workers;
  std::atomic<uint64_t> generation{0};
  bool stop = false;

  llvm::function_ref<void(int64_t, int64_t)>* body = nullptr;
  int64_t total = 0, grain = 1;
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};  // the next part to run
    int64_t end = 0;
  };
  std::vector<Share> shares;  // one per thread; the caller's is the first
  std::atomic<int> active{0};
  std::atomic<bool> open{false};
  // The first exception that a loop body threw; `mutex` guards it. Parts that have not begun are
  // skipped then, and ParallelFor rethrows the exception when all threads have returned.
  std::exception_ptr thrown;

  explicit State(int threads) : shares(threads) {}

  void Divide(int64_t parts) {
    // If there are fewer parts than threads, the first threads get one part each and the others
    // none.
    int64_t threads = static_cast<int64_t>(shares.size()), sharing = std::min(parts, threads);
    for (int64_t i = 0; i < threads; ++i) {
      shares[i].next.store(i < sharing ? parts * i / sharing : parts, std::memory_order_relaxed);
      shares[i].end = i < sharing ? parts * (i + 1) / sharing : parts;
    }
  }

  void Drain(size_t thread) {
    try {
      for (size_t i = 0; i < shares.size(); ++i) {
        Share& share = shares[(thread + i) % shares.size()];
        for (;;) {
          int64_t part = share.next.fetch_add(1, std::memory_order_relaxed);
          if (part >= share.end) break;
          (*body)(part * grain, std::min((part + 1) * grain, total));
        }
      }
    } catch (...) {
      for (Share& share : shares) share.next.store(share.end, std::memory_order_relaxed);
      std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  }

  // Works on the current loop if it is still open. Counts the thread as active meanwhile, so that
  // the loop does not end before it.
  void TryJoin(size_t thread) {
    active.fetch_add(1, std::memory_order_seq_cst);
    if (open.load(std::memory_order_seq_cst)) Drain(thread);
    if (active.fetch_sub(1, std::memory_order_seq_cst) == 1) active.notify_one();
  }

  // Waits until no worker is active. Spins first, because on a busy machine it takes milliseconds
  // to wake up a thread. Then sleeps, so that a worker that the system has interrupted can use this
  // core.
  void AwaitWorkers() {
    if (Spin(kUntilOthersEnd, [&] { return active.load(std::memory_order_seq_cst) == 0; })) return;
    for (int count; (count = active.load(std::memory_order_seq_cst)) != 0;) active.wait(count);
  }

  void Work(size_t thread) {
    FlushDenormals flush;  // the loop body is part of a computation
    inside_parallel_for = true;
    uint64_t seen = 0;
    for (;;) {
      if (!Spin(kUntilWork, [&] { return generation.load(std::memory_order_acquire) != seen; })) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || generation.load(std::memory_order_acquire) != seen; });
        if (stop) return;
      }
      seen = generation.load(std::memory_order_acquire);
      TryJoin(thread);
    }
  }
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : UsableCores()), state_(std::make_unique<State>(threads_)) {}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->generation.fetch_add(1);
  }
  state_->wake.notify_all();
  for (std::thread& worker : state_->workers) worker.join();
}

void ThreadPool::ParallelFor(int64_t total, double cost,
                             llvm::function_ref<void(int64_t, int64_t)> body) {
  if (total <= 0) return;
  constexpr double kWorthSplitting = 10000;  // nanoseconds; a wake-up costs about as much
  if (threads_ == 1 || inside_parallel_for || total == 1 || total * cost < kWorthSplitting ||
      !state_->one_loop.try_lock()) {
    return body(0, total);
  }
  State& state = *state_;
  int parts = static_cast<int>(
      std::min<double>({static_cast<double>(total), threads_ * 4.0, total * cost / 2500}));
  state.body = &body;
  state.total = total;
  state.grain = (total + parts - 1) / std::max(parts, 1);
  state.Divide((total + state.grain - 1) / state.grain);
  state.open.store(true, std::memory_order_seq_cst);
  {
    std::lock_guard lock(state.mutex);
    while (static_cast<int>(state.workers.size()) < threads_ - 1) {
      size_t thread = state.workers.size() + 1;
      state.workers.emplace_back([&state, thread] { state.Work(thread); });
    }
    state.generation.fetch_add(1, std::memory_order_release);
  }
  state.wake.notify_all();
  inside_parallel_for = true;
  state.Drain(0);
  inside_parallel_for = false;
  state.open.store(false, std::memory_order_seq_cst);
  state.AwaitWorkers();
  std::exception_ptr thrown = std::exchange(state.thrown, nullptr);
  state.one_loop.unlock();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace grapnel
