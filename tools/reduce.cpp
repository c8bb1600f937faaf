// `grapnel reduce MODEL --check CMD -o OUT`: shrinks a graph that shows a problem while it still
// shows the problem.
#include "lib/check/reduce.h"

#include "lib/io/write.h"
#include "lib/ir/summary.h"
#include "lib/support/text.h"
#include "tools/check_command.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, check, output;
  bool any_output = false;
  int timeout_s = 60, max_checks = -1;
};

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(OpenedGraph input, OpenInput(flags.model, flags.graph, invocation.sink()));
  size_t nodes_before = input.module().main.num_nodes();
  CheckCommand command(flags.check, flags.timeout_s);
  std::optional<std::string> kind;
  ReduceOptions options;
  options.max_checks = flags.max_checks;
  int checks = 0;
  options.interesting = [&](const Module& module) -> Expected<bool> {
    invocation.ReportProgress(
        llvm::formatv("check {0}, {1} nodes left", ++checks, module.main.num_nodes()).str());
    ASSIGN_OR_RETURN(CheckCommand::Outcome outcome, command.Run(module));
    if (outcome.exit_code != 0) {
      if (!kind)
        return MakeError("the check must exit 0 for the original graph, but {0}{1}",
                         outcome.exit_code < 0
                             ? "was killed"
                             : llvm::formatv("exits {0}", outcome.exit_code).str(),
                         outcome.text.empty() ? "" : ": " + outcome.text);
      return false;
    }
    if (!kind) kind = outcome.kind;
    return flags.any_output || outcome.kind == *kind;
  };
  options.found = [&](const Module& module) {
    if (invocation.flags.verbose)
      invocation.err() << WithCommas(module.main.num_nodes()) << " nodes\n";
    // Each smaller graph is written at once, so that the best graph so far is on disk if the user
    // stops the command.
    return WriteGraph(module, flags.output);
  };
  auto reduced = Reduce(input.TakeModule(), options);
  if (!reduced) return Annotate(flags.model, reduced.takeError());
  RETURN_IF_ERROR(WriteGraph(*reduced->module, flags.output));
  if (!invocation.flags.quiet && flags.output != "-") {
    invocation.out() << flags.model << ": " << WithCommas(nodes_before) << " -> "
                     << Plural(reduced->module->main.num_nodes(), "node") << " after "
                     << Plural(reduced->checks, "check") << "\n";
  }
  invocation.Wrote(flags.output, Plural(CountNodes(*reduced->module), "node"));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutJson();
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to shrink").Required();
  line.Option("--check", flags->check,
              "a shell command that exits 0 while the graph shows the problem; {} is the graph's "
              "file, by default the last argument")
      .ShownAs("CMD")
      .Required();
  line.Option("-o,--output", flags->output,
              "output file for each smaller graph: .pb, .pbtxt or .gtxt, each also .gz")
      .Required();
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  line.Flag("--any-output", flags->any_output,
            "accept graphs for which the check's last line differs in more than names and numbers");
  line.Option("--timeout", flags->timeout_s, "seconds after which a check fails; 0: never")
      .NotNegative()
      .ShowDefault();
  line.Option("--max-checks", flags->max_checks, "stop after this many checks").Positive();
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("reduce", "shrinks a graph while a check exits 0",
                "reduce model.pb --check '! grapnel opt {} --check-values' -o small.pb", SetUp);

}  // namespace
}  // namespace grapnel
