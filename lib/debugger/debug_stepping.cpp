// The debugger's commands that continue the run, and those that set where it stops.
#include <limits>

#include "lib/debugger/debug_command.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Go = DebugOrder::Go;

bool HasEnded(const DebugStop& stop) {
  return stop.why == DebugStop::Why::kEnded || stop.why == DebugStop::Why::kFailed;
}

Error CheckRunning(DebugShell& shell) {
  if (!HasEnded(shell.debugger().stop())) return Error::success();
  return MakeError(
      "this run has ended: `start` begins another run, `restart` goes back to the first run, "
      "`back` "
      "goes back some steps");
}

Expected<int64_t> CountIn(const DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1, "a number of times"));
  int64_t count = 1;
  if (!names.empty() && (llvm::StringRef(names[0]).getAsInteger(10, count) || count < 1))
    return MakeError("'{0}': a number of repetitions, 1 or more, was expected", names[0]);
  return count;
}

DebugAnswer GoOn(DebugShell& shell, const DebugWords& words, Go go) {
  RETURN_IF_ERROR(CheckRunning(shell));
  DebugOrder order;
  order.go = go;
  ASSIGN_OR_RETURN(order.count, CountIn(words));
  return std::optional(order);
}

DebugAnswer Step(DebugShell& shell, DebugWords& words) { return GoOn(shell, words, Go::kStep); }
DebugAnswer Next(DebugShell& shell, DebugWords& words) { return GoOn(shell, words, Go::kNext); }
DebugAnswer Continue(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(auto names, words.Names(0, 0, "nothing more"));
  return GoOn(shell, words, Go::kContinue);
}

DebugAnswer Finish(DebugShell& shell, DebugWords& words) {
  bool is_called = llvm::any_of(shell.debugger().stop().frames,
                                [](const StopFrame& f) { return f.function != nullptr; });
  if (!is_called)
    return MakeError("the run is not in a function; `continue` goes to a breakpoint or the end");
  return GoOn(shell, words, Go::kFinish);
}

DebugAnswer Iteration(DebugShell& shell, DebugWords& words) {
  if (shell.debugger().stop().iteration() < 0) return MakeError("the run is not in a loop");
  return GoOn(shell, words, Go::kIteration);
}

DebugAnswer Start(DebugShell& shell, DebugWords& /*words*/) {
  if (!HasEnded(shell.debugger().stop()))
    return MakeError(
        "this run has not ended: `continue` goes to a breakpoint or its end, `restart` goes back "
        "to the first run");
  return std::optional(DebugOrder());
}

DebugAnswer Restart(DebugShell& /*shell*/, DebugWords& /*words*/) {
  DebugOrder order;
  order.go = Go::kBack;
  order.step = 1;
  return std::optional(order);
}

DebugAnswer Back(DebugShell& shell, DebugWords& words) {
  ASSIGN_OR_RETURN(int64_t count, CountIn(words));
  ASSIGN_OR_RETURN(DebugOrder order, shell.debugger().Back(count));
  return std::optional(order);
}

// tfdbg's `run`: continues to the end of the run, or of several runs.
DebugAnswer Run(DebugShell& shell, DebugWords& words) {
  DebugOrder order;
  ASSIGN_OR_RETURN(auto times, words.TakeNumber("-t", "--times"));
  ASSIGN_OR_RETURN(auto filter, words.TakeExpression("-f", "--till_filter_pass"));
  order.passes_breakpoints = words.TakeFlag("-n", "--no_debug");
  ASSIGN_OR_RETURN(auto names, words.Names(0, 0, "-t TIMES, -f FILTER or -n"));
  if (times && *times < 1) return MakeError("-t {0}: the number of runs must be 1 or more", *times);
  if (filter && order.passes_breakpoints)
    return MakeError("give only one of -n, which ignores breakpoints, and -f, which sets one");
  if (filter)
    RETURN_IF_ERROR(shell.debugger().AddBreakpoint("if " + *filter, /*is_temporary=*/true));
  order.go = HasEnded(shell.debugger().stop()) ? Go::kNextRun : Go::kContinue;
  order.count = times.value_or(1);
  return std::optional(order);
}

DebugAnswer Where(DebugShell& shell, DebugWords& /*words*/) {
  const DebugStop& stop = shell.debugger().stop();
  shell.ShowStop(stop);
  return std::nullopt;
}

DebugAnswer Break(DebugShell& shell, DebugWords& words) {
  Debugger& debugger = shell.debugger();
  llvm::raw_ostream& os = shell.os();
  std::string text = words.rest().str();
  llvm::StringRef rest = text;
  // "-f FILTER", as in tfdbg, means "if FILTER".
  if (rest.consume_front("-f ")) text = "if " + rest.trim().str();
  if (!text.empty()) {
    RETURN_IF_ERROR(debugger.AddBreakpoint(text));
    os << "breakpoint " << debugger.breakpoints().back().number << ": "
       << debugger.breakpoints().back().text() << "\n";
    return std::nullopt;
  }
  if (debugger.breakpoints().empty()) os << "there are no breakpoints\n";
  std::vector<std::vector<std::string>> rows;
  for (const Breakpoint& breakpoint : debugger.breakpoints()) {
    rows.push_back({std::to_string(breakpoint.number), breakpoint.text(),
                    Plural(breakpoint.hits, "hit"), UnansweredText(breakpoint)});
  }
  os << Table(rows);
  return std::nullopt;
}

DebugAnswer Delete(DebugShell& shell, DebugWords& words) {
  std::vector<Breakpoint>& breakpoints = shell.debugger().breakpoints();
  ASSIGN_OR_RETURN(auto names, words.Names(0, 1000, "numbers of breakpoints"));
  if (names.empty()) {
    shell.os() << Plural(breakpoints.size(), "breakpoint") << " deleted\n";
    breakpoints.clear();
  }
  for (const std::string& name : names) {
    auto found = llvm::find_if(
        breakpoints, [&](const Breakpoint& b) { return std::to_string(b.number) == name; });
    if (found == breakpoints.end()) {
      std::vector<std::string> numbers;
      numbers.reserve(breakpoints.size());
      for (const Breakpoint& breakpoint : breakpoints)
        numbers.push_back(std::to_string(breakpoint.number));
      return NotFound("breakpoint", name, numbers);
    }
    breakpoints.erase(found);
  }
  return std::nullopt;
}

}  // namespace

llvm::ArrayRef<DebugCommand> SteppingCommands() {
  static const std::vector<DebugCommand> commands = {
      {{"step", "s"}, "[TIMES]", "runs a node and stops at the next one; enters functions", Step},
      {{"next", "n"}, "[TIMES]", "runs a node, including all functions that it calls", Next},
      {{"finish", "out"},
       "",
       "runs until this function returns; stops after the node that called it",
       Finish},
      {{"iteration", "it"},
       "[TIMES]",
       "runs to the first node of the loop's next iteration, or past the loop",
       Iteration},
      {{"continue", "c"}, "", "runs to a breakpoint, or to the end", Continue},
      {{"back"},
       "[STEPS]",
       "goes back STEPS steps\n"
       "Restarts with the same values and variables, and runs silently to that step. Tensors\n"
       "that were set are set again; random ops draw the same numbers again.",
       Back},
      {{"restart"}, "", "goes back to the first node of the first run", Restart},
      {{"start"}, "", "begins another run after one has ended; variables keep their values", Start},
      {{"run", "r"},
       "[-t TIMES] [-f FILTER] [-n]",
       "runs to the end of this run, or of several runs\n"
       "-t TIMES: this many runs. -f FILTER: until a filter or an expression holds for a tensor "
       "(see break).\n"
       "-n: ignores breakpoints.",
       Run},
      {{"break", "b"},
       "[PLACE] [iteration N] [if FILTER|EXPRESSION]",
       "sets a breakpoint; without an argument, lists them\n"
       "PLACE: before a node by its name (FUNCTION/NODE, or a pattern); FILE:LINE, before the "
       "nodes of a source line; op:Log; func:body, at the beginning of its calls.\n"
       "iteration N: only in this iteration of the innermost loop, from 0.\n"
       "FILTER: has_inf_or_nan, has_nan, has_inf, changed (since the last time): after a node that "
       "makes such a tensor.\n"
       "EXPRESSION: after a node, if it is true; `_` stands for each tensor: if max(abs(_)) > 1e3; "
       "if loss:0 < 0.\n"
       "\"if\" is optional if nothing precedes it.",
       Break},
      {{"delete", "d"}, "[NUMBER...]", "deletes breakpoints by number, or all", Delete},
      {{"where", "w", "bt"}, "", "shows again where the run is: node, calls, iteration", Where},
  };
  return commands;
}

}  // namespace grapnel
