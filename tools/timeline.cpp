// `grapnel timeline DIR`: shows a dump folder as one ordered story.
#include "lib/diff/timeline.h"

#include <map>
#include <optional>

#include "lib/diff/named_nodes.h"
#include "lib/diff/timeline_layers.h"
#include "lib/diff/timeline_text.h"
#include "lib/ir/find.h"
#include "lib/ir/tensor_name.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/serve/routes/html_file.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "lib/support/side_by_side.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "tools/command.h"
#include "tools/document.h"

namespace grapnel {
namespace {

struct Flags {
  std::string folder, log, function, node, html;
  bool changes = false, all = false, brief = false;
};

constexpr size_t kMostLives = 36;

// Prints the history of one node: its stages in the trace that begins at stage `begin`, each group
// below the name of the dumped graph. With `has_title`, the caller has already printed the name of
// the trace's own graph, so only the names of other graphs are printed.
void PrintLife(const Timeline& timeline, llvm::ArrayRef<LifeEvent> life, int begin, bool has_title,
               llvm::raw_ostream& os) {
  const std::string& own = timeline.stages[begin].dump.line;
  std::string line = has_title ? own : "";
  for (const LifeEvent& event : life) {
    if (BeginOf(timeline, event.stage) != begin) continue;
    const DumpStage& dump = timeline.stages[event.stage].dump;
    const char* indent = !has_title ? "" : dump.line == own ? "  " : "    ";
    if (dump.line != line) os << indent << Printable(dump.line) << ":\n";
    line = dump.line;
    os << indent << "  " << Printable(dump.stage) << ": " << Printable(event.text) << "\n";
  }
}

// Prints the histories of nodes; computes the history of each node name only once.
class Lives {
 public:
  explicit Lives(const Timeline& timeline) : timeline_(timeline) {}

  // Prints a block for each trace. If a node has another name than `asked`, each node gets a title.
  // Copies of a node that inlining made are listed with the node.
  void Print(llvm::ArrayRef<NamedNode> nodes, llvm::StringRef asked, llvm::raw_ostream& os) {
    bool has_titles = llvm::any_of(nodes, [&](const NamedNode& node) {
      return node.name != asked && node.name != ReadTensorName(asked).node;
    });
    int begin = -1;
    size_t printed = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NamedNode& node = nodes[i];
      if (has_titles && printed == kMostLives) {
        os << "and " << Plural(nodes.size() - i, "more node") << ", such as '"
           << Printable(node.name) << "' of " << Printable(timeline_.stages[node.begin].dump.line)
           << "\n";
        return;
      }
      if (has_titles && IsCopy(node, nodes)) continue;
      if (has_titles && node.begin != begin)
        os << Printable(timeline_.stages[node.begin].dump.line) << ":\n";
      begin = node.begin;
      if (has_titles) os << "  " << Printable(node.name) << " (" << Printable(node.op) << ")\n";
      PrintLife(timeline_, LifeOfName(node.name), begin, has_titles, os);
      ++printed;
    }
  }

 private:
  llvm::ArrayRef<LifeEvent> LifeOfName(const std::string& name) {
    auto [it, is_new] = lives_.try_emplace(name);
    if (is_new) it->second = LifeOf(timeline_, name);
    return it->second;
  }

  bool IsCopy(const NamedNode& node, llvm::ArrayRef<NamedNode> nodes) {
    for (const LifeEvent& event : LifeOfName(node.name)) {
      if (BeginOf(timeline_, event.stage) != node.begin) continue;
      llvm::StringRef original = event.text;
      return original.consume_front("inlined from ") &&
             llvm::any_of(nodes, [&](const NamedNode& other) {
               return other.begin == node.begin && other.name == original;
             });
    }
    return false;
  }

  const Timeline& timeline_;
  std::map<std::string, std::vector<LifeEvent>> lives_;
};

// Prints the histories of the nodes that --node selects.
Error PrintLives(const Timeline& timeline, const Flags& flags, llvm::raw_ostream& os) {
  auto nodes = FindNodes(timeline, flags.node);
  if (!nodes) return Annotate("--node", nodes.takeError());
  if (nodes->empty()) {
    auto names = [&](NameSink take) {
      for (const TimelineStage& stage : timeline.stages) VisitNodeNames(*stage.module, take);
    };
    return Annotate(flags.folder,
                    NotFound("node", flags.node, names, " in any stage, nor a node with that op"));
  }
  Lives(timeline).Print(*nodes, flags.node, os);
  return Error::success();
}

Error WritePage(std::shared_ptr<const Timeline> timeline, const Flags& flags, int threads) {
  std::string title = llvm::sys::path::filename(flags.folder).str();
  PassRun run;
  run.timeline = std::move(timeline);
  run.record = ReadRunRecord(flags.folder);
  PageSet pages;
  pages.AddAll(StagePages(std::move(run), title));
  return SaveHtmlFile(pages, title, threads, flags.html);
}

// Prints the stages in the form that the flags ask for.
void Print(const Timeline& timeline, const Flags& flags, Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  if (flags.changes) {
    WriteTimelineChanges(timeline, {invocation.UseColor(), flags.all}, os);
  } else if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WriteTimelineJson(timeline, json); });
  } else {
    WriteTimelineLayers(timeline, flags.all, os);
    WriteTimelineTable(timeline, flags.brief, os);
  }
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (invocation.flags.json && (!flags.node.empty() || flags.changes))
    return MakeError("--json and {0} both write to standard output: pass only one",
                     flags.changes ? "--changes" : "--node");
  std::shared_ptr<const FileBytes> log;
  if (!flags.log.empty()) {
    ASSIGN_OR_RETURN(log, FileBytes::Open(flags.log));
  }
  ThreadPool pool(invocation.flags.threads);
  ASSIGN_OR_RETURN(Timeline read, ReadTimeline(flags.folder, log ? log->bytes() : llvm::StringRef(),
                                               pool, flags.function));
  auto timeline = std::make_shared<const Timeline>(std::move(read));
  MessageSink sink = invocation.sink();
  for (const std::string& problem : timeline->skipped) sink(Severity::kWarning, problem);
  for (const std::string& problem : timeline->problems) sink(Severity::kWarning, problem);
  // Nothing is written for nodes that do not exist.
  if (!flags.node.empty()) RETURN_IF_ERROR(PrintLives(*timeline, flags, invocation.out()));
  std::optional<Error> problem;
  SideBySide(
      !flags.html.empty() && flags.node.empty() && pool.num_threads() > 1,
      [&] {
        if (flags.node.empty()) Print(*timeline, flags, invocation);
      },
      [&] {
        problem.emplace(flags.html.empty() ? Error::success()
                                           : WritePage(timeline, flags, invocation.flags.threads));
      });
  RETURN_IF_ERROR(std::move(*problem));
  invocation.Wrote(flags.html, Plural(timeline->stages.size(), "stage"));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  auto flags = std::make_shared<Flags>();
  line.Option("DIR", flags->folder, "a dump folder, TensorFlow's or grapnel's").Required();
  line.Option("--log", flags->log, "TensorFlow's stderr output, which gives the order of the dumps")
      .ShownAs("FILE");
  line.Option("--function", flags->function,
              "only the stages of this function and of its partitions: train_step_221, or "
              "train_step for all its traces")
      .ShownAs("NAME");
  line.Flag("--brief", flags->brief, "leave out stages that changed nothing");
  line.Option("--node", flags->node,
              "the history of this node, a block for each trace: NODE, FUNCTION/NODE, a layer, the "
              "end of a "
              "name, a pattern with * and ?, or an op; a TRACE/ prefix selects a trace")
      .ShownAs("NAME");
  line.Flag("--changes", flags->changes, "show what each stage changed, as `diff` does");
  line.Flag("--all", flags->all,
            "show every layer; with --changes every change, and every value in full");
  line.Option("--html", flags->html,
              "write a page with a slider through the stages, with the changes of each highlighted")
      .ShownAs("FILE");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("timeline", "shows what each stage of a dump folder changed",
                "timeline dumps --node Min", SetUp);

}  // namespace
}  // namespace grapnel
