#include "lib/serve/work/debug_session.h"

#include "lib/debugger/debug_shell.h"
#include "lib/io/value.h"
#include "lib/render/graph_page.h"
#include "lib/serve/work/debug_json.h"
#include "lib/support/exceptions.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

constexpr size_t kMostText = 1 << 20;  // bytes of a command's output
constexpr size_t kMostBreakpoints = 200;

DebugOrder Quit() {
  DebugOrder order;
  order.go = DebugOrder::Go::kQuit;
  return order;
}

// Returns the description of a stop, a JSON object.
std::string StopJson(Debugger& debugger) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::json::OStream json(os);
  json.object([&] {
    WriteDebugStop(debugger, json);
    json.attributeArray("breakpoints", [&] {
      for (const Breakpoint& breakpoint : debugger.breakpoints()) {
        json.object([&] {
          json.attribute("number", breakpoint.number);
          json.attribute("text", Printable(breakpoint.text()));
          json.attribute("hits", breakpoint.hits);
          json.attribute("unanswered", breakpoint.unanswered);
          if (breakpoint.unanswered) json.attribute("problem", Printable(breakpoint.problem));
        });
      }
    });
  });
  return text;
}

}  // namespace

DebugSession::DebugSession(uint64_t number, std::shared_ptr<const OpenedGraph> opened,
                           PageRunRequest request, std::vector<std::string> breakpoints,
                           UploadFinder find, int64_t keep)
    : number_(number),
      opened_(std::move(opened)),
      request_(std::move(request)),
      first_breakpoints_(std::move(breakpoints)),
      find_(std::move(find)),
      keep_(keep) {
  thread_ = std::thread([this] { Work(); });
}

DebugSession::~DebugSession() {
  End("the server ends");
  thread_.join();
}

void DebugSession::Change(State state) {
  state_ = state;
  ++turn_;
  changed_.notify_all();
}

void DebugSession::Work() {
  auto done = WithoutExceptions([&]() -> Expected<int> {
    RETURN_IF_ERROR(Debug());
    return 0;
  });
  std::string why = done ? "" : TextOf(done.takeError());
  std::unique_ptr<Debugger> ended;  // destroyed outside of the lock
  {
    std::unique_lock lock(mutex_);
    // The run may fail while a request uses the debugger, so wait for that request before
    // destroying the debugger.
    changed_.wait(lock, [this] { return !is_used_; });
    ended = std::move(debugger_);
    if (why_.empty()) why_ = why.empty() ? "it was ended" : why;
    Change(State::kOver);
  }
}

Error DebugSession::Debug() {
  RETURN_IF_ERROR(CheckValid(*opened_, nullptr));
  ASSIGN_OR_RETURN(RunRequest request, MakeRunRequest(*opened_, request_, find_));
  request.cancel = &cancel_;
  request.print = [this](Severity, llvm::StringRef text) {
    std::lock_guard lock(mutex_);
    if (printed_.size() < kMostPrintedLines) printed_.push_back(text.str());
  };
  auto made = std::make_unique<Debugger>(*opened_, std::move(request), keep_);
  for (const std::string& text : first_breakpoints_) {
    if (Error error = made->AddBreakpoint(text))
      return Annotate("breakpoint " + text, std::move(error));
  }
  Debugger& debugger = *made;
  {
    std::lock_guard lock(mutex_);
    debugger_ = std::move(made);
  }
  return debugger.Run([this](const DebugStop&) { return AtStop(); });
}

DebugOrder DebugSession::AtStop() {
  std::string text = StopJson(*debugger_);
  std::unique_lock lock(mutex_);
  if (is_ending_) return Quit();
  at_stop_ = std::move(text);
  order_.reset();
  Change(State::kStopped);
  changed_.wait(lock, [this] { return !is_used_ && (order_ || is_ending_); });
  if (is_ending_) return Quit();
  Change(State::kRuns);
  return *order_;
}

// Calls `use` with the debugger at a stop; returns an error if the run is not at one. If `use`
// returns an order (such as to step), the run continues with it.
Error DebugSession::AtAStop(llvm::function_ref<std::optional<DebugOrder>(Debugger&)> use) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_used_; });
    if (state_ == State::kOver) return MakeError("the session is over: {0}", why_);
    if (state_ != State::kStopped || order_ || is_ending_)
      return MakeError("the run is not at a stop: pause it first");
    is_used_ = true;
  }
  std::optional<DebugOrder> order;
  auto done = WithoutExceptions([&]() -> Expected<int> {
    order = use(*debugger_);
    return 0;
  });
  std::lock_guard lock(mutex_);
  is_used_ = false;
  order_ = order;
  changed_.notify_all();
  return done.takeError();
}

// Updates at_stop_, the description of the stop, after a command that may have changed breakpoints
// or a value.
void DebugSession::ResetHooks(Debugger& debugger) {
  std::string text = StopJson(debugger);
  std::lock_guard lock(mutex_);
  if (at_stop_ == text) return;
  at_stop_ = std::move(text);
  ++turn_;
}

std::string DebugSession::StatusJson() const {
  std::lock_guard lock(mutex_);
  constexpr const char* kNames[] = {"begins", "runs", "stopped", "over"};
  // The client that gave an order sees the run as continued, even before the run's thread does so.
  State state = state_ == State::kStopped && order_ ? State::kRuns : state_;
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("session", number_);
      json.attribute("state", kNames[static_cast<int>(state)]);
      json.attribute("turn", turn_);
      json.attributeArray("printed", [&] {
        for (const std::string& line : printed_) json.value(Printable(line));
      });
      if (state == State::kOver) json.attribute("why", PrintableLines(why_));
      if (state != State::kStopped) return;
      json.attributeBegin("at");
      json.rawValue(at_stop_);
      json.attributeEnd();
    });
  });
}

Expected<std::string> DebugSession::Do(llvm::StringRef line) {
  std::string text, problem;
  RETURN_IF_ERROR(AtAStop([&](Debugger& debugger) -> std::optional<DebugOrder> {
    llvm::raw_string_ostream os(text);
    DebugShell shell(debugger, os, /*color=*/false);
    shell.uses_files = false;
    shell.print.threshold = std::min<int64_t>(shell.print.threshold, 1000);
    size_t before = debugger.breakpoints().size();
    auto order = shell.Do(line);
    if (debugger.breakpoints().size() > std::max(before, kMostBreakpoints)) {
      debugger.breakpoints().pop_back();
      problem = "there are " + std::to_string(kMostBreakpoints) + " breakpoints already";
    }
    ResetHooks(debugger);
    if (order) return *order;
    problem = TextOf(order.takeError());
    return std::nullopt;
  }));
  if (text.size() > kMostText) {
    text.resize(kMostText);
    text += "\n...";
  }
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attribute("text", PrintableLines(text));
      if (!problem.empty()) json.attribute("error", PrintableLines(problem));
    });
  });
}

Expected<std::string> DebugSession::Value(llvm::StringRef text) {
  ASSIGN_OR_RETURN(ValueRequest request, ValueRequest::Parse(text));
  std::optional<Expected<FoundValue>> found;
  RETURN_IF_ERROR(AtAStop([&](Debugger& debugger) -> std::optional<DebugOrder> {
    found.emplace(FindValue(debugger, request));
    return std::nullopt;
  }));
  RETURN_IF_ERROR(found->takeError());
  return ValueJson(**found, request);
}

Expected<std::string> DebugSession::NpyFile(const std::string& of, size_t index) {
  ValueRequest request;
  request.of = of;
  request.index = index;
  std::optional<Expected<FoundValue>> found;
  RETURN_IF_ERROR(AtAStop([&](Debugger& debugger) -> std::optional<DebugOrder> {
    found.emplace(FindValue(debugger, request));
    return std::nullopt;
  }));
  RETURN_IF_ERROR(found->takeError());
  const FoundValue& value = **found;
  if (value.tensor.HoldsObjects()) return MakeError("a .npy file cannot hold '{0}'", value.name);
  return NpyFileBytes(value.name, value.tensor.ToLiteral());
}

void DebugSession::Pause() {
  std::lock_guard lock(mutex_);
  bool stands = state_ == State::kStopped && !order_;
  if (debugger_ && !stands) debugger_->Interrupt();
}

void DebugSession::End(const std::string& why) {
  std::lock_guard lock(mutex_);
  if (why_.empty()) why_ = why;
  is_ending_ = true;
  cancel_.Cancel();
  changed_.notify_all();
}

bool DebugSession::is_over() const {
  std::lock_guard lock(mutex_);
  return state_ == State::kOver;
}

DebugSession::Clock::time_point DebugSession::last_asked() const {
  std::lock_guard lock(mutex_);
  return last_asked_;
}

void DebugSession::Asked() {
  std::lock_guard lock(mutex_);
  last_asked_ = Clock::now();
}

}  // namespace grapnel
