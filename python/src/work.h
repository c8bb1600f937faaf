// Work on a thread of its own, so that who waits for it in Python hears Ctrl-C.
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

// What the working thread and the waiting one share. It is the worker's too: where the work does
// not hear that nobody wants it, the waiting thread leaves, and the work ends by itself.
class Work {
 public:
  virtual ~Work() = default;

  // On the waiting thread, which holds the GIL; it is let go meanwhile. False: it was given up with
  // `gave_up`. Throws what a signal's handler throws, KeyboardInterrupt: `cancel` is then set.
  // `tell` is called, with the GIL, for each message.
  // `show`, where there is one, some times a second with what is being done.
  using Tell = std::function<void(Severity, const std::string&)>;
  struct Step {
    std::string what;
    int64_t done = 0, total = 0;  // total 0: not known
  };
  using Show = std::function<void(const Step&)>;
  bool Do(const std::shared_ptr<Work>& self, CancelFlag& cancel, const Tell& tell,
          const Show& show = nullptr);

  // From any thread.
  void AddMessage(Severity severity, llvm::StringRef text);
  void SetStep(llvm::StringRef what, int64_t done, int64_t total);
  void GiveUp(std::string why);
  const std::string& why_given_up() const { return why_; }

 protected:
  virtual void Run() = 0;
  // With the GIL: whoever waited does no more.
  virtual void Interrupted() {}

 private:
  void TellAll(std::unique_lock<std::mutex>& lock, const Tell& tell);
  void ShowStep(std::unique_lock<std::mutex>& lock, const Show& show);
  bool Leave(std::unique_lock<std::mutex>& lock, CancelFlag& cancel);

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::pair<Severity, std::string>> messages_;
  Step step_;
  std::atomic<bool> is_done_ = false;  // set with the mutex held, seen also without
  bool is_given_up_ = false;
  std::string why_;
};

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_WORK_H_
