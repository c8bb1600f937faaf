// `grapnel blame FOLDER`: the op that made the first NaN or infinity of a recorded run.
#include "lib/check/cause_text.h"
#include "lib/serve/pages/html_file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"
#include "tools/command.h"

namespace grapnel {
namespace {

struct Flags {
  std::string folder, run, html;
  int trace = -1;
};

// By its id; else the newest, as it is the one that a person has just made.
Expected<const DebugRun*> ChooseRun(const DebugFolder& folder, llvm::StringRef id) {
  if (id.empty()) return &folder.runs.back();
  std::vector<std::string> ids;
  for (const DebugRun& run : folder.runs) {
    if (run.id == id) return &run;
    ids.push_back(run.id.empty() ? "(one without an id)" : run.id);
  }
  return Annotate(folder.path, NotFound("run", id, ids));
}

// One tensor that was computed inside a function, whether bad or not.
Expected<int> PrintTrace(const DebugRun& run, const Flags& flags, Invocation& invocation) {
  if (static_cast<size_t>(flags.trace) >= run.traces.size())
    return MakeError("{0}: there is no trace {1}; there are {2}, from 0", flags.folder, flags.trace,
                     run.traces.size());
  DebugAlert tensor;
  tensor.trace = flags.trace;
  tensor.output = run.traces[flags.trace].slot;
  Cause cause = ExplainTensor(run, tensor);
  if (invocation.flags.json) {
    llvm::json::OStream json(invocation.out(), 1);
    WriteCauseJson(run, cause, json);
    invocation.out() << "\n";
  } else {
    WriteCauseText(run, cause, invocation.out());
  }
  return kExitOk;
}

// The newest run.
Error WritePage(const Flags& flags) {
  PageSet pages;
  RETURN_IF_ERROR(pages.AddPath(flags.folder));
  return SaveHtmlFile(pages, llvm::sys::path::filename(flags.folder), flags.html);
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(DebugFolder folder, ReadDebugFolder(flags.folder));
  ASSIGN_OR_RETURN(const DebugRun* run, ChooseRun(folder, flags.run));
  MessageSink sink = invocation.sink();
  for (const std::string& problem : folder.problems) sink(Severity::kWarning, problem);
  if (folder.runs.size() > 1 && flags.run.empty())
    sink(Severity::kWarning,
         llvm::formatv("{0}: holds {1} runs; this is the newest, {2} (--run ID for another)",
                       folder.path, folder.runs.size(), run->id)
             .str());
  if (flags.trace >= 0) return PrintTrace(*run, flags, invocation);
  if (!flags.html.empty()) RETURN_IF_ERROR(WritePage(flags));
  BlameReport report = FindCauses(*run);
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    llvm::json::OStream json(os, 1);
    json.object([&] { WriteBlameJson(*run, report, json); });
    os << "\n";
  } else {
    WriteBlameText(*run, report, os);
  }
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("FOLDER", flags->folder,
              "what TensorFlow's debugger wrote (tf.debugging.experimental.enable_dump_debug_info)")
      .Required();
  line.Option("--run", flags->run,
              "of a folder with several runs: this one, by its id; default: "
              "the newest")
      .ShownAs("ID");
  line.Option("--trace", flags->trace,
              "tell of this tensor instead, by its number in the traces of `info --json`")
      .ShownAs("N");
  line.Option("--html", flags->html, "a page with the story and every tensor of the newest run")
      .ShownAs("FILE");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("blame", "names the op that made the first NaN or infinity, and why",
                "blame /tmp/tfdbg2_logdir", SetUp);

}  // namespace
}  // namespace grapnel
