#include "tools/break_run.h"

#include <unistd.h>

#include "lib/ir/tensor_name.h"
#include "lib/job/job_json.h"
#include "lib/support/text.h"
#include "lib/watch/array_text.h"
#include "lib/watch/tensor_summary.h"
#include "tools/debug_prompt.h"
#include "tools/document.h"
#include "tools/progress.h"

namespace grapnel {
namespace {

using Go = DebugOrder::Go;
using Why = DebugStop::Why;

constexpr int64_t kKept = 1024 * int64_t{1000000};  // bytes of values that the prompt can show
constexpr int64_t kMostElements = 8;                // elements of the value in JSON

// Drives the debugger until a breakpoint is hit, or all runs have ended.
class UntilBreak {
 public:
  UntilBreak(Debugger& debugger, int repeat, Invocation& invocation)
      : debugger_(debugger),
        repeat_(repeat),
        invocation_(invocation),
        shell_(debugger, invocation.out(), invocation.UseColor()) {
    asks_ = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !invocation.flags.json &&
            !invocation.flags.quiet && !invocation.caller();
  }

  DebugOrder operator()(const DebugStop& stop) {
    if (prompt_) return (*prompt_)(stop);
    DebugOrder order;
    order.go = Go::kContinue;
    if (stop.why == Why::kBreakpoint) return Stop(stop);
    if (stop.why == Why::kFailed) {
      error_ = stop.error;
      order.go = Go::kQuit;
    } else if (stop.why == Why::kEnded) {
      run_.fetches = debugger_.fetches();
      run_.fetch_names = debugger_.fetch_names();
      run_.runs.push_back(stop.fetched);
      order.go = stop.run < repeat_ ? Go::kNextRun : Go::kQuit;
    }
    return order;
  }
  const std::optional<std::string>& error() const { return error_; }
  BreakRun Take() { return std::move(run_); }

 private:
  DebugOrder Stop(const DebugStop& stop) {
    run_.has_stopped = true;
    if (asks_) {
      Progress::End();
      lines_ = TypedLines(shell_);
      on_interrupt_.emplace(debugger_);
      prompt_.emplace(shell_, *lines_);
      return (*prompt_)(stop);
    }
    if (invocation_.flags.json) {
      WriteJson(stop);
    } else if (!invocation_.flags.quiet) {
      shell_.ShowStop(stop);
      Summarize(stop);
    }
    DebugOrder order;
    order.go = Go::kQuit;
    return order;
  }

  void Summarize(const DebugStop& stop) {
    if (stop.output < 0) return;
    const Tensor& value = stop.outputs[stop.output];
    auto summary = NumericSummary(value);
    if (!summary) return llvm::consumeError(summary.takeError());
    invocation_.out() << OutputName(stop.node.name(), stop.output) << ": "
                      << NumPyTypeName(value.dtype()) << " " << NumPyShapeText(value.dims()) << "\n"
                      << *summary;
  }

  void WriteJson(const DebugStop& stop) {
    WriteDocument(invocation_.out(), [&](llvm::json::OStream& json) {
      json.attributeObject("break", [&] { WriteStop(stop, json); });
    });
  }

  void WriteStop(const DebugStop& stop, llvm::json::OStream& json) {
    const Function* function = FunctionOf(stop.node.graph());
    json.attributeArray("filters", [&] {
      for (const Breakpoint& breakpoint : debugger_.breakpoints())
        if (llvm::is_contained(stop.breakpoints, breakpoint.number)) json.value(breakpoint.text());
    });
    json.attribute("node", stop.node.name());
    json.attribute("op", stop.node.op());
    json.attribute("function", function ? function->name() : "");
    json.attribute("run", stop.run);
    json.attribute("step", stop.step);
    if (stop.iteration() >= 0) json.attribute("iteration", stop.iteration());
    json.attributeArray("calls", [&] {
      for (const StopFrame& frame : stop.frames) {
        json.object([&] {
          if (frame.function) json.attribute("function", frame.function->name());
          if (frame.function) json.attribute("caller", frame.caller);
          if (!frame.function) json.attribute("loop", frame.loop);
          if (frame.iteration >= 0) json.attribute("iteration", frame.iteration);
        });
      }
    });
    if (stop.output < 0) return;
    json.attributeObject("output", [&] {
      WriteTensorJson(OutputName(stop.node.name(), stop.output), stop.outputs[stop.output],
                      kMostElements, json);
    });
  }

  Debugger& debugger_;
  int repeat_;
  Invocation& invocation_;
  DebugShell shell_;
  bool asks_ = false;
  std::unique_ptr<LineSource> lines_;
  std::optional<OnInterrupt> on_interrupt_;
  std::optional<DebugPrompt> prompt_;
  std::optional<std::string> error_;
  BreakRun run_;
};

void ReportWhatNeverHeld(Debugger& debugger, Invocation& invocation) {
  if (invocation.flags.quiet) return;
  for (const Breakpoint& breakpoint : debugger.breakpoints()) {
    if (breakpoint.hits > 0) continue;
    std::string text = "--break '" + breakpoint.text() + "' never held";
    if (breakpoint.unanswered > 0)
      text += "; for " + Plural(breakpoint.unanswered, std::string("tensor")) +
              " the condition had no answer: " + breakpoint.problem;
    invocation.err() << "grapnel: " << text << "\n";
  }
}

}  // namespace

Expected<BreakRun> RunToBreak(const OpenedGraph& opened, const RunRequest& request,
                              llvm::ArrayRef<std::string> filters, int repeat,
                              Invocation& invocation) {
  Debugger debugger(opened, request, kKept);
  for (const std::string& filter : filters) {
    if (Error error = debugger.AddBreakpoint(filter))
      return Annotate("--break " + filter, std::move(error));
  }
  UntilBreak until(debugger, repeat, invocation);
  RETURN_IF_ERROR(debugger.Run([&](const DebugStop& stop) { return until(stop); }));
  if (until.error()) return MakeError("{0}", *until.error());
  BreakRun run = until.Take();
  if (!run.has_stopped) ReportWhatNeverHeld(debugger, invocation);
  return run;
}

}  // namespace grapnel
