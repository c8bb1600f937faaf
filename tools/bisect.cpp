// `grapnel bisect MODEL`: finds the pass and the single rewrite that make a check fail.
#include "lib/check/value_check.h"
#include "lib/job/job_json.h"
#include "lib/pass/run_text.h"
#include "tools/check_command.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/pipeline.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, check;
  PipelineFlags pipeline;
  int timeout_s = 60;
  std::function<std::vector<TypedOption>()> typed;

  // Returns the `opt` command that runs up to rewrite `limit` and writes the file `output`, with
  // the flags that were given to bisect.
  std::string OptUpTo(int limit, const char* output) const {
    std::vector<TypedOption> options = typed();
    llvm::erase_if(options, [](const TypedOption& option) {
      return option.name == "json" || option.name == "quiet" || option.name == "timeout";
    });
    return CommandText("opt", model, options,
                       {{"limit", {std::to_string(limit)}}, {"o", {output}}});
  }
};

void WriteCulprit(const Culprit& culprit, llvm::json::OStream& json) {
  const Rewrite& rewrite = culprit.rewrite;
  auto names = [&](const char* key, const std::vector<std::string>& list) {
    json.attributeArray(key, [&] {
      for (const std::string& name : list) json.value(llvm::json::fixUTF8(name));
    });
  };
  json.attribute("pass", rewrite.pass);
  json.attribute("rule", rewrite.rule);
  json.attribute("iteration", rewrite.iteration);
  json.attribute("number", rewrite.number);
  json.attribute("rewrites", culprit.rewrites);
  json.attribute("function", llvm::json::fixUTF8(rewrite.function));
  json.attribute("node", llvm::json::fixUTF8(rewrite.node));
  names("used", rewrite.used);
  names("made", rewrite.made);
  names("changed", rewrite.changed);
  names("removed", rewrite.removed);
  json.attribute("message", llvm::json::fixUTF8(culprit.what));
}

Expected<std::optional<std::string>> Failure(CheckCommand& command, const Module& module) {
  ASSIGN_OR_RETURN(CheckCommand::Outcome outcome, command.Run(module));
  if (outcome.exit_code == 0) return std::nullopt;
  std::string code =
      outcome.exit_code < 0 ? "was killed" : llvm::formatv("exits {0}", outcome.exit_code).str();
  return "the check " + code + (outcome.text.empty() ? "" : ": " + outcome.text);
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ThreadPool pool(invocation.flags.threads);
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenInput(flags.model, flags.graph, invocation.sink()));
  RETURN_IF_ERROR(flags.pipeline.Use(&opened));
  OptimizeRequest request = flags.pipeline.Request(invocation);
  request.options.pool = &pool;
  request.options.sink = invocation.sink();
  request.run_timeout_s = flags.timeout_s;
  std::optional<CheckCommand> command;
  std::function<Expected<std::optional<std::string>>(const Module&)> fails;
  if (!flags.check.empty()) {
    command.emplace(flags.check, flags.timeout_s);
    fails = [&, checks = 0](const Module& module) mutable {
      invocation.ReportProgress("check " + std::to_string(++checks));
      return Failure(*command, module);
    };
  }
  std::vector<int64_t> open_sizes;
  ASSIGN_OR_RETURN(std::optional<Culprit> culprit,
                   FindCulprit(opened, request, std::move(fails), &open_sizes));
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) {
      json.attribute("found", culprit.has_value());
      WriteOpenSizesJson(open_sizes, json);
      if (culprit) WriteCulprit(*culprit, json);
    });
  } else if (!culprit) {
    if (!invocation.flags.quiet)
      os << flags.model << ": the check holds after every pass" << OpenSizesText(open_sizes)
         << "\n";
  } else {
    const Rewrite& rewrite = culprit->rewrite;
    os << culprit->what << "\n"
       << "since rewrite " << rewrite.number << " of " << culprit->rewrites << ", in iteration "
       << rewrite.iteration << " of pass '" << rewrite.pass << "':\n"
       << RewriteText(rewrite) << "to see it:\n"
       << "  " << flags.OptUpTo(rewrite.number, "after.pb") << "\n"
       << "  " << flags.OptUpTo(rewrite.number - 1, "before.pb") << "\n";
  }
  return culprit ? kExitOk : kExitNo;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  flags->typed = line.Typed();
  line.Option("MODEL", flags->model, "the graph to optimize").Required();
  line.Option("--check", flags->check,
              "a shell command that exits 0 while the graph is good; {} is the graph's file, by "
              "default the last argument; without --check: whether the fetches keep their values")
      .ShownAs("CMD");
  line.Option("--timeout", flags->timeout_s,
              "seconds after which a check fails, or a run is an error; 0: never")
      .NotNegative()
      .ShowDefault();
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  flags->pipeline.AddTo(line);
  flags->pipeline.AddValuesTo(line);
  flags->pipeline.AddDeviceTo(line);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("bisect", "finds the pass and the single rewrite that make a check fail",
                "bisect model.pb --fetch y --check './same_output.sh {}'", SetUp);

}  // namespace
}  // namespace grapnel
