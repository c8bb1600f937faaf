// `grapnel diff A B`: shows the differences between two graphs.
#include "lib/diff/diff.h"

#include "lib/diff/diff_json.h"
#include "lib/diff/diff_text.h"
#include "lib/diff/dump_order.h"
#include "lib/diff/python_functions.h"
#include "lib/diff/signature_diff.h"
#include "lib/diff/statistics.h"
#include "lib/job/function_graph.h"
#include "lib/job/model_values.h"
#include "lib/job/plugin.h"
#include "lib/job/without_constants.h"
#include "lib/render/diff_picture.h"
#include "lib/render/draw_picture.h"
#include "lib/serve/pages/diff_page.h"
#include "lib/serve/routes/html_file.h"
#include "lib/support/file.h"
#include "lib/support/side_by_side.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"
#include "tools/document.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string a, b, signature, ledger, output;
  std::vector<std::string> ignored, only, graphs, functions;
  bool all = false, names = false, by_name = false, statistics = false, values = false,
       no_values = false;
};

// The diff and the other findings that are printed.
struct Findings {
  Diff diff;
  DiffStatistics statistics;
  std::vector<PythonFunctionChanges> functions;
  std::vector<SignatureDiff> signatures;
  std::optional<ValueReport> values;
  bool Same() const {
    return diff.Same() && SameInterface(signatures) && (!values || values->Same());
  }
};

constexpr size_t kMostValues = 20;
constexpr size_t kWorthThreads = 20'000;  // smallest number of nodes for parallel work

void Print(const Findings& found, const Flags& flags, Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  const ValueReport* values = found.values ? &*found.values : nullptr;
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) {
      WriteDiffJson(found.diff, found.statistics, found.functions, found.signatures, values, json);
    });
    return;
  }
  if (!invocation.flags.quiet) {
    WriteDiffText(found.diff, {invocation.UseColor(), flags.all, found.functions}, os);
    WriteRenames(RenamesOf(found.diff), flags.all, os);
    WriteSignatureDiff(found.signatures, os);
    if (values) WriteValueReport(*values, flags.all ? values->different.size() : kMostValues, os);
  }
  if (flags.statistics) WriteStatistics(found.statistics, os);
  os << DiffSummary(found.diff) << "\n";
}

// Returns a name that distinguishes this side from the other: the function, the file, or, if both
// graphs are in one file, the graph's title.
llvm::StringRef NameOf(const OpenedGraph& side, const Flags& flags, llvm::StringRef function) {
  if (!function.empty()) return function;
  if (flags.b.empty()) return side.file().title;
  return llvm::sys::path::filename(side.model().path);
}

Error WritePage(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff, const Flags& flags,
                int threads) {
  std::string title =
      (NameOf(a, flags, flags.functions.empty() ? "" : flags.functions.front()) + " \xe2\x86\x92 " +
       NameOf(b, flags, flags.functions.empty() ? "" : flags.functions.back()))
          .str();
  ASSIGN_OR_RETURN(std::unique_ptr<DiffPage> page,
                   DiffPage::Make(a.module(), b.module(), diff, title));
  PageSet pages;
  pages.Add(std::move(page));
  return SaveHtmlFile(pages, title, threads, flags.output);
}

Error Draw(const OpenedGraph& a, const OpenedGraph& b, const Diff& diff, const Flags& flags,
           Invocation& invocation) {
  const std::string& output = flags.output;
  if (llvm::StringRef(output).ends_with(".html"))
    return WritePage(a, b, diff, flags, invocation.flags.threads);
  auto format = ParsePictureFormat(llvm::sys::path::extension(output));
  if (!format)
    return MakeError("{0}: a picture of a diff must be a .dot, .svg, .png or .html file", output);
  auto drawn = MakeDiffPicture(b.module(), diff);
  if (!drawn) return Annotate(output, drawn.takeError());
  ASSIGN_OR_RETURN(PictureFile file, DrawPicture(drawn->picture, *format));
  if (!file.warning.empty()) invocation.sink()(Severity::kWarning, output + ": " + file.warning);
  RETURN_IF_ERROR(WriteFile(output, file.bytes));
  for (const std::string& line : drawn->picture.header) invocation.sink()(Severity::kInfo, line);
  return Error::success();
}

using Sides = std::pair<OpenedGraph, OpenedGraph>;

// True for an existing file that is neither a folder nor a program: such a file can be opened in
// parallel with another one.
bool IsPlainFile(llvm::StringRef path) {
  return FileExists(path) && !IsDirectory(path) && !NamesSource(path);
}

Expected<Sides> OpenBoth(const Flags& flags, llvm::StringRef title_a, llvm::StringRef title_b,
                         bool side_by_side, const MessageSink& sink) {
  side_by_side = side_by_side && IsPlainFile(flags.a) && IsPlainFile(flags.b);
  if (!side_by_side) {
    ASSIGN_OR_RETURN(OpenedGraph a, OpenInput(flags.a, title_a, sink));
    ASSIGN_OR_RETURN(OpenedGraph b, OpenInput(flags.b, title_b, sink));
    return std::pair(std::move(a), std::move(b));
  }
  std::optional<Expected<OpenedGraph>> a, b;
  SideBySide(
      side_by_side, [&] { a.emplace(OpenInput(flags.a, title_a)); },
      [&] { b.emplace(OpenInput(flags.b, title_b)); });
  if (!*a) {
    if (!*b) llvm::consumeError(b->takeError());
    return a->takeError();
  }
  if (!*b) return b->takeError();
  return std::pair(std::move(**a), std::move(**b));
}

std::vector<std::string> WarningsOf(const OpenedGraph& side) {
  std::vector<std::string> lines;
  WarnOfProblems(side, [&](Severity, llvm::StringRef line) { lines.push_back(line.str()); });
  return lines;
}

// Warns of the problems of both graphs, those of A first.
void WarnOfBoth(const OpenedGraph& a, const OpenedGraph& b, bool side_by_side,
                const MessageSink& sink) {
  std::vector<std::string> of_a, of_b;
  side_by_side = side_by_side && a.module().main.num_nodes() > kWorthThreads;
  SideBySide(
      side_by_side, [&] { of_a = WarningsOf(a); }, [&] { of_b = WarningsOf(b); });
  for (const auto* lines : {&of_a, &of_b})
    for (const std::string& line : *lines) sink(Severity::kWarning, line);
}

// Opens the graphs of two files, or two graphs of one file.
Expected<Sides> OpenSides(const Flags& flags, bool side_by_side, const MessageSink& sink) {
  if (flags.a == "-" && flags.b == "-")
    return MakeError("only one of the two graphs can come from standard input");
  if (flags.graphs.size() > 2) return MakeError("--graph may be passed at most twice, for A and B");
  if (flags.functions.size() > 2)
    return MakeError("--function may be passed at most twice, for A and B");
  std::string title_a, title_b;
  if (!flags.graphs.empty()) {
    title_a = flags.graphs.front();
    title_b = flags.graphs.back();
  }
  if (!flags.b.empty()) return OpenBoth(flags, title_a, title_b, side_by_side, sink);
  if (flags.graphs.size() == 2 || flags.functions.size() == 2) {
    ASSIGN_OR_RETURN(OpenedGraph a, OpenInput(flags.a, title_a, sink));
    ASSIGN_OR_RETURN(OpenedGraph b, OpenInput(flags.a, title_b, sink));
    return std::pair(std::move(a), std::move(b));
  }
  ASSIGN_OR_RETURN(std::vector<OpenedGraph> graphs, OpenEachInput(flags.a, title_a, sink));
  if (graphs.size() != 2) {
    return MakeError(
        "{0}: a diff needs two graphs, not {1}: name another file, or two graphs of this one with "
        "--graph A --graph B",
        flags.a, graphs.size());
  }
  return std::pair(std::move(graphs[0]), std::move(graphs[1]));
}

// Selects the functions to compare instead of the graphs that contain them.
Error TakeFunctions(const Flags& flags, Sides* sides) {
  if (flags.functions.empty()) return Error::success();
  RETURN_IF_ERROR(TakeFunction(flags.functions.front(), &sides->first).takeError());
  return TakeFunction(flags.functions.back(), &sides->second).takeError();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (!flags.functions.empty() && (flags.values || !flags.signature.empty()))
    return MakeError("--function compares bodies: do not pass --signature or --values");
  if (flags.values && flags.no_values)
    return MakeError("--values shows what --no-values leaves out: pass only one");
  if (flags.values && !flags.signature.empty())
    return MakeError("--values compares whole models: do not pass --signature");
  bool side_by_side = invocation.flags.threads != 1;
  MessageSink sink = invocation.sink();
  ASSIGN_OR_RETURN(auto sides, OpenSides(flags, side_by_side, sink));
  for (OpenedGraph* side : {&sides.first, &sides.second})
    RETURN_IF_ERROR(TakeGiven(flags.signature, {}, side));
  RETURN_IF_ERROR(TakeFunctions(flags, &sides));
  const OpenedGraph &a = sides.first, &b = sides.second;
  WarnOfBoth(a, b, side_by_side, sink);
  DiffOptions options;
  options.side_by_side = side_by_side;
  auto ignore = IgnoreRules::Parse(flags.ignored);
  if (!ignore) return Annotate("--ignore", ignore.takeError());
  options.ignore = std::move(*ignore);
  if (Error error = options.ignore.CheckFits(a.module(), b.module()))
    sink(Severity::kWarning, "--ignore: " + TextOf(std::move(error)));
  auto only = OnlyFilters::Parse(flags.only);
  if (!only) return Annotate("--only", only.takeError());
  options.only = std::move(*only);
  if (Error error = options.only.CheckFits(a.module(), b.module()))
    return Annotate("--only", std::move(error));
  options.names = flags.names;
  options.by_name =
      flags.by_name || (flags.ledger.empty() &&
                        AreStagesOfOneRun(a.model().path, a.module(), b.model().path, b.module()));
  std::optional<Provenance> provenance;
  if (!flags.ledger.empty()) {
    ASSIGN_OR_RETURN(auto file, FileBytes::Open(flags.ledger));
    auto parsed = Provenance::Parse(file->bytes());
    if (!parsed) return Annotate(flags.ledger, parsed.takeError());
    provenance = std::move(*parsed);
    options.provenance = &*provenance;
  }
  Findings found;
  found.diff = DiffModules(a.module(), b.module(), options);
  found.statistics = CompareSizes(a.module(), b.module(), flags.statistics);
  found.functions = ChangesByPythonFunction(found.diff, a.module(), b.module());
  if (flags.no_values) StripConstants(&sides.first.module(), &sides.second.module(), &found.diff);
  if (!flags.output.empty()) RETURN_IF_ERROR(Draw(a, b, found.diff, flags, invocation));
  if (flags.only.empty() && flags.signature.empty() && flags.functions.empty())
    found.signatures = DiffSignatures(a.file(), b.file(), found.diff);
  if (flags.values) {
    ASSIGN_OR_RETURN(found.values, CompareModelValues(a, b, found.diff));
  }
  Print(found, flags, invocation);
  return found.Same() ? kExitOk : kExitNo;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  auto flags = std::make_shared<Flags>();
  line.Option("A", flags->a, "a graph, or a file with two").Required();
  line.Option("B", flags->b, "the graph to compare A with");
  line.Option(
      "--graph", flags->graphs,
      "the title of a graph in a file with several, like A:NAME; given twice: the first for A, "
      "the second for B, which may be in A's file");
  AddSignatureFlag(line, flags->signature);
  line.Option("--function", flags->functions,
              "compare this function's body, not the main graph; given twice: the first for A, the "
              "second for B, which may be in A's file")
      .ShownAs("NAME");
  line.Option("--ignore", flags->ignored,
              "what to ignore: attribute names (globs), device, control, node:GLOB, op:GLOB")
      .Separator(',')
      .ShownAs("RULE,...");
  line.Option("--only", flags->only,
              "show only these nodes and scopes; also op:GLOB, function:GLOB")
      .Separator(',')
      .ShownAs("GLOB,...");
  line.Flag("--names", flags->names, "treat a new name as a difference");
  line.Flag("--by-name", flags->by_name,
            "match nodes by name only; without --ledger always so for two dumps of one run");
  line.Option("--ledger", flags->ledger, "the file that `opt --ledger` wrote when it made B from A")
      .ShownAs("FILE");
  line.Option("-o,--output", flags->output,
              "a picture of the scope tree, with colors for removed, added, changed and fused: "
              ".dot, .svg, .png or a page (.html)");
  line.Flag("--values", flags->values,
            "show by how much variables and constants differ, including those in checkpoints");
  AddNoValuesFlag(line, flags->no_values);
  line.Flag("--statistics", flags->statistics,
            "compare ops, constants and estimated FLOPs of both graphs");
  line.Flag("--all", flags->all, "show every change, and every value in full");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("diff", "shows the differences between two graphs, node by node",
                "diff before.pb after.pb", SetUp);

}  // namespace
}  // namespace grapnel
