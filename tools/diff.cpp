// `grapnel diff A B`: what differs between two graphs.
#include "lib/diff/diff.h"

#include "lib/diff/diff_json.h"

#include "lib/support/text.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string a, b;
  std::vector<std::string> ignored, only;
  bool all = false;
};

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
  Diff diff = DiffModules(a.module(), b.module(), options);
  DiffStatistics statistics = CompareSizes(a.module(), b.module(), false);
  if (invocation.flags.json) WriteDiffJson(diff, statistics, invocation.out());
  return diff.Same() ? kExitOk : kExitNo;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("A", flags->a, "a graph").Required();
  line.Option("B", flags->b, "the graph to compare it with").Required();
  line.Option("--ignore", flags->ignored, "attributes that do not count")
      .Separator(',')
      .ShownAs("ATTR,...");
  line.Option("--only", flags->only, "only nodes whose names fit")
      .Separator(',')
      .ShownAs("GLOB,...");
  line.Flag("--all", flags->all, "no list is cut short");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("diff", "says what differs between two graphs, node by node",
                "diff before.pb after.pb", SetUp);

}  // namespace
}  // namespace grapnel
