// `grapnel check MODEL --policy FILE`: checks a model against its team's policy.
#include <ctime>

#include "lib/policy/check_policy.h"
#include "lib/policy/policy_report.h"
#include "lib/render/diff_picture.h"
#include "lib/render/draw_picture.h"
#include "lib/support/file.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/onednn_flag.h"
#include "tools/size_flags.h"
#include "tools/time_limit.h"
#include "tools/without_flag.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, against, policy, graph, date, output;
  std::string junit, sarif, markdown, picture;
  PartFlags part;
  SizeFlags sizes;
  OneDnnFlag onednn;
  std::vector<std::string> without;
  bool all = false, init = false, list = false, strict = false;
  TimeLimit limit;
};

std::string Today() {
  std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

Expected<OpenedGraph> Open(const std::string& path, const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenInput(path, flags.graph, invocation.sink()));
  if (Error error = flags.part.Take(flags.sizes, &opened)) return Annotate(path, std::move(error));
  return std::move(opened);
}

Error WriteReport(const std::string& path, llvm::function_ref<void(llvm::raw_ostream& os)> write) {
  if (path.empty()) return Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  write(os);
  return WriteFile(path, text);
}

Error DrawPictureOf(const OpenedGraph& base, const OpenedGraph& model, const std::string& path) {
  auto format = ParsePictureFormat(llvm::sys::path::extension(path));
  if (!format) return MakeError("{0}: --picture draws .svg, .png or .dot", path);
  Diff diff = DiffModules(base.module(), model.module(), {});
  const BoxLayers layers(LayersOf(model.file()), LayersOf(base.file()));
  auto drawn = MakeDiffPicture(model.module(), diff, nullptr, &layers);
  if (!drawn) return Annotate(path, drawn.takeError());
  ASSIGN_OR_RETURN(PictureFile file, DrawPicture(drawn->picture, *format));
  return WriteFile(path, file.bytes);
}

Error WriteReports(const PolicyReport& report, const Flags& flags) {
  RETURN_IF_ERROR(WriteReport(flags.junit, [&](auto& os) { WritePolicyJunit(report, os); }));
  RETURN_IF_ERROR(WriteReport(flags.markdown, [&](auto& os) {
    WritePolicyMarkdown(report, llvm::sys::path::filename(flags.picture), os);
  }));
  return WriteReport(flags.sarif, [&](auto& os) { WritePolicySarif(report, os); });
}

// Returns the flags whose output goes to standard output; the text report is then not printed.
std::vector<std::string> OnStandardOutput(const Flags& flags, const Invocation& invocation) {
  std::vector<std::string> on;
  if (invocation.flags.json) on.push_back("--json");
  if (flags.junit == "-") on.push_back("--junit");
  if (flags.sarif == "-") on.push_back("--sarif");
  if (flags.markdown == "-") on.push_back("--markdown");
  return on;
}

void Print(const PolicyReport& report, const Flags& flags, Invocation& invocation) {
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WritePolicyJson(report, json); });
  } else if (OnStandardOutput(flags, invocation).empty() &&
             !(invocation.flags.quiet && report.Passes())) {
    WritePolicyText(report, flags.all, invocation.out());
  }
}

int List(Invocation& invocation) {
  if (invocation.flags.json)
    WriteDocument(invocation.out(), WritePolicyChecksJson);
  else
    WritePolicyChecks(invocation.out());
  return kExitOk;
}

// Rejects a report that would overwrite an input or another report.
Error CheckOwnPlaces(const Flags& flags) {
  std::vector<std::pair<const char*, std::string>> taken = {
      {"MODEL", flags.model}, {"--against", flags.against}, {"--policy", flags.policy}};
  const std::pair<const char*, std::string> reports[] = {{"-o", flags.output},
                                                         {"--junit", flags.junit},
                                                         {"--sarif", flags.sarif},
                                                         {"--markdown", flags.markdown},
                                                         {"--picture", flags.picture}};
  for (const auto& [flag, path] : reports) {
    if (path.empty() || path == "-") continue;
    for (const auto& [other, of_other] : taken) {
      bool is_same =
          llvm::sys::fs::is_regular_file(path) && llvm::sys::fs::equivalent(path, of_other);
      if (path == of_other || is_same)
        return MakeError("{0} {1}: {2} names the same file: choose another", flag, path, other);
    }
    taken.emplace_back(flag, path);
  }
  return Error::success();
}

Error CheckFlags(const Flags& flags, const Invocation& invocation) {
  std::vector<std::string> on = OnStandardOutput(flags, invocation);
  if (on.size() > 1) return MakeError("{0} and {1} both write to standard output", on[0], on[1]);
  if (flags.init && invocation.flags.json) return MakeError("--init prints TOML, not JSON");
  if (!flags.init && !flags.output.empty())
    return MakeError("-o is for the policy of --init; reports have flags of their own");
  if (flags.model.empty()) return MakeError("check: which model? (--list shows the checks)");
  if (flags.policy.empty() && !flags.init)
    return MakeError("check: --policy FILE is required; --init prints one to start with");
  if (!flags.picture.empty() && flags.against.empty())
    return MakeError("--picture draws the changes from BASE: give --against");
  if (!flags.date.empty() && !IsDate(flags.date))
    return MakeError("--date {0}: a day was expected, such as 2027-01-31", flags.date);
  return CheckOwnPlaces(flags);
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (flags.list) return List(invocation);
  RETURN_IF_ERROR(CheckFlags(flags, invocation));
  Policy policy;
  if (!flags.init) {
    ASSIGN_OR_RETURN(policy, ReadPolicy(flags.policy));
    if (flags.onednn.choice() != OneDnn::kAuto) policy.onednn = flags.onednn.choice();
  }
  ThreadPool pool(invocation.flags.threads);
  CancelFlag cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.model, invocation);
  ASSIGN_OR_RETURN(OpenedGraph model, Open(flags.model, flags, invocation));
  if (flags.init) {
    ASSIGN_OR_RETURN(std::string text,
                     InitialPolicy(model, flags.sizes, flags.onednn.choice(), &pool, &cancel));
    if (cancel.is_set()) return MakeError("{0}: {1}", flags.model, flags.limit.Text());
    if (flags.output.empty()) {
      invocation.out() << text;
    } else {
      RETURN_IF_ERROR(WriteFile(flags.output, text));
      invocation.Wrote(flags.output);
    }
    return kExitOk;
  }
  std::optional<OpenedGraph> base;
  if (!flags.against.empty()) {
    ASSIGN_OR_RETURN(base, Open(flags.against, flags, invocation));
  }
  PolicyRequest request;
  request.policy = &policy;
  request.today = flags.date.empty() ? Today() : flags.date;
  request.wants_drawing = !flags.markdown.empty();
  request.is_strict = flags.strict;
  request.pool = &pool;
  request.cancel = &cancel;
  request.without = flags.without;
  ASSIGN_OR_RETURN(PolicyReport report, CheckModel(model, base ? &*base : nullptr, request));
  if (cancel.is_set()) return MakeError("{0}: {1}", flags.model, flags.limit.Text());
  if (!flags.picture.empty()) RETURN_IF_ERROR(DrawPictureOf(*base, model, flags.picture));
  RETURN_IF_ERROR(WriteReports(report, flags));
  Print(report, flags, invocation);
  for (const std::string* path : {&flags.picture, &flags.junit, &flags.markdown, &flags.sarif})
    invocation.Wrote(*path);
  return report.Passes() ? kExitOk : kExitNo;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the model to check");
  line.Option("--policy", flags->policy, "the policy, as TOML (docs/guide/checking.md)")
      .ShownAs("FILE");
  line.Option("--against", flags->against,
              "the previous model: reports say what changed, and checks compare with it")
      .ShownAs("BASE");
  line.Option("--graph", flags->graph,
              "the title of one of several graphs, as `info` shows it; for dumps FUNCTION:STAGE");
  flags->part.AddTo(line);
  flags->sizes.AddTo(line);
  flags->onednn.AddTo(line);
  AddWithoutFlag(line, flags->without);
  line.Option("--junit", flags->junit, "write a JUnit report: a test case per check")
      .ShownAs("FILE");
  line.Option("--sarif", flags->sarif, "write SARIF 2.1.0, for code scanning").ShownAs("FILE");
  line.Option("--markdown", flags->markdown,
              "write Markdown for a pull request, with a Mermaid drawing of the changes from BASE")
      .ShownAs("FILE");
  line.Option("--picture", flags->picture,
              "draw the changes from BASE (.svg, .png, .dot); the Markdown links to the picture")
      .ShownAs("FILE");
  line.Option("--date", flags->date, "the day used to expire waivers; default: today")
      .ShownAs("DAY");
  flags->limit.AddTo(line, "stop with an error after this time; default: never");
  line.Flag("--all", flags->all, "print every finding, not only the first findings of each check");
  line.Flag("--strict", flags->strict,
            "a check that cannot run (no BASE, unknown sizes) is an error, not a warning");
  line.Flag("--init", flags->init, "print a policy that MODEL passes");
  line.Option("-o,--output", flags->output,
              "write the policy of --init to this file; - is standard output")
      .ShownAs("FILE");
  line.Flag("--list", flags->list, "list the checks, what each finds and its keys");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("check", "checks a model against a policy: ops, dtypes, fusions, budgets, outputs",
                "check model.pb --against old.pb --policy policy.toml --sarif check.sarif", SetUp);

}  // namespace
}  // namespace grapnel
