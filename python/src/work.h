// Runs work on a separate thread, so that Python can handle Ctrl-C while it waits for the work.
#ifndef GRAPNEL_PYTHON_SRC_WORK_H_
#define GRAPNEL_PYTHON_SRC_WORK_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/support/cancel.h"
#include "lib/support/error.h"

namespace grapnel::python {

// A piece of work, owned by the thread that does it and the thread that waits for it: if the work
// does not react to its cancellation, the waiting thread stops waiting, and the work ends later.
class Work {
 public:
  virtual ~Work() = default;

  // Does the work. Call Do() with the GIL, on the thread that waits; the GIL is released meanwhile.
  // Returns false if GiveUp() ended the wait. Throws the exception of a signal handler, such as
  // KeyboardInterrupt, after setting `cancel`. Calls `tell`, with the GIL, for each message and
  // `show`, if it is set, about 20 times per second with the current step.
  using Tell = std::function<void(Severity, const std::string&)>;
  struct Step {
    std::string what;
    int64_t done = 0, total = 0;  // total 0: unknown
  };
  using Show = std::function<void(const Step&)>;
  bool Do(const std::shared_ptr<Work>& self, CancelFlag& cancel, const Tell& tell,
          const Show& show = nullptr);

  // AddMessage, SetStep and GiveUp may be called from any thread.
  void AddMessage(Severity severity, llvm::StringRef text);
  void SetStep(llvm::StringRef what, int64_t done, int64_t total);
  void GiveUp(std::string why);
  const std::string& why_given_up() const { return why_; }

 protected:
  virtual void Run() = 0;
  // Called with the GIL, before the work is canceled, when a signal handler has raised an
  // exception.
  virtual void Interrupted() {}

 private:
  void ReportAll(std::unique_lock<std::mutex>& lock, const Tell& tell);
  void ShowStep(std::unique_lock<std::mutex>& lock, const Show& show);
  bool Leave(std::unique_lock<std::mutex>& lock, CancelFlag& cancel);

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::vector<std::pair<Severity, std::string>> messages_;
  Step step_;
  std::atomic<bool> is_done_ = false;  // set with mutex_ held, also read without it
  bool is_given_up_ = false;
  std::string why_;
};

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_WORK_H_
