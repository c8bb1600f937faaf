// `grapnel replay CASE...`: runs cases and compares the outputs with the expected ones.
#include "lib/job/replay.h"

#include "lib/ir/device_name.h"
#include "lib/support/json.h"
#include "lib/support/text.h"
#include "lib/watch/tap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "tools/command.h"
#include "tools/document.h"
#include "tools/input.h"
#include "tools/onednn_flag.h"
#include "tools/spread_flags.h"
#include "tools/time_limit.h"
#include "tools/without_flag.h"

namespace grapnel {
namespace {

struct Flags {
  std::vector<std::string> cases, taps;
  std::string model, graph;
  std::string tap_mode = "FULL_HEALTH", device = kLocalCpu, run_on = "CPU";
  SpreadFlags spread;
  OneDnnFlag onednn;
  bool optimize = false;
  std::vector<std::string> without;
  int repeat = 1;
  TimeLimit limit;
};

// Replays a case within the time limit. `model` replaces the case's graph; may be null.
Replayed ReplayInTime(const std::string& path, const OpenedGraph* model, ReplayRequest request,
                      const Flags& flags, Invocation& invocation) {
  CancelFlag of_case;  // one per case: a timeout does not end later cases
  CancelFlag& cancel = flags.cases.size() == 1 ? invocation.cancel() : of_case;
  request.run.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, path, invocation);
  Replayed replayed = model ? ReplayOn(*model, path, request) : Replay(path, request);
  if (cancel.is_set() && replayed.status != Replayed::kPass)
    replayed.message = flags.limit.Text() + ": " + replayed.message;
  return replayed;
}

void Print(const Flags& flags, const std::string& path, const Replayed& replayed,
           Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  std::string name = llvm::sys::path::filename(llvm::StringRef(path).rtrim('/')).str();
  bool passed = replayed.status == Replayed::kPass;
  if (invocation.flags.json) {
    auto write = [&](llvm::json::OStream& json) {
      json.attribute("case", llvm::json::fixUTF8(name));
      json.attribute("status", StatusName(replayed.status));
      json.attribute("median_ms", replayed.median_ms);
      json.attribute("taps", replayed.taps);
      json.attribute("max_error", NumberOrText(replayed.max_error));
      json.attribute("message", llvm::json::fixUTF8(replayed.message));
    };
    WriteDocument(os, write, {.on_one_line = true});
    return;
  }
  if (invocation.flags.quiet && passed) return;
  os << StatusName(replayed.status) << "  " << name;
  if (passed) os << llvm::format("  max error %.2g", replayed.max_error);
  if (passed && flags.repeat > 1) os << llvm::format("  %.3f ms", replayed.median_ms);
  if (replayed.taps) os << "  " << Plural(replayed.taps, "tensor") << " tapped";
  llvm::StringRef message = replayed.message;
  if (message.consume_front(path)) message.consume_front(": ");
  if (!message.empty()) os << ": " << message;
  os << "\n";
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(flags.spread.CheckCombination());
  if (flags.taps.empty() && flags.tap_mode != Flags().tap_mode)
    return MakeError("--tap-mode requires --tap GLOB");
  if (!flags.optimize && flags.device != kLocalCpu)
    return MakeError("--device requires --optimize; --run-on selects where nodes run");
  if (!flags.optimize && !flags.without.empty()) return MakeError("--without requires --optimize");
  ThreadPool pool(invocation.flags.threads);
  ReplayRequest request;
  auto taps = Glob::ParseAll(flags.taps);
  if (!taps) return Annotate("--tap", taps.takeError());
  request.taps = std::move(*taps);
  request.tap_mode = *ParseTapMode(flags.tap_mode);
  request.demands_taps = flags.cases.size() == 1;  // with several cases, each has its own nodes
  request.repeat = flags.repeat;
  if (flags.optimize) request.optimize_for = flags.device;
  request.without = flags.without;
  request.run.pool = &pool;
  request.run.onednn = flags.onednn.choice();
  // The text that the graphs print is shown only with -v.
  if (invocation.flags.verbose) request.run.print = invocation.sink();
  ASSIGN_OR_RETURN(request.run.device, Devices::Get().Find(flags.run_on));
  flags.spread.Fill(&request.run, "--run-on");
  RETURN_IF_ERROR(flags.spread.Announce(request.run, invocation.sink()));
  std::optional<OpenedGraph> model;
  if (!flags.model.empty()) {
    ASSIGN_OR_RETURN(model, OpenInput(flags.model, flags.graph, invocation.sink()));
  } else if (!flags.graph.empty()) {
    return MakeError("--graph requires --model: a case has one graph");
  }
  int passed = 0, failed = 0;
  for (const std::string& path : flags.cases) {
    invocation.ReportProgress(path, passed + failed + 1, flags.cases.size());
    RETURN_IF_ERROR(StopIfCancelled(&invocation.cancel()));
    Replayed replayed = ReplayInTime(path, model ? &*model : nullptr, request, flags, invocation);
    ++(replayed.status == Replayed::kPass ? passed : failed);
    Print(flags, path, replayed, invocation);
    invocation.out().flush();
  }
  (invocation.flags.json ? invocation.err() : invocation.out())
      << passed << " passed, " << failed << " failed\n";
  return failed ? kExitNo : kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("CASE", flags->cases,
              "case folders or zip files of them: graph.pb, case.json, .npy files")
      .Required();
  line.Option("--model", flags->model,
              "run the cases on this model instead of their own graphs: cases captured from a "
              "signature by its keys, others by tensor names")
      .ShownAs("MODEL");
  line.Option("--graph", flags->graph, "which graph of MODEL: its title as `info` shows it");
  line.Flag("--optimize", flags->optimize, "optimize first, with the default passes");
  AddWithoutFlag(line, flags->without);
  line.Option("--repeat", flags->repeat,
              "if above 1: run this many more times, on slightly different feeds, and print the "
              "median time")
      .Positive();
  flags->limit.AddTo(
      line, "a case that takes longer fails; default: no limit (a graph may loop forever)");
  line.Option("--tap", flags->taps,
              "tap nodes whose names match, and print how many tensors were tapped")
      .ShownAs("GLOB");
  line.Option("--tap-mode", flags->tap_mode, "what a tap computes")
      .OneOf(TapModeNames())
      .ShowDefault();
  line.Option("--device", flags->device, "device for nodes without one, with --optimize")
      .ShowDefault();
  line.Option("--run-on", flags->run_on,
              "device for nodes that request no device and have a kernel for it: CPU, GPU, GPU:1")
      .ShowDefault();
  flags->spread.AddTo(line);
  flags->onednn.AddTo(line);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("replay", "runs case folders and compares the outputs with the expected ones",
                "replay cases/*", SetUp);

}  // namespace
}  // namespace grapnel
