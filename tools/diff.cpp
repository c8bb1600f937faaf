// `grapnel diff A B`: shows the differences between two graphs.
#include "lib/diff/diff.h"

#include "lib/diff/diff_json.h"
#include "lib/diff/diff_text.h"
#include "lib/diff/dump_order.h"
#include "lib/diff/python_functions.h"
#include "lib/diff/signature_diff.h"
#include "lib/diff/statistics.h"
#include "lib/job/function_graph.h"
#include "lib/job/function_signature.h"
#include "lib/job/model_values.h"
#include "lib/job/name_resolver.h"
#include "lib/job/plugin.h"
#include "lib/job/signature_changes.h"
#include "lib/job/story_between.h"
#include "lib/job/without_constants.h"
#include "lib/render/diff_picture.h"
#include "lib/render/draw_picture.h"
#include "lib/render/picture_json.h"
#include "lib/serve/pages/diff_page.h"
#include "lib/serve/pages/stored_values.h"
#include "lib/serve/routes/html_file.h"
#include "lib/support/file.h"
#include "lib/support/name_list.h"
#include "lib/support/side_by_side.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"
#include "tools/document.h"
#include "tools/input.h"

namespace grapnel {
namespace {

struct Flags {
  std::string a, b, ledger, output;
  ShownPart part;
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
  LayerStory layers;
  const ValueReport* Values() const { return values ? &*values : nullptr; }
  bool Same() const {
    bool are_same = llvm::all_of(signatures, [](const auto& one) { return one.Same(); });
    return diff.Same() && are_same && (!values || values->Same());
  }
};

constexpr size_t kMostValues = 20;

using Sides = std::pair<OpenedGraph, OpenedGraph>;

// Returns the names of both graphs' nodes as the text has them.
ShortNames NamesOf(const Sides& sides, const Findings& found) {
  if (found.diff.Same()) return {};
  std::vector<std::string> known = AllNodeNames(sides.first.module());
  llvm::append_range(known, AllNodeNames(sides.second.module()));
  return ShortNames::WithScopes(std::move(known));
}

void Print(const Findings& found, const Flags& flags, const Sides& sides, Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  const ValueReport* values = found.Values();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) {
      WriteDiffJson(found.diff, found.statistics, found.functions, found.signatures, values, json);
      WriteLayerStoryJson(found.layers, json);
    });
    return;
  }
  if (!invocation.flags.quiet) {
    if (flags.output.empty()) {  // else the picture shows the changes
      WriteLayerStory(found.layers, "layers", flags.all, os);
      const ShortNames names = NamesOf(sides, found);
      WriteDiffText(found.diff, {invocation.UseColor(), flags.all, found.functions, &names}, os);
      WriteRenames(RenamesOf(found.diff), flags.all, os);
      WriteSignatureDiff(found.signatures, os);
    }
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

Error WritePage(const OpenedGraph& a, const OpenedGraph& b, const Findings& found,
                const Flags& flags, int threads) {
  std::string title =
      (NameOf(a, flags, flags.functions.empty() ? "" : flags.functions.front()) + " \xe2\x86\x92 " +
       NameOf(b, flags, flags.functions.empty() ? "" : flags.functions.back()))
          .str();
  ValuesOfBoth stored;
  if (!flags.no_values) stored = {StoredValuesOf(a), StoredValuesOf(b)};
  ASSIGN_OR_RETURN(
      std::unique_ptr<DiffPage> page,
      DiffPage::Make(a.module(), b.module(), found.diff, title, {}, found.Values(),
                     {[&] { return LayersOf(a.file()); }, [&] { return LayersOf(b.file()); }},
                     stored));
  PageSet pages;
  pages.Add(std::move(page));
  return SaveHtmlFile(pages, title, threads, flags.output);
}

Error Draw(const OpenedGraph& a, const OpenedGraph& b, const Findings& found, const Flags& flags,
           Invocation& invocation) {
  const std::string& output = flags.output;
  llvm::StringRef suffix = llvm::sys::path::extension(output);
  if (suffix == ".html") return WritePage(a, b, found, flags, invocation.flags.threads);
  auto format = ParsePictureFormat(suffix);
  if (!format && suffix != ".json") {
    return MakeError("{0}: a picture of a diff must be a .dot, .svg, .png, .html or .json file",
                     output);
  }
  const BoxLayers layers(LayersOf(b.file()), LayersOf(a.file()));
  auto drawn = MakeDiffPicture(b.module(), found.diff, found.Values(), &layers);
  if (!drawn) return Annotate(output, drawn.takeError());
  PictureFile file;
  if (format) {
    ASSIGN_OR_RETURN(file, DrawPicture(drawn->picture, *format));
  } else {
    llvm::raw_string_ostream os(file.bytes);
    WriteDocument(os, [&](llvm::json::OStream& json) { WritePictureJson(drawn->picture, json); });
  }
  if (!file.warning.empty()) invocation.sink()(Severity::kWarning, output + ": " + file.warning);
  RETURN_IF_ERROR(WriteFile(output, file.bytes));
  for (const std::string& line : drawn->picture.header) invocation.sink()(Severity::kInfo, line);
  return Error::success();
}

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
  side_by_side = side_by_side && a.module().main.num_nodes() > kNodesWorthThreads;
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
  auto take = [](const std::string& name, OpenedGraph* side) {
    return IsObjectFunction(name, *side) ? TakeFunction(name, {}, side)
                                         : TakeLibraryFunction(name, side).takeError();
  };
  RETURN_IF_ERROR(take(flags.functions.front(), &sides->first));
  return take(flags.functions.back(), &sides->second);
}

Error CheckFlags(const Flags& flags) {
  if (!flags.functions.empty() && (flags.values || !flags.part.signature.empty()))
    return MakeError("--function compares bodies: do not pass --signature or --values");
  if (flags.values && flags.no_values)
    return MakeError("--values shows what --no-values leaves out: pass only one");
  if (flags.values && !flags.part.signature.empty())
    return MakeError("--values compares whole models: do not pass --signature");
  return Error::success();
}

// True if the flags ask for the graphs as the files hold them. A ledger and functions have the
// names of the whole file.
bool ComparesWhole(const Flags& flags) {
  return flags.part.whole || !flags.functions.empty() || !flags.ledger.empty();
}

// Returns the names of the signatures to compare one after the other; "" for the default ones, or
// for the whole graphs.
Expected<std::vector<std::string>> SignaturesToShow(const Sides& sides, const Flags& flags,
                                                    const Invocation& invocation) {
  if (ComparesWhole(flags) || !flags.part.signature.empty())
    return std::vector<std::string>{flags.part.signature};
  ASSIGN_OR_RETURN(auto names, SignaturesToCompare(sides.first, sides.second));
  if (names.size() > 1 && (invocation.flags.json || !flags.output.empty())) {
    return MakeError("{0} is for one signature, but there are {1}: name one with --signature: {2}",
                     flags.output.empty() ? "--json" : flags.output, names.size(), NameList(names));
  }
  return names;
}

// Makes the parts to compare the graphs of both sides.
Error TakeParts(const Flags& flags, llvm::StringRef signature, Sides* sides) {
  if (ComparesWhole(flags) && flags.part.signature.empty()) return TakeFunctions(flags, sides);
  ShownPart part = flags.part;
  part.signature = signature.str();
  for (OpenedGraph* side : {&sides->first, &sides->second})
    RETURN_IF_ERROR(part.Take({}, side).takeError());
  return Error::success();
}

Expected<DiffOptions> OptionsFor(const OpenedGraph& a, const OpenedGraph& b, const Flags& flags,
                                 const MessageSink& sink) {
  DiffOptions options;
  auto ignore = IgnoreRules::Parse(flags.ignored);
  if (!ignore) return Annotate("--ignore", ignore.takeError());
  options.ignore = std::move(*ignore);
  if (Error error = options.ignore.CheckFits(a.module(), b.module()))
    sink(Severity::kWarning, "--ignore: " + TextOf(std::move(error)));
  auto only = OnlyFilters::Parse(flags.only);
  if (!only) return Annotate("--only", only.takeError());
  options.only = std::move(*only);
  auto find = [&](const Module& module, llvm::StringRef name) {
    return NameResolver(&module == &a.module() ? a : b).Nodes(name, /*may_come=*/true);
  };
  if (Error error = options.only.Resolve(a.module(), b.module(), find))
    return Annotate("--only", std::move(error));
  options.names = flags.names;
  options.by_name =
      flags.by_name || (flags.ledger.empty() &&
                        AreStagesOfOneRun(a.model().path, a.module(), b.model().path, b.module()));
  return options;
}

// Returns what callers of the signatures see. `diff` is the comparison of the graphs `a` and `b`.
Expected<std::vector<SignatureDiff>> SignaturesOf(const OpenedGraph& a, const OpenedGraph& b,
                                                  const Diff& diff, const DiffOptions& options,
                                                  const Flags& flags) {
  std::vector<SignatureDiff> signatures;
  if (!flags.only.empty() || !flags.part.signature.empty() || !flags.functions.empty())
    return signatures;
  if (!ComparesWhole(flags)) return CompareSignatures(a, b, diff, options);
  signatures = DiffInterfaces(a.file(), b.file());
  CountChanges(a.file(), b.file(), diff, signatures);
  return signatures;
}

// Compares the graphs of both sides. Returns whether they are the same.
Expected<bool> Compare(Sides& sides, const Flags& flags, Invocation& invocation) {
  const OpenedGraph &a = sides.first, &b = sides.second;
  ASSIGN_OR_RETURN(DiffOptions options, OptionsFor(a, b, flags, invocation.sink()));
  options.side_by_side = invocation.flags.threads != 1;
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
  // A picture shows the changes instead.
  bool tells_layers = invocation.flags.json || (flags.output.empty() && !invocation.flags.quiet);
  if (tells_layers && !flags.values)
    found.layers = StoryBetween(a, b, found.diff, options, nullptr);
  if (flags.no_values) StripConstants(&sides.first.module(), &sides.second.module(), &found.diff);
  ASSIGN_OR_RETURN(found.signatures, SignaturesOf(a, b, found.diff, options, flags));
  // The picture shows the graphs that are compared; other signatures may read other variables.
  if (flags.values) {
    ASSIGN_OR_RETURN(found.values, CompareModelValues(a, b, found.diff));
    if (tells_layers) found.layers = StoryBetween(a, b, found.diff, options, found.Values());
  }
  if (!flags.output.empty()) RETURN_IF_ERROR(Draw(a, b, found, flags, invocation));
  std::optional<Diff> whole;
  if (flags.values && (&a.whole() != &a || &b.whole() != &b)) {
    whole = DiffModules(a.whole().module(), b.whole().module(), options);
    ASSIGN_OR_RETURN(found.values, CompareModelValues(a.whole(), b.whole(), *whole));
  }
  Print(found, flags, sides, invocation);
  invocation.Wrote(flags.output);
  return found.Same();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(CheckFlags(flags));
  bool side_by_side = invocation.flags.threads != 1;
  ASSIGN_OR_RETURN(Sides sides, OpenSides(flags, side_by_side, invocation.sink()));
  WarnOfBoth(sides.first, sides.second, side_by_side, invocation.sink());
  ASSIGN_OR_RETURN(auto signatures, SignaturesToShow(sides, flags, invocation));
  if (signatures.size() == 1) {
    RETURN_IF_ERROR(TakeParts(flags, signatures.front(), &sides));
    ASSIGN_OR_RETURN(bool are_same, Compare(sides, flags, invocation));
    return are_same ? kExitOk : kExitNo;
  }
  bool are_same = true;
  for (const std::string& signature : signatures) {
    invocation.out() << (&signature == &signatures.front() ? "" : "\n") << "--- signature "
                     << signature << "\n";
    Sides parts(sides.first.Copy(), sides.second.Copy());
    Flags of_one = flags;
    of_one.part.signature = signature;
    RETURN_IF_ERROR(TakeParts(of_one, signature, &parts));
    ASSIGN_OR_RETURN(bool is_same, Compare(parts, of_one, invocation));
    are_same &= is_same;
  }
  std::vector<SignatureDiff> interfaces = DiffInterfaces(sides.first.file(), sides.second.file());
  llvm::erase_if(interfaces, [](const auto& one) { return one.Same(); });
  WriteSignatureDiff(interfaces, invocation.out());
  return are_same && interfaces.empty() ? kExitOk : kExitNo;
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
  flags->part.AddSignatureTo(line);
  line.Option("--function", flags->functions,
              "compare this function, of a SavedModel's objects or of the library, not the main "
              "graph; given twice: the first for A, the second for B, which may be in A's file");
  line.Option("--ignore", flags->ignored,
              "what to ignore: attribute names (globs), device, control, node:GLOB, op:GLOB")
      .Separator(',')
      .ShownAs("RULE,...");
  line.Option("--only", flags->only,
              "show only these nodes, scopes and layers; also op:GLOB, function:GLOB")
      .Separator(',')
      .ShownAs("GLOB,...");
  line.Flag("--names", flags->names, "treat a new name as a difference");
  line.Flag("--by-name", flags->by_name,
            "match nodes by name only; without --ledger always so for two dumps of one run");
  line.Option("--ledger", flags->ledger, "the file that `opt --ledger` wrote when it made B from A")
      .ShownAs("FILE");
  line.Option("-o,--output", flags->output,
              "a picture of the scope tree, with colors for removed, added, changed and replaced: "
              ".dot, .svg, .png, .json or a page (.html)");
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
