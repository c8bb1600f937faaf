// `grapnel replay CASE...`: runs case folders and compares with the outputs they expect.
#include <algorithm>
#include <chrono>

#include "lib/io/value.h"
#include "lib/ir/device_name.h"
#include "lib/job/optimize.h"
#include "lib/watch/tap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "tools/command.h"
#include "tools/spread_flags.h"
#include "tools/values.h"

namespace grapnel {
namespace {

struct Flags {
  std::vector<std::string> cases, taps;
  std::string tap_mode = "FULL_HEALTH", device = kLocalCpu, run_on = "CPU";
  SpreadFlags spread;
  bool optimize = false;
  int repeat = 1;
};

struct Outcome {
  std::string status = "pass", message;
  double median_ms = 0, max_error = 0;
  int64_t taps = 0;
};

// One case on one pool; errors are outcomes, not failures of the command.
class CaseRunner {
 public:
  CaseRunner(const Flags& flags, Device& device, ThreadPool& pool, MessageSink print)
      : flags_(flags), device_(device), pool_(pool), print_(std::move(print)) {}

  Outcome Run(const std::string& path) {
    Outcome outcome;
    if (Error error = RunCase(path, &outcome)) {
      outcome.message = TextOf(std::move(error));
      bool unsupported = llvm::StringRef(outcome.message).contains("kernel for ") ||
                         llvm::StringRef(outcome.message).contains("has no CPU kernel");
      outcome.status = unsupported ? "unsupported" : "error";
    }
    return outcome;
  }

 private:
  Error RunCase(const std::string& path, Outcome* outcome) {
    ASSIGN_OR_RETURN(OpenedGraph input, OpenedGraph::Open(path));
    if (!input.model().case_info)
      return MakeError("{0}: is no case folder (graph.pb, case.json, .npy files)", path);
    const Case& values = *input.model().case_info;
    if (values.fetches.empty()) return MakeError("{0}: the case fetches nothing", path);
    // Of several cases each has nodes of its own.
    if (flags_.cases.size() == 1) RETURN_IF_ERROR(DemandTapped(input.module(), flags_.taps));
    if (flags_.optimize) RETURN_IF_ERROR(OptimizeIt(input));
    Tap tap(flags_.taps, *ParseTapMode(flags_.tap_mode), nullptr);
    RunRequest request;
    request.pool = &pool_;
    request.print = print_;
    request.device = &device_;
    if (!flags_.taps.empty()) request.hook = &tap;
    flags_.spread.Fill(&request);
    ASSIGN_OR_RETURN(RunJob job, RunJob::Make(input, std::move(request)));
    RETURN_IF_ERROR(job.Prepare());
    if (print_) job.SaySpread(print_);
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs, job.Run());
    outcome->taps = tap.tensors_tapped();
    for (size_t i = 0; i < outputs.size(); ++i)
      RETURN_IF_ERROR(Check(values, i, outputs[i], outcome));
    return flags_.repeat > 1 ? Repeat(job, outcome) : Error::success();
  }

  Error OptimizeIt(OpenedGraph& input) {
    OptimizeRequest request;
    request.device = flags_.device;
    request.pool = &pool_;
    ASSIGN_OR_RETURN(Optimized done, Optimize(input, request));
    return done.AsError();
  }

  static Error Check(const Case& values, size_t i, const Tensor& output, Outcome* outcome) {
    const Case::Fetch& fetch = values.fetches[i];
    if (!output) return MakeError("fetch '{0}' has no value", fetch.tensor);
    if (output.HoldsObjects())
      return MakeError("fetch '{0}' is {1}, which cannot be compared", fetch.tensor,
                       output.ToString());
    ASSIGN_OR_RETURN(Literal expected, LoadNpyLiteral(fetch.file, output.dtype()));
    Comparison comparison = Compare(output.ToLiteral(), expected, values.rtol, fetch.atol);
    outcome->max_error = std::max(outcome->max_error, comparison.max_error);
    if (!comparison.same && outcome->status == "pass") {
      outcome->status = "fail";
      outcome->message = "'" + fetch.tensor + "' " + comparison.message;
    }
    return Error::success();
  }

  Error Repeat(RunJob& job, Outcome* outcome) {
    std::vector<double> times;
    for (int i = 0; i < flags_.repeat; ++i) {
      std::vector<Tensor> varied;
      for (const Tensor& feed : job.feed_values()) {
        ASSIGN_OR_RETURN(Tensor tensor, Vary(feed, i + 1));
        varied.push_back(std::move(tensor));
      }
      auto began = std::chrono::steady_clock::now();
      auto outputs = job.Run(std::move(varied));
      if (!outputs) return outputs.takeError();
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
              .count());
    }
    std::sort(times.begin(), times.end());
    outcome->median_ms = times[times.size() / 2];
    return Error::success();
  }

  const Flags& flags_;
  Device& device_;
  ThreadPool& pool_;
  MessageSink print_;
};

void Print(const Flags& flags, const std::string& path, const Outcome& outcome,
           Invocation& invocation) {
  llvm::raw_ostream& os = invocation.out();
  std::string name = llvm::sys::path::filename(llvm::StringRef(path).rtrim('/')).str();
  if (invocation.flags.json) {
    llvm::json::OStream json(os);
    json.object([&] {
      json.attribute("case", llvm::json::fixUTF8(name));
      json.attribute("status", outcome.status);
      json.attribute("median_ms", outcome.median_ms);
      json.attribute("taps", outcome.taps);
      json.attribute("max_error", outcome.max_error);
      json.attribute("message", llvm::json::fixUTF8(outcome.message));
    });
    os << "\n";
    return;
  }
  if (invocation.flags.quiet && outcome.status == "pass") return;
  os << outcome.status << "  " << name;
  if (outcome.status == "pass") os << llvm::format("  max error %.2g", outcome.max_error);
  if (outcome.status == "pass" && flags.repeat > 1)
    os << llvm::format("  %.3f ms", outcome.median_ms);
  if (outcome.taps) os << "  " << outcome.taps << " tensors tapped";
  if (!outcome.message.empty()) os << ": " << outcome.message;
  os << "\n";
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ThreadPool pool(invocation.flags.threads);
  // What the graphs print is not what this command is asked for; -v shows it.
  MessageSink print;
  if (invocation.flags.verbose) print = invocation.sink();
  ASSIGN_OR_RETURN(Device * device, Devices::Get().Find(flags.run_on));
  CaseRunner runner(flags, *device, pool, print);
  int passed = 0, failed = 0;
  for (const std::string& path : flags.cases) {
    Outcome outcome = runner.Run(path);
    ++(outcome.status == "pass" ? passed : failed);
    Print(flags, path, outcome, invocation);
    invocation.out().flush();
  }
  (invocation.flags.json ? llvm::errs() : invocation.out())
      << passed << " passed, " << failed << " failed\n";
  return failed ? kExitNo : kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("CASE", flags->cases, "case folders: graph.pb, case.json, .npy files").Required();
  line.Flag("--optimize", flags->optimize, "optimise first, with the default passes");
  line.Option("--repeat", flags->repeat,
              "run so often more, on feeds that differ a little, and say the median time")
      .Positive();
  line.Option("--tap", flags->taps, "tap nodes whose names fit").ShownAs("GLOB");
  line.Option("--tap-mode", flags->tap_mode, "what a tap computes")
      .OneOf(TapModeNames())
      .ShowDefault();
  line.Option("--device", flags->device, "device for nodes without one, with --optimize")
      .ShowDefault();
  line.Option("--run-on", flags->run_on,
              "where nodes run that name no device and have a kernel there: CPU, GPU, GPU:1")
      .ShowDefault();
  flags->spread.AddTo(line);
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("replay", "runs case folders and compares with the outputs they expect",
                "replay cases/*", SetUp);

}  // namespace
}  // namespace grapnel
