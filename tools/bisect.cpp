// `grapnel bisect MODEL`: which pass, and which single rewrite, makes a check fail.
#include "lib/check/bisect.h"

#include "lib/check/value_check.h"
#include "lib/exec/evaluator.h"
#include "llvm/Support/JSON.h"
#include "tools/check_command.h"
#include "tools/pipeline.h"
#include "tools/rewrite_text.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, check, device;
  PipelineFlags pipeline;
  int timeout_s = 60;
};

void PrintJson(llvm::raw_ostream& os, const Culprit& culprit) {
  llvm::json::OStream json(os, 2);
  const Rewrite& rewrite = culprit.rewrite;
  auto names = [&](const char* key, const std::vector<std::string>& list) {
    json.attributeArray(key, [&] {
      for (const std::string& name : list) json.value(llvm::json::fixUTF8(name));
    });
  };
  json.object([&] {
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
  });
  os << "\n";
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ThreadPool pool(invocation.flags.threads);
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  std::unique_ptr<OpenedGraph> input;
  BisectOptions options;
  options.open = [&]() -> Expected<Module*> {
    ASSIGN_OR_RETURN(OpenedGraph opened, OpenedGraph::Open(flags.model, flags.graph));
    input = std::make_unique<OpenedGraph>(std::move(opened));
    RETURN_IF_ERROR(SetMissingDevices(input->module(), flags.device));
    return &input->module();
  };
  ASSIGN_OR_RETURN(Module * module, options.open());
  RETURN_IF_ERROR(DemandValid(*input, invocation.sink()));
  ASSIGN_OR_RETURN(options.optimize, flags.pipeline.Options(*input));
  options.optimize.evaluator = evaluator.get();

  std::unique_ptr<CheckCommand> command;
  std::unique_ptr<ValueCheck> values;
  if (!flags.check.empty()) {
    command = std::make_unique<CheckCommand>(flags.check, flags.timeout_s);
    options.fails = [&](const Module& graph) -> Expected<std::optional<std::string>> {
      ASSIGN_OR_RETURN(CheckCommand::Outcome outcome, command->Run(graph));
      if (outcome.exit_code == 0) return std::optional<std::string>();
      std::string code = outcome.exit_code < 0
                             ? "was killed"
                             : llvm::formatv("exits {0}", outcome.exit_code).str();
      return std::optional<std::string>("the check " + code +
                                        (outcome.text.empty() ? "" : ": " + outcome.text));
    };
  } else {
    ASSIGN_OR_RETURN(ValueCheckOptions check,
                     flags.pipeline.ValueOptions(*input, options.optimize, pool));
    check.sink = invocation.sink();
    ASSIGN_OR_RETURN(values, ValueCheck::Create(*module, std::move(check)));
    options.fails = [&](const Module& graph) { return values->Differs(graph); };
  }
  auto culprit = Bisect(options);
  if (!culprit) return Annotate(flags.model, culprit.takeError());
  llvm::raw_ostream& os = invocation.out();
  if (!*culprit) {
    if (invocation.flags.json) os << "null\n";
    if (!invocation.flags.json && !invocation.flags.quiet)
      os << flags.model << ": the check holds after every pass\n";
    return kExitNo;
  }
  if (invocation.flags.json) {
    PrintJson(os, **culprit);
  } else {
    const Rewrite& rewrite = (*culprit)->rewrite;
    os << (*culprit)->what << "\n"
       << "since rewrite " << rewrite.number << " of " << (*culprit)->rewrites << ", in iteration "
       << rewrite.iteration << " of pass '" << rewrite.pass << "':\n"
       << RewriteText(rewrite) << "to see it: grapnel opt " << flags.model << " --limit "
       << rewrite.number << " -o after.pb, and --limit " << rewrite.number - 1 << " -o before.pb\n";
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to optimise").Required();
  line.Option("--check", flags->check,
              "a shell command that exits 0 while all is well; {} is the graph's file; default: "
              "whether the fetches keep their values")
      .ShownAs("CMD");
  line.Option("--timeout", flags->timeout_s, "seconds after which a check has failed; 0: never")
      .NotNegative()
      .ShowDefault();
  line.Option("--graph", flags->graph, "which graph of a file with several");
  flags->pipeline.AddTo(line);
  flags->pipeline.AddValuesTo(line);
  line.Option("--device", flags->device, "device for nodes without one; fusions need one");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("bisect", "finds the pass and the single rewrite that make a check fail",
                "bisect model.pb --fetch y --check './same_output.sh {}'", SetUp);

}  // namespace
}  // namespace grapnel
