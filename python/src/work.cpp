#include "python/src/work.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <thread>

#include "llvm/ADT/ScopeExit.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
// How long work that is cancelled may take to end: Ctrl-C is heard within a second.
constexpr auto kPatience = std::chrono::milliseconds(700);

}  // namespace

bool Work::IsDone() {
  std::lock_guard lock(mutex_);
  return is_done_;
}

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

void Work::TellAll(std::unique_lock<std::mutex>& lock, const Tell& tell) {
  while (!messages_.empty()) {
    auto messages = std::exchange(messages_, {});
    lock.unlock();
    {
      nb::gil_scoped_acquire acquired;
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
    nb::gil_scoped_acquire acquired;
    show(step);
  }
  lock.lock();
}

// Waits for work that is cancelled, as long as a person does.
bool Work::Leave(std::unique_lock<std::mutex>& lock, CancelFlag& cancel) {
  cancel.Cancel();
  return changed_.wait_for(lock, kPatience, [this] { return is_done_; });
}

bool Work::Do(const std::shared_ptr<Work>& self, CancelFlag& cancel, const Tell& tell,
              const Show& show) {
  std::thread thread([self] {
    self->Run();
    std::lock_guard lock(self->mutex_);
    self->is_done_ = true;
    self->changed_.notify_one();
  });
  nb::gil_scoped_release released;
  // A thread that has ended holds nothing more, also when the process is about to end. What it lets
  // go may need the GIL.
  auto part = llvm::make_scope_exit([&] {
    if (IsDone())
      thread.join();
    else
      thread.detach();
  });
  std::unique_lock lock(mutex_);
  auto has_news = [this] { return is_done_ || is_given_up_ || !messages_.empty(); };
  while (!is_done_ && !is_given_up_) {
    changed_.wait_for(lock, kBetweenLooks, has_news);
    lock.unlock();
    bool is_interrupted = false;
    {
      nb::gil_scoped_acquire acquired;
      is_interrupted = PyErr_CheckSignals() != 0;
      if (is_interrupted) Interrupted();
    }
    lock.lock();
    if (is_interrupted) {
      Leave(lock, cancel);
      lock.unlock();
      nb::gil_scoped_acquire acquired;
      throw nb::python_error();
    }
    TellAll(lock, tell);
    ShowStep(lock, show);
  }
  TellAll(lock, tell);
  return !is_given_up_;
}

}  // namespace grapnel::python
