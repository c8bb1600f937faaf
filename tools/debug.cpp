// `grapnel debug MODEL`: a graph is run and stopped, at a terminal or by a script.
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "tools/debug_prompt.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/run_flags.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, script;
  RunFlags run;
  int64_t keep = 1024;  // MB
};

// Lines of a file or of standard input, each said behind the prompt, as at a terminal.
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

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  bool is_from_input = flags.script == "-" || (flags.script.empty() && !isatty(STDIN_FILENO));
  if (flags.model == "-" && is_from_input)
    return MakeError("standard input holds the model: --script FILE for the commands");
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenInput(flags.model, flags.run.graph));
  ASSIGN_OR_RETURN(RunRequest request, flags.run.Request());
  request.sink = invocation.sink();
  request.print = [&](Severity, llvm::StringRef text) { invocation.out() << text << "\n"; };
  Debugger debugger(opened, std::move(request), flags.keep * 1000000);
  DebugShell shell(debugger, invocation.out(), invocation.UseColor());
  Progress::End();
  std::optional<OnInterrupt> on_interrupt;
  std::ifstream file;
  std::unique_ptr<LineSource> lines;
  if (!is_from_input && !flags.script.empty()) {
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

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to run; a case folder brings its feeds and fetches")
      .Required();
  flags->run.AddTo(line, "a tensor to compute", "NAME");
  flags->run.AddVariablesTo(line);
  line.Option("--script", flags->script,
              "take commands from this file and say each with what it gives; -: standard input, "
              "as without a terminal")
      .ShownAs("FILE");
  line.Option("--keep", flags->keep, "keep values of so many MB, the newest")
      .ShowDefault()
      .Positive();
  line.WithoutJson();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("debug", "steps through a run: breakpoints, tensors, changes",
                "debug model.pb --feed x=x.npy", SetUp);

}  // namespace
}  // namespace grapnel
