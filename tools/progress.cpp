#include "tools/progress.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "llvm/Support/Process.h"

namespace grapnel {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kBetween = std::chrono::milliseconds(200);
constexpr auto kWay = std::chrono::milliseconds(500);

class Line {
 public:
  explicit Line(llvm::StringRef command)
      : command_(command),
        begin_(Clock::now()),
        next_(begin_ + kPatience),
        thread_([this] { Draw(); }) {}

  ~Line() {
    {
      std::lock_guard lock(mutex_);
      is_over_ = true;
      Erase();
    }
    changed_.notify_one();
    thread_.join();
  }

  void Report(llvm::StringRef what, int64_t done, int64_t total) {
    std::lock_guard lock(mutex_);
    what_ = Printable(what);
    done_ = done;
    total_ = total;
  }

  void MakeWay() {
    std::lock_guard lock(mutex_);
    Erase();
    next_ = std::max(next_, Clock::now() + kWay);
  }

 private:
  void Draw() {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      changed_.wait_until(lock, next_, [this] { return is_over_; });
      if (is_over_) return;
      if (Clock::now() < next_) continue;  // MakeWay() was called
      Write("\r\x1b[K" + Text());
      is_shown_ = true;
      next_ = Clock::now() + kBetween;
    }
  }

  // Returns "opt: constant_folding, 3 of 12 ... 4 s", truncated to the terminal's width.
  std::string Text() const {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
    std::string text = command_;
    if (!what_.empty()) text += ": " + what_;
    if (total_ > 0) text += ", " + WithCommas(done_) + " of " + WithCommas(total_);
    std::string time = " ... " + std::to_string(seconds) + " s";
    unsigned columns = llvm::sys::Process::StandardErrColumns();
    size_t width = columns > 20 ? columns - 1 : 79;
    return text.substr(0, width - std::min(width, time.size())) + time;
  }

  void Erase() {
    if (is_shown_) Write("\r\x1b[K");
    is_shown_ = false;
  }

  static void Write(llvm::StringRef text) {
    [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  }

  const std::string command_;
  const Clock::time_point begin_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::string what_;
  int64_t done_ = 0, total_ = 0;
  Clock::time_point next_;  // when to redraw the line
  bool is_shown_ = false, is_over_ = false;
  std::thread thread_;  // last: it uses the members above
};

std::unique_ptr<Line>& TheLine() {
  static auto* line = new std::unique_ptr<Line>;
  return *line;
}

}  // namespace

void Progress::Start(llvm::StringRef command) {
  const char* terminal = std::getenv("TERM");
  if (!isatty(STDERR_FILENO) || !terminal || llvm::StringRef(terminal) == "dumb") return;
  TheLine() = std::make_unique<Line>(command);
}

void Progress::Report(llvm::StringRef what, int64_t done, int64_t total) {
  if (TheLine()) TheLine()->Report(what, done, total);
}

void Progress::MakeWay() {
  if (TheLine()) TheLine()->MakeWay();
}

void Progress::End() { TheLine().reset(); }

bool Progress::IsOn() { return TheLine() != nullptr; }

}  // namespace grapnel
