#include "python/src/work.h"

#include <nanobind/nanobind.h>
#include <pthread.h>

#include <chrono>
#include <thread>

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "python/src/gil.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
// How long cancelled work may take to end: Ctrl-C takes effect within a second.
constexpr auto kPatience = std::chrono::milliseconds(700);
// How long a thread polls before it sleeps: on an idle machine, waking a thread takes as long as
// the run of a small graph.
constexpr auto kLooking = std::chrono::microseconds(100);

// Polls until `is` returns true or kLooking is over, yielding to other threads; returns the last
// result.
template <typename Is>
bool LookForAWhile(Is is) {
  for (auto end = std::chrono::steady_clock::now() + kLooking;
       std::chrono::steady_clock::now() < end; std::this_thread::yield())
    if (is()) return true;
  return is();
}

// A reusable thread that does the work of one call after another: starting a thread takes longer
// than many runs.
class Worker {
 public:
  static Worker* Take() {
    Idle& idle = IdleOnes();
    std::lock_guard lock(idle.mutex);
    if (idle.workers.empty()) return new Worker;
    return idle.workers.pop_back_val();
  }

  void Begin(std::function<void()> work) {
    {
      std::lock_guard lock(mutex_);
      work_ = std::move(work);
      is_busy_ = true;
    }
    changed_.notify_all();
  }

  // Waits until the thread has released all objects that the work held, and then makes the thread
  // available to the next call.
  void GiveBack() {
    if (!LookForAWhile([this] { return !is_busy_; })) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !is_busy_; });
    }
    Idle& idle = IdleOnes();
    std::lock_guard lock(idle.mutex);
    idle.workers.push_back(this);
  }

  // Abandons the work: the thread ends when the work is done.
  void Leave() {
    std::lock_guard lock(mutex_);
    is_left_ = true;
    changed_.notify_all();
  }

 private:
  struct Idle {
    std::mutex mutex;
    llvm::SmallVector<Worker*, 0> workers;
  };

  Worker() {
    std::thread([this] { Loop(); }).detach();
  }

  // The idle threads. Emptied in a forked process, in which the threads do not exist. Never
  // destroyed, because the threads may outlive static objects.
  static Idle& IdleOnes() {
    static Idle* idle = [] {
      static Idle* made = new Idle;
      pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
                     [] {
                       made->workers.clear();
                       made->mutex.unlock();
                     });
      return made;
    }();
    return *idle;
  }

  void Loop() {
    auto is_called = [this] { return is_busy_ || is_left_; };
    do {
      LookForAWhile(is_called);
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, is_called);
      }
      if (is_busy_) {
        work_();
        work_ = nullptr;
        std::lock_guard lock(mutex_);
        is_busy_ = false;
        changed_.notify_all();
      }
    } while (!is_left_);
    { std::lock_guard lock(mutex_); }  // waits until Leave() has released it
    delete this;
  }

  std::mutex mutex_;  // held when is_busy_ or is_left_ is set
  std::condition_variable changed_;
  std::atomic<bool> is_busy_ = false, is_left_ = false;
  std::function<void()> work_;  // owned by the thread while it is busy
};

}  // namespace

void Work::AddMessage(Severity severity, llvm::StringRef text) {
  std::lock_guard lock(mutex_);
  messages_.emplace_back(severity, text.str());
}

void Work::SetStep(llvm::StringRef what, int64_t done, int64_t total) {
  std::lock_guard lock(mutex_);
  step_ = {what.str(), done, total};
}

void Work::GiveUp(std::string why) {
  {
    std::lock_guard lock(mutex_);
    is_given_up_ = true;
    why_ = std::move(why);
  }
  changed_.notify_one();
}

void Work::ReportAll(std::unique_lock<std::mutex>& lock, const Tell& tell) {
  while (!messages_.empty()) {
    auto messages = std::exchange(messages_, {});
    lock.unlock();
    {
      TakenGil taken;
      for (const auto& [severity, text] : messages) tell(severity, text);
    }
    lock.lock();
  }
}

void Work::ShowStep(std::unique_lock<std::mutex>& lock, const Show& show) {
  if (!show) return;
  Step step = step_;
  lock.unlock();
  {
    TakenGil taken;
    show(step);
  }
  lock.lock();
}

// Cancels the work and waits at most kPatience for it to end.
bool Work::Leave(std::unique_lock<std::mutex>& lock, CancelFlag& cancel) {
  cancel.Cancel();
  return changed_.wait_for(lock, kPatience, [this] { return is_done_.load(); });
}

bool Work::Do(const std::shared_ptr<Work>& self, CancelFlag& cancel, const Tell& tell,
              const Show& show) {
  Worker* worker = Worker::Take();
  worker->Begin([self] {
    self->Run();
    std::lock_guard lock(self->mutex_);
    self->is_done_ = true;
    self->changed_.notify_one();
  });
  ReleasedGil released;
  // At the end, the worker releases its reference to the work, so that an idle worker holds no
  // objects, also when the process is about to end. Releasing objects may need the GIL.
  auto part = llvm::make_scope_exit([&] {
    if (is_done_)
      worker->GiveBack();
    else
      worker->Leave();
  });
  LookForAWhile([this] { return is_done_.load(); });
  std::unique_lock lock(mutex_);
  auto has_news = [this] { return is_done_ || is_given_up_ || !messages_.empty(); };
  while (!is_done_ && !is_given_up_) {
    changed_.wait_for(lock, kBetweenLooks, has_news);
    lock.unlock();
    bool is_interrupted = false;
    {
      TakenGil taken;
      is_interrupted = PyErr_CheckSignals() != 0;
      if (is_interrupted) Interrupted();
    }
    lock.lock();
    if (is_interrupted) {
      Leave(lock, cancel);
      lock.unlock();
      TakenGil taken;
      throw nb::python_error();
    }
    ReportAll(lock, tell);
    ShowStep(lock, show);
  }
  ReportAll(lock, tell);
  return !is_given_up_;
}

}  // namespace grapnel::python
