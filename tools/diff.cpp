// `grapnel diff A B`: what differs between two graphs.
#include "lib/diff/diff.h"

#include "lib/diff/diff_json.h"
#include "lib/diff/diff_text.h"
#include "lib/diff/statistics.h"

#include "lib/support/text.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string a, b, ledger;
  std::vector<std::string> ignored, only;
  bool all = false, names = false, statistics = false;
};

void Print(const Diff& diff, const DiffStatistics& statistics, const Flags& flags,
           Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDiffJson(diff, statistics, os);
    return;
  }
  if (!invocation.flags.quiet) WriteDiffText(diff, {invocation.UseColor(), flags.all}, os);
  if (flags.statistics) WriteStatistics(statistics, os);
  os << DiffSummary(diff) << "\n";
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.a == "-" && flags.b == "-")
    return MakeError("only one of the two graphs can come from standard input");
  ASSIGN_OR_RETURN(InputGraph a, OpenInput(flags.a));
  ASSIGN_OR_RETURN(InputGraph b, OpenInput(flags.b));
  MessageSink sink = invocation.sink();
  for (const InputGraph* input : {&a, &b}) {
    for (const std::string& line : ProblemLines(*input)) sink(Severity::kWarning, line);
  }
  DiffOptions options;
  ASSIGN_OR_RETURN(options.ignore, IgnoreRules::Parse(flags.ignored));
  options.only = OnlyFilters::Parse(flags.only);
  options.names = flags.names;
  std::optional<Provenance> provenance;
  if (!flags.ledger.empty()) {
    ASSIGN_OR_RETURN(auto file, FileBytes::Open(flags.ledger));
    auto parsed = Provenance::Parse(file->bytes());
    if (!parsed) return Annotate(flags.ledger, parsed.takeError());
    provenance = std::move(*parsed);
    options.provenance = &*provenance;
  }
  Diff diff = DiffModules(a.module(), b.module(), options);
  Print(diff, CompareSizes(a.module(), b.module(), flags.statistics), flags, invocation);
  return diff.Same() ? kExitOk : kExitNo;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("A", flags->a, "a graph").Required();
  line.Option("B", flags->b, "the graph to compare it with").Required();
  line.Option("--ignore", flags->ignored,
              "what does not count: attribute names (globs), device, control, node:GLOB, op:GLOB")
      .Separator(',')
      .ShownAs("RULE,...");
  line.Option("--only", flags->only, "only these nodes and scopes; also op:GLOB, function:GLOB")
      .Separator(',')
      .ShownAs("GLOB,...");
  line.Flag("--names", flags->names, "a new name is a difference");
  line.Option("--ledger", flags->ledger, "what `opt --ledger` wrote when it made B of A")
      .ShownAs("FILE");
  line.Flag("--statistics", flags->statistics, "ops, constants and estimated FLOPs of both");
  line.Flag("--all", flags->all, "every change, and every value in full");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("diff", "says what differs between two graphs, node by node",
                "diff before.pb after.pb", SetUp);

}  // namespace
}  // namespace grapnel
