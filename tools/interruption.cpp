#include "tools/interruption.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "llvm/ADT/StringRef.h"

namespace grapnel {
namespace {

std::atomic<CancelFlag*> to_cancel{nullptr};
std::atomic<int> presses{0};
std::atomic<bool> lets_one_end{false};

// Writes to stderr. Called in a signal handler, where only system calls are allowed.
void Write(llvm::StringRef text) {
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void OnPress(int /*signal*/) {
  int press = ++presses + (lets_one_end ? 0 : 1);
  CancelFlag* cancel = to_cancel;
  if (press == 1) {
    Write("\ngrapnel: stopping after this run (Ctrl-C again: now)\n");
  } else if (press == 2 && cancel) {
    cancel->Cancel();
    Write("\ngrapnel: stopping, keeping the results so far (Ctrl-C again: keeps nothing)\n");
  } else {
    Interruption::Obey();
  }
}

}  // namespace

Interruption::Interruption(CancelFlag& cancel, bool has_several_runs) {
  presses = 0;
  lets_one_end = has_several_runs;
  to_cancel = &cancel;
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = OnPress;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

Interruption::~Interruption() {
  sigaction(SIGINT, &before_, nullptr);
  to_cancel = nullptr;
}

bool Interruption::is_asked() const { return presses > 0; }

void Interruption::Obey() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, nullptr);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_UNBLOCK, &interrupt, nullptr);
  raise(SIGINT);
  std::_Exit(128 + SIGINT);
}

}  // namespace grapnel
