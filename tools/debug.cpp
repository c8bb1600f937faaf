// `grapnel debug MODEL`: runs and stops a graph, or a C++ function op by op, from a terminal or a
// script.
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "lib/debugger/eager_target.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/debug_prompt.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/run_flags.h"
#include "tools/traced_functions.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, script;
  std::vector<std::string> commands;
  bool is_eager = false;
  RunFlags run;
  int64_t keep = 1024;  // MB
};

// Reads lines of a file or of standard input, and prints each after the prompt, as a terminal
// would.
class ScriptLines : public LineSource {
 public:
  ScriptLines(std::istream& is, llvm::raw_ostream& os) : is_(is), os_(os) {}
  std::optional<std::string> Next(const char* prompt) override {
    std::string line;
    if (!std::getline(is_, line)) return std::nullopt;
    os_ << prompt << line << "\n";
    return line;
  }
  bool is_script() const override { return true; }

 private:
  std::istream& is_;
  llvm::raw_ostream& os_;
};

Expected<int> Prompt(Debugger& debugger, const Flags& flags, bool is_from_input,
                     Invocation& invocation) {
  DebugShell shell(debugger, invocation.out(), invocation.UseColor());
  Progress::End();
  std::optional<OnInterrupt> on_interrupt;
  std::ifstream file;
  std::istringstream typed(llvm::join(flags.commands, "\n"));
  std::unique_ptr<LineSource> lines;
  if (!flags.commands.empty()) {
    lines = std::make_unique<ScriptLines>(typed, invocation.out());
  } else if (!is_from_input && !flags.script.empty()) {
    file.open(flags.script);
    if (!file) return MakeError("{0}: cannot be read", flags.script);
    lines = std::make_unique<ScriptLines>(file, invocation.out());
  } else if (is_from_input) {
    lines = std::make_unique<ScriptLines>(std::cin, invocation.out());
  } else {
    on_interrupt.emplace(debugger);
    lines = TypedLines(shell);
  }
  DebugPrompt prompt(shell, *lines);
  if (Error error = debugger.Run([&](const DebugStop& stop) { return prompt(stop); }))
    return Annotate(flags.model, std::move(error));
  return lines->is_script() && prompt.has_failed() ? kExitBadInput : kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (!flags.commands.empty() && !flags.script.empty())
    return MakeError("--command and --script both give commands: pass only one");
  bool is_from_input = flags.commands.empty() &&
                       (flags.script == "-" || (flags.script.empty() && !isatty(STDIN_FILENO)));
  auto print = [&](Severity, llvm::StringRef text) { invocation.out() << text << "\n"; };
  int64_t budget = flags.keep * 1000000;
  if (flags.is_eager) {
    const RunFlags& run = flags.run;
    if (!run.fetches.empty() || !run.graph.empty() || !run.signature.empty() ||
        !run.function.empty() || !run.variables.empty())
      return MakeError(
          "--fetch, --graph, --signature, --function and --variables are for graphs and cannot be "
          "combined with --eager");
    ASSIGN_OR_RETURN(TracedChoice choice, TheChoice(flags.model, invocation));
    ASSIGN_OR_RETURN(std::vector<Tensor> feeds, FeedsOf(choice, run.feeds));
    Debugger debugger(std::make_unique<EagerTarget>(choice.program, std::move(feeds), print),
                      budget);
    return Prompt(debugger, flags, is_from_input, invocation);
  }
  if (flags.model == "-" && is_from_input)
    return MakeError("standard input is the model: pass the commands with --script FILE");
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenInput(flags.model, flags.run.graph, invocation.sink()));
  RETURN_IF_ERROR(flags.run.Use(&opened));
  ASSIGN_OR_RETURN(RunRequest request, flags.run.Request());
  request.sink = invocation.sink();
  request.print = print;
  Debugger debugger(opened, request, budget);
  return Prompt(debugger, flags, is_from_input, invocation);
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model,
              "the graph to run; a case folder brings its feeds and fetches. With --eager: "
              "FILE.cpp:FUNCTION, or a function of a --plugin or example")
      .Required();
  flags->run.AddTo(line, "a tensor to compute", "NAME");
  flags->run.AddVariablesTo(line);
  line.Flag("--eager", flags->is_eager,
            "MODEL is a C++ function: step through its ops in eager mode");
  line.Option("--command", flags->commands, "run this command and exit; may be repeated, in order")
      .ShownAs("LINE");
  line.Option(
          "--script", flags->script,
          "run the commands in this file and echo each; -: those in standard input; default: -, if "
          "standard input is not a terminal")
      .ShownAs("FILE");
  line.Option("--keep", flags->keep, "MB of values to keep, the newest first")
      .ShowDefault()
      .Positive();
  line.WithoutJson();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("debug", "steps through a run: breakpoints, tensors, changes",
                "debug model.pb --feed x=x.npy", SetUp);

}  // namespace
}  // namespace grapnel
