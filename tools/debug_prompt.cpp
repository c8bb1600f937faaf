#include "tools/debug_prompt.h"

namespace grapnel {
namespace {

std::atomic<Debugger*> interrupted{nullptr};

DebugOrder Quit() {
  DebugOrder order;
  order.go = DebugOrder::Go::kQuit;
  return order;
}

}  // namespace

DebugOrder DebugPrompt::operator()(const DebugStop& stop) {
  shell_.ShowStop(stop);
  for (;;) {
    shell_.os().flush();
    std::optional<std::string> line = lines_.Next("(grapnel) ");
    if (!line) return Quit();
    // At the prompt, an empty line repeats the last command if that let the run continue, except
    // `back`; commands that fail do not count.
    if (llvm::StringRef(*line).trim().empty() && !lines_.is_script()) line = last_;
    auto answer = shell_.Do(*line);
    if (!answer) {
      has_failed_ = true;
      shell_.os() << "error: " << TextOf(answer.takeError()) << "\n";
      continue;
    }
    last_ = *answer && (*answer)->go != DebugOrder::Go::kBack ? *line : "";
    if (!*answer) continue;
    shell_.debugger().ForgetInterrupt();  // Ctrl-C at the prompt
    return **answer;
  }
}

std::unique_ptr<LineSource> TypedLines(const DebugShell& shell) {
  return MakeLineEditor([&shell](const std::string& line) { return shell.Complete(line); });
}

OnInterrupt::OnInterrupt(Debugger& debugger) {
  interrupted = &debugger;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    if (Debugger* running = interrupted) running->Interrupt();
  };
  sigaction(SIGINT, &action, &before_);
}

OnInterrupt::~OnInterrupt() {
  sigaction(SIGINT, &before_, nullptr);
  interrupted = nullptr;
}

}  // namespace grapnel
