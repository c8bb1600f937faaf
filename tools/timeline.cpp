// `grapnel timeline DIR`: a folder of dumps as one ordered story.
#include "lib/diff/timeline.h"

#include "lib/diff/timeline_text.h"
#include "lib/ir/find.h"
#include "lib/serve/pages/html_file.h"
#include "lib/serve/pages/stage_page.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "lib/support/suggest.h"
#include "llvm/Support/Path.h"
#include "tools/command.h"
#include "tools/document.h"

namespace grapnel {
namespace {

struct Flags {
  std::string folder, log, node, html;
  bool changes = false, all = false;
};

// A block for each graph.
void PrintLife(const Timeline& timeline, llvm::ArrayRef<LifeEvent> life, llvm::StringRef indent,
               llvm::raw_ostream& os) {
  std::string line;
  for (const LifeEvent& event : life) {
    const DumpStage& dump = timeline.stages[event.stage].dump;
    if (dump.line != line) os << indent << Printable(dump.line) << ":\n";
    line = dump.line;
    os << indent << "  " << Printable(dump.stage) << ": " << Printable(event.text) << "\n";
  }
}

// Of the node of that name, else of every node of that op.
Error PrintLives(const Timeline& timeline, const Flags& flags, llvm::raw_ostream& os) {
  std::vector<LifeEvent> life = LifeOf(timeline, flags.node);
  PrintLife(timeline, life, "", os);
  if (!life.empty()) return Error::success();
  std::vector<std::string> nodes = NodesOfOp(timeline, flags.node);
  if (nodes.empty()) {
    auto names = [&](NameSink take) {
      for (const TimelineStage& stage : timeline.stages) VisitNodeNames(*stage.module, take);
    };
    return Annotate(flags.folder,
                    NotFound("node", flags.node, names, " in any stage, nor one of that op"));
  }
  for (const std::string& node : nodes) {
    os << Printable(node) << " (" << flags.node << ")\n";
    PrintLife(timeline, LifeOf(timeline, node), "  ", os);
  }
  return Error::success();
}

Error WritePage(Timeline timeline, const Flags& flags) {
  std::string title = llvm::sys::path::filename(flags.folder).str();
  PassRun run;
  run.timeline = std::make_shared<Timeline>(std::move(timeline));
  run.record = ReadRunRecord(flags.folder);
  PageSet pages;
  pages.AddAll(StagePages(std::move(run), title));
  return SaveHtmlFile(pages, title, flags.html);
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  std::shared_ptr<const FileBytes> log;
  if (!flags.log.empty()) {
    ASSIGN_OR_RETURN(log, FileBytes::Open(flags.log));
  }
  ThreadPool pool(invocation.flags.threads);
  ASSIGN_OR_RETURN(Timeline timeline,
                   ReadTimeline(flags.folder, log ? log->bytes() : llvm::StringRef(), pool));
  MessageSink sink = invocation.sink();
  for (const std::string& problem : timeline.skipped) sink(Severity::kWarning, problem);
  for (const std::string& problem : timeline.problems) sink(Severity::kWarning, problem);
  llvm::raw_ostream& os = invocation.out();
  if (!flags.node.empty()) {
    RETURN_IF_ERROR(PrintLives(timeline, flags, os));
  } else if (flags.changes) {
    WriteTimelineChanges(timeline, {invocation.UseColor(), flags.all}, os);
  } else if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WriteTimelineJson(timeline, json); });
  } else {
    WriteTimelineTable(timeline, os);
  }
  if (!flags.html.empty()) RETURN_IF_ERROR(WritePage(std::move(timeline), flags));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  line.WithoutPlugins();
  auto flags = std::make_shared<Flags>();
  line.Option("DIR", flags->folder, "a folder of dumps, TensorFlow's or grapnel's").Required();
  line.Option("--log", flags->log, "what TensorFlow wrote to stderr: the order of the dumps")
      .ShownAs("FILE");
  line.Option("--node", flags->node,
              "the life of this node (NODE or FUNCTION/NODE), or of the nodes of this op");
  line.Flag("--changes", flags->changes, "what each stage changed, as `diff` shows it");
  line.Flag("--all", flags->all, "with --changes: every change, and every value in full");
  line.Option("--html", flags->html,
              "a page with a slider through the stages, what each did glowing")
      .ShownAs("FILE");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("timeline", "tells what each stage of a folder of dumps changed",
                "timeline dumps --node Min", SetUp);

}  // namespace
}  // namespace grapnel
