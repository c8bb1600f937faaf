// `grapnel blame MODEL|FOLDER`: finds the op that made the first NaN or infinity, in a new run or
// in one that TensorFlow's debugger recorded.
#include "lib/check/cause_text.h"
#include "lib/job/blame_text.h"
#include "lib/job/optimize.h"
#include "lib/job/source.h"
#include "lib/serve/routes/html_file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/Support/Path.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/run_flags.h"
#include "tools/time_limit.h"
#include "tools/without_flag.h"

namespace grapnel {
namespace {

struct Flags {
  std::string path;
  RunFlags model;  // for a model, like the next four; the last three are for a folder
  bool optimized = false;
  std::vector<std::string> without;
  int repeat = 1;
  TimeLimit limit;
  std::string run, html;
  std::optional<int> trace;
};

// Returns the run with this id; without an id the newest run, which the user has probably just
// made.
Expected<const DebugRun*> ChooseRun(const DebugFolder& folder, llvm::StringRef id) {
  if (id.empty()) return &folder.runs.back();
  std::vector<std::string> ids;
  for (const DebugRun& run : folder.runs) {
    if (run.id == id) return &run;
    ids.push_back(run.id.empty() ? "(one without an id)" : run.id);
  }
  return Annotate(folder.path, NotFound("run", id, ids));
}

// Prints one tensor that was computed inside a function, whether bad or not.
Expected<int> PrintTrace(const DebugRun& run, const Flags& flags, Invocation& invocation) {
  if (static_cast<size_t>(*flags.trace) >= run.traces.size())
    return MakeError("{0}: there is no trace {1}; there are {2}, numbered from 0", flags.path,
                     *flags.trace, run.traces.size());
  DebugAlert tensor;
  tensor.trace = *flags.trace;
  tensor.output = run.traces[*flags.trace].slot;
  Cause cause = ExplainTensor(run, tensor);
  if (invocation.flags.json) {
    WriteDocument(invocation.out(),
                  [&](llvm::json::OStream& json) { WriteCauseFields(run, cause, json); });
  } else if (!invocation.flags.quiet) {
    WriteCauseText(run, cause, invocation.out());
  }
  return kExitOk;
}

// Writes an HTML page of the debug folder, which shows the newest run.
Error WritePage(const Flags& flags, int threads) {
  PageSet pages;
  RETURN_IF_ERROR(pages.AddPath(flags.path));
  return SaveHtmlFile(pages, llvm::sys::path::filename(flags.path), threads, flags.html);
}

Expected<int> BlameFolder(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(DebugFolder folder, ReadDebugFolder(flags.path));
  ASSIGN_OR_RETURN(const DebugRun* run, ChooseRun(folder, flags.run));
  MessageSink sink = invocation.sink();
  for (const std::string& problem : folder.problems) sink(Severity::kWarning, problem);
  if (folder.runs.size() > 1 && flags.run.empty())
    sink(Severity::kWarning,
         llvm::formatv("{0}: contains {1} runs; this is the newest, {2} (--run ID for another)",
                       folder.path, folder.runs.size(), run->id)
             .str());
  if (flags.trace) return PrintTrace(*run, flags, invocation);
  if (!flags.html.empty()) RETURN_IF_ERROR(WritePage(flags, invocation.flags.threads));
  BlameReport report = FindCauses(*run);
  llvm::raw_ostream& os = invocation.out();
  if (invocation.flags.json) {
    WriteDocument(os, [&](llvm::json::OStream& json) { WriteBlameJson(*run, report, json); });
  } else if (!invocation.flags.quiet) {
    WriteBlameText(*run, report, os);
  }
  invocation.Wrote(flags.html);
  return kExitOk;
}

Expected<RunBlame> Blame(OpenedGraph& opened, const Flags& flags, const RunRequest& request) {
  if (flags.optimized) {
    OptimizeRequest optimize;
    for (const FeedSource& feed : request.feeds) optimize.feeds.push_back({feed.tensor, "", {}});
    optimize.options.fetches = request.fetches;
    optimize.signature = request.signature;
    optimize.onednn = request.onednn;
    optimize.options.sink = request.sink;
    optimize.options.without = flags.without;
    ASSIGN_OR_RETURN(Optimized done, Optimize(opened, optimize));
    RETURN_IF_ERROR(done.AsError());
  }
  return BlameRun(opened, request, flags.repeat);
}

Expected<int> BlameGraph(OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(flags.model.Use(&opened));
  ASSIGN_OR_RETURN(RunRequest request, flags.model.Request());
  request.sink = invocation.sink();
  request.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  CancelFlag& cancel = invocation.cancel();
  request.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.path, invocation);
  auto blame = Blame(opened, flags, request);
  if (!blame || cancel.is_set()) {
    if (blame) return MakeError("{0}: {1}", flags.path, flags.limit.Text());
    if (cancel.is_set()) return Annotate(flags.path + ": " + flags.limit.Text(), blame.takeError());
    std::string text =
        TextOf(WithStack(opened, blame.takeError()));  // the error may already name the model
    bool is_named = HasPrefix(text, flags.path);
    return MakeError("{0}{1}", is_named ? "" : flags.path + ": ", text);
  }
  if (invocation.flags.json) {
    WriteDocument(invocation.out(), [&](llvm::json::OStream& json) {
      WriteRunBlameJson(*blame, LinesOf(opened), json);
    });
  } else if (!invocation.flags.quiet) {
    WriteRunBlameText(*blame, LinesOf(opened), invocation.out());
  }
  return kExitOk;
}

// Returns an error for a flag that has no effect on this kind of input (a model or a debug folder)
// and would be ignored silently. Does not check --onednn and --timeout.
Error CheckFlagsOf(bool is_folder, const Flags& flags) {
  const RunFlags& model = flags.model;
  bool of_model = flags.optimized || !flags.without.empty() || flags.repeat > 1 ||
                  !model.graph.empty() || !model.signature.empty() || !model.function.empty() ||
                  !model.variables.empty() || !model.feeds.empty() || !model.fetches.empty();
  bool of_folder = !flags.run.empty() || !flags.html.empty() || flags.trace;
  if (is_folder && of_model)
    return MakeError(
        "{0} is a debug folder: --graph, --signature, --function, --feed, --fetch, --variables, "
        "--repeat, --optimized and --without are for models",
        flags.path);
  if (!is_folder && of_folder)
    return MakeError("{0} is not a debug folder: --run, --trace and --html are for those",
                     flags.path);
  return Error::success();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (!flags.without.empty() && !flags.optimized)
    return MakeError("--without requires --optimized");
  bool is_folder = IsDebugFolder(flags.path);
  RETURN_IF_ERROR(CheckFlagsOf(is_folder, flags));
  if (is_folder) return BlameFolder(flags, invocation);
  return OnEachGraph(flags.path, flags.model.graph, {}, invocation,
                     [&](OpenedGraph& opened) { return BlameGraph(opened, flags, invocation); });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->path,
              "a model, or a case folder with its feeds; or a debug folder of TensorFlow "
              "(tf.debugging.experimental.enable_dump_debug_info)")
      .Required();
  flags->model.AddTo(line, "a tensor that should be finite; default: as in `run`", "NAME");
  flags->model.AddVariablesTo(line);
  line.Flag("--optimized", flags->optimized,
            "examine the result of the default passes instead of the graph itself");
  AddWithoutFlag(line, flags->without);
  line.Option("--repeat", flags->repeat,
              "run up to this many times, as in `run`, until a fetch is not finite")
      .Positive();
  flags->limit.AddTo(line, "stop with an error after this time; default: never");
  line.Option("--run", flags->run,
              "in a debug folder with several runs: the id of one; default: the newest")
      .ShownAs("ID");
  line.Option("--trace", flags->trace,
              "in a debug folder: examine this tensor instead, by its number in the traces of "
              "`info --json`")
      .ShownAs("N")
      .NotNegative();
  line.Option("--html", flags->html,
              "for a debug folder: write a page with the story and every tensor of the newest run")
      .ShownAs("FILE");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("blame", "finds the op that made the first NaN or infinity, and why",
                "blame model.pb --feed x=x.npy", SetUp);

}  // namespace
}  // namespace grapnel
