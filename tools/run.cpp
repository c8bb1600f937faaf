// `grapnel run MODEL`: runs a graph on values from .npy files.
#include <optional>

#include "lib/job/blame_text.h"
#include "lib/job/failing_case.h"
#include "lib/job/source.h"
#include "lib/render/model_explorer.h"
#include "lib/support/text.h"
#include "lib/watch/check_numerics.h"
#include "lib/watch/profile_report.h"
#include "tools/break_run.h"
#include "tools/hook_flags.h"
#include "tools/input.h"
#include "tools/interruption.h"
#include "tools/progress.h"
#include "tools/run_flags.h"
#include "tools/run_outputs.h"
#include "tools/spread_flags.h"
#include "tools/tap_flags.h"
#include "tools/time_limit.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, save_case, profile, profile_nodes, device = "CPU";
  RunFlags run;
  HookFlags hooks;
  TapFlags tap;
  SpreadFlags spread;
  int repeat = 1;
  TimeLimit limit;
  PrintFlags print;
  bool check_numerics = false, winograd = false;
  std::vector<std::string> unchecked, breaks;
};

Expected<RunRequest> RequestOf(const Flags& flags) {
  ASSIGN_OR_RETURN(RunRequest request, flags.run.Request());
  flags.spread.Fill(&request, "--device");
  ASSIGN_OR_RETURN(request.device, Devices::Get().Find(flags.device));
  request.winograd = flags.winograd;
  return request;
}

// If a fetch or a variable is not finite, warns with one line about the op that produced NaN or
// infinity first. To find the op, runs the graph again on the same values, without printing what
// the graph prints.
Error ReportBad(OpenedGraph& opened, const Flags& flags, llvm::ArrayRef<Tensor> outputs,
                const Session& session, const CancelFlag& cancel, const MessageSink& sink) {
  if (llvm::none_of(outputs, IsBad) && BadVariables(session).empty()) return Error::success();
  ASSIGN_OR_RETURN(RunRequest request, RequestOf(flags));
  request.sink = request.print = [](Severity, llvm::StringRef) {};
  request.cancel = &cancel;
  ASSIGN_OR_RETURN(RunBlame blame, BlameRun(opened, request, flags.repeat));
  // The values of a graph that draws random numbers may be finite in this second run.
  if (const BadProducer* producer = blame.first_harmful())
    sink(Severity::kWarning,
         flags.model + ": " + ProducerSentence(*producer) + " (`grapnel blame` finds the cause)");
  return Error::success();
}

Error Failed(const OpenedGraph& opened, const Flags& flags, const CancelFlag& cancel, Error error) {
  return Annotate(cancel.is_set() ? flags.model + ": " + flags.limit.Text() : flags.model,
                  WithStack(opened, std::move(error)));
}

// Returns an error for flags that --break cannot be combined with: the debugger runs the graph on
// one CPU thread.
Error CheckPlainRun(const Flags& flags) {
  const std::pair<const char*, bool> others[] = {
      {"--tap", flags.tap.any() && flags.tap.logdir.empty()},
      {"--logdir", !flags.tap.logdir.empty()},
      {"--check-numerics", flags.check_numerics},
      {"--profile", !flags.profile.empty()},
      {"--profile-nodes", !flags.profile_nodes.empty()},
      {"--winograd", flags.winograd},
      {"--device", flags.device != "CPU"},
      {"--devices", !flags.spread.devices.empty()},
      {"--save-case", !flags.save_case.empty()},
      {"--save-variables", !flags.hooks.save_variables.empty()},
      {"--assert", !flags.hooks.assertions.empty()},
      {"--summaries", !flags.hooks.summaries.empty()},
      {"--until", !flags.hooks.until.empty()}};
  for (const auto& [name, is_given] : others)
    if (is_given) return MakeError("--break and {0} cannot be combined", name);
  return Error::success();
}

Expected<int> RunToBreakOn(const OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(CheckPlainRun(flags));
  ASSIGN_OR_RETURN(RunRequest request, RequestOf(flags));
  request.sink = invocation.sink();
  request.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  CancelFlag& cancel = invocation.cancel();
  request.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.model, invocation);
  auto run = RunToBreak(opened, request, flags.breaks, flags.repeat, invocation);
  if (!run) return Failed(opened, flags, cancel, run.takeError());
  if (run->has_stopped) return kExitNo;
  std::vector<Fetched> fetched = FetchedBy(run->fetches, run->fetch_names, flags.run.fetches);
  if (invocation.flags.json) {
    WriteFetchesJson(
        fetched, run->runs, flags.print.all, [](auto&) {}, invocation.out());
  } else if (!invocation.flags.quiet) {
    PrintFetches(fetched, run->runs.back(), flags.print, invocation.out());
  }
  RETURN_IF_ERROR(SaveFetches(fetched, run->runs.back(), invocation));
  return kExitOk;
}

// Reports the assertions that cannot hold; true if there are any.
bool ReportRefuted(AssertionHook& assertions, llvm::ArrayRef<std::string> feeds,
                   const std::string& model, Invocation& invocation) {
  std::vector<std::string> refuted = assertions.Refuted(feeds);
  for (const std::string& text : refuted)
    invocation.err() << "grapnel: " << model << ": " << text << "\n";
  return !refuted.empty();
}

bool IsCsv(llvm::StringRef path) { return path.ends_with(".csv"); }

// The runs of one graph, with their hooks and saved results.
class GraphRuns {
 public:
  GraphRuns(OpenedGraph& opened, const Flags& flags, Invocation& invocation)
      : opened_(opened),
        flags_(flags),
        invocation_(invocation),
        cancel_(invocation.cancel()),
        pool_(invocation.flags.threads) {}

  Expected<int> Do() {
    ASSIGN_OR_RETURN(RunRequest request, RequestOf(flags_));
    RETURN_IF_ERROR(Watch(&request));
    Deadline deadline = flags_.limit.Begin(cancel_, flags_.model, invocation_);
    auto job = RunJob::Make(opened_, std::move(request));
    if (!job) return job.takeError();
    job_.emplace(std::move(*job));
    AssertionHook* assertions = hooks_->assertions();
    if (assertions && ReportRefuted(*assertions, job_->feeds(), flags_.model, invocation_))
      return kExitNo;
    fetched_ = FetchedBy(job_->fetches(), job_->fetch_names(), flags_.run.fetches);
    if (Error error = job_->Prepare()) return Failed(opened_, flags_, cancel_, std::move(error));
    job_->ReportSpread(invocation_.sink());
    if (KeepsSomething() && !invocation_.caller())
      interruption_.emplace(cancel_, flags_.repeat > 1);
    for (int i = 0; i < flags_.repeat && !job_->stops() && !IsInterrupted(); ++i) {
      if (flags_.repeat > 1) invocation_.ReportProgress("run", i + 1, flags_.repeat);
      Error error = RunOnce();
      if (error && !IsInterrupted()) return End(std::move(error));
      llvm::consumeError(std::move(error));
    }
    return Finish();
  }

 private:
  // Creates all hooks and their output files, so that an unwritable file is reported before
  // anything runs.
  Error Watch(RunRequest* request) {
    auto taps = TappedRun::Begin(flags_.tap, flags_.model, opened_, flags_.run.signature,
                                 flags_.repeat > 1, pool_, invocation_.out(), invocation_.sink());
    if (!taps) return taps.takeError();
    taps_ = std::move(*taps);
    auto hooks =
        FlaggedHooks::Make(flags_.hooks, opened_, flags_.run.signature, invocation_.sink());
    if (!hooks) return Annotate(flags_.model, hooks.takeError());
    hooks_ = std::move(*hooks);
    // Taps come first, so that they record the node at which a check stops.
    if (taps_.hook()) request->steps.push_back(taps_.hook());
    for (StepHook* hook : hooks_->hooks()) request->steps.push_back(hook);
    if (!flags_.profile.empty()) {
      ASSIGN_OR_RETURN(trace_, AtomicFile::Create(flags_.profile));
    }
    if (!flags_.profile_nodes.empty()) {
      ASSIGN_OR_RETURN(node_times_, AtomicFile::Create(flags_.profile_nodes));
    }
    if (IsProfiled()) request->profiler = &profile_;
    RETURN_IF_ERROR(CheckFoldersOf(flags_.run.fetches));
    if (llvm::StringRef(flags_.save_case).ends_with(".zip"))
      return MakeError("--save-case: {0}: an archive; a folder was expected", flags_.save_case);
    if (FileExists(flags_.save_case) && !IsDirectory(flags_.save_case))
      return MakeError("--save-case: {0}: is a file; a folder was expected", flags_.save_case);
    request->pool = &pool_;
    request->sink = invocation_.sink();
    request->cancel = &cancel_;
    request->keeps_variables = !flags_.save_case.empty();
    request->print = [this](Severity, llvm::StringRef text) { invocation_.err() << text << "\n"; };
    return flags_.check_numerics ? CheckNumbers(request) : Error::success();
  }

  Error CheckNumbers(RunRequest* request) {
    auto skipped = Glob::ParseAll(flags_.unchecked);
    if (!skipped) return Annotate("--skip-numerics", skipped.takeError());
    if (Error error = CheckNodes(opened_.module(), *skipped, "--skip-numerics"))
      return Annotate(flags_.model, std::move(error));
    numerics_ = std::make_unique<CheckNumerics>(std::move(*skipped), &pool_);
    if (!flags_.save_case.empty()) numerics_->KeepInputs();
    numerics_->SetStackSource([this](const Node& node) { return StackOf(node); });
    request->hook = numerics_.get();
    return Error::success();
  }

  bool IsProfiled() const { return trace_ || node_times_; }
  const LayerNames& Layers() {
    if (!layers_) layers_.emplace(opened_.file());
    return *layers_;
  }

  // True if ending the process at once would lose results of earlier runs.
  bool KeepsSomething() const {
    return flags_.tap.any() || !hooks_->hooks().empty() || IsProfiled() || invocation_.flags.json ||
           llvm::any_of(fetched_, [](const Fetched& fetch) { return !fetch.file.empty(); });
  }
  bool IsInterrupted() const { return interruption_ && interruption_->is_asked(); }

  Error RunOnce() {
    auto made = job_->Run();
    profile_.RunDone();
    if (!made) return made.takeError();
    ++made_;
    outputs_ = std::move(*made);
    if (invocation_.flags.json) runs_.push_back(outputs_);
    return Error::success();
  }

  // Writes the hooks' results, also after a failed run.
  Error Close() {
    Error error = job_->End();
    Error of_taps = taps_.Close(opened_, job_->feeds());
    if (!error) return of_taps;
    llvm::consumeError(std::move(of_taps));
    return error;
  }

  // Names the files that Close() completes, also after a failed run.
  void SayWatched() {
    for (const std::string* path :
         {&flags_.tap.file, &flags_.tap.report, &flags_.tap.logdir, &flags_.hooks.summaries})
      invocation_.Wrote(*path);
  }

  // Returns the stack trace of `node`, for the end of the --check-numerics message; its beginning
  // names the node in TensorFlow's format.
  std::string StackOf(const Node& node) const {
    return StackText(LinesOf(opened_).StackOf(node), LineTable::kMostFrames);
  }

  // Called after a failed run. If a check or an assertion stopped the run, reports its finding and
  // returns kExitNo instead of an error.
  Expected<int> End(Error error) {
    if (Error late = Close()) {
      llvm::consumeError(std::move(error));
      return late;
    }
    std::string found = numerics_ ? numerics_->finding() : "";
    if (found.empty() && hooks_->assertions()) {
      found = hooks_->assertions()->failure();
      found += StackOfMessage(opened_, found);
    }
    if (found.empty()) return Failed(opened_, flags_, cancel_, std::move(error));
    llvm::consumeError(std::move(error));
    invocation_.out().flush();
    invocation_.err() << "grapnel: " << flags_.model << ": " << found << "\n";
    SayWatched();
    RETURN_IF_ERROR(SaveFound());
    return kExitNo;
  }

  // Saves the op at which --check-numerics stopped as a case.
  Error SaveFound() {
    if (flags_.save_case.empty() || !numerics_ || numerics_->finding().empty())
      return Error::success();
    if (!numerics_->failure()) {
      invocation_.sink()(Severity::kWarning,
                         "--save-case: nothing is written: a constant has no inputs to save");
      return Error::success();
    }
    RETURN_IF_ERROR(SaveFailingCase(*numerics_->failure(), flags_.save_case));
    if (!invocation_.flags.quiet)
      invocation_.err() << "grapnel: the op and its inputs are in " << flags_.save_case
                        << ": `grapnel replay` reproduces the failure\n";
    return Error::success();
  }

  Expected<int> Finish() {
    if (Error error = Close()) return Failed(opened_, flags_, cancel_, std::move(error));
    MeasureBest();
    Print();
    invocation_.out().flush();  // before the output on stderr
    RETURN_IF_ERROR(SaveProfile());
    RETURN_IF_ERROR(SaveFetches(fetched_, outputs_, invocation_));
    SayWatched();
    invocation_.Wrote(flags_.hooks.save_variables);
    if (const Caller* caller = invocation_.caller()) HandOver(*caller);
    if (IsInterrupted()) EndInterrupted();
    if (!flags_.save_case.empty()) RETURN_IF_ERROR(job_->SaveAsCase(flags_.save_case, outputs_));
    invocation_.Wrote(flags_.save_case);
    if (!invocation_.flags.quiet) {
      RETURN_IF_ERROR(
          ReportBad(opened_, flags_, outputs_, job_->session(), cancel_, invocation_.sink()));
    }
    return kExitOk;
  }

  void HandOver(const Caller& caller) {
    for (size_t i = 0; i < outputs_.size(); ++i)
      if (outputs_[i]) caller.take_value(fetched_[i].name, outputs_[i]);
  }

  // Prints the fetches and the profile.
  void Print() {
    const Roofline* best = best_ ? &*best_ : nullptr;
    if (invocation_.flags.json) {
      auto profile = [&](llvm::json::OStream& json) {
        if (!IsProfiled()) return;
        json.attributeObject("profile", [&] { WriteProfileJson(profile_, Layers(), best, json); });
      };
      return WriteFetchesJson(fetched_, runs_, flags_.print.all, profile, invocation_.out());
    }
    if (invocation_.flags.quiet) return;
    PrintFetches(fetched_, outputs_, flags_.print, invocation_.out());
    if (!IsProfiled()) return;
    constexpr size_t kRows = 20;
    llvm::raw_ostream& os = flags_.profile == "-" ? invocation_.err() : invocation_.out();
    os << "\n";
    WriteProfileText(profile_, Layers(), kRows, best, os);
  }

  // Measures the machine's best rates, with which nodes are compared, if that is possible.
  void MeasureBest() {
    if (!IsProfiled() || (invocation_.flags.quiet && !invocation_.flags.json)) return;
    auto rates = MeasureRates(pool_);
    if (!rates) return llvm::consumeError(rates.takeError());
    std::vector<std::pair<std::string, Tensor>> feeds;
    for (size_t i = 0; i < job_->feeds().size(); ++i)
      feeds.emplace_back(job_->feeds()[i], job_->feed_values()[i]);
    best_.emplace(opened_.module(), feeds, *rates);
  }

  Error SaveProfile() {
    if (trace_) {
      profile_.WriteTrace(trace_->os());
      RETURN_IF_ERROR(trace_->Commit());
      invocation_.Wrote(flags_.profile);
    }
    if (!node_times_) return Error::success();
    std::map<std::string, double> times = TimesOfNodes(profile_);
    if (IsCsv(flags_.profile_nodes))
      WriteProfileCsv(profile_, Layers(), node_times_->os());
    else
      WriteNodeData(opened_.module(), "ms", times, node_times_->os());
    RETURN_IF_ERROR(node_times_->Commit());
    invocation_.Wrote(flags_.profile_nodes, Plural(times.size(), "node"));
    return Error::success();
  }

  [[noreturn]] void EndInterrupted() {
    Progress::End();
    invocation_.err() << "grapnel: " << flags_.model << ": stopped by Ctrl-C after "
                      << WithCommas(made_) << " of " << Plural(flags_.repeat, "run") << "\n";
    invocation_.err().flush();
    Interruption::Obey();
  }

  OpenedGraph& opened_;
  const Flags& flags_;
  Invocation& invocation_;
  CancelFlag& cancel_;
  ThreadPool pool_;
  TappedRun taps_;
  std::optional<FlaggedHooks> hooks_;
  std::unique_ptr<CheckNumerics> numerics_;
  Profile profile_;
  std::optional<LayerNames> layers_;  // made by Layers()
  std::optional<Roofline> best_;
  std::unique_ptr<AtomicFile> trace_, node_times_;
  std::optional<Interruption> interruption_;
  std::optional<RunJob> job_;  // declared after the hooks that observe it
  std::vector<Fetched> fetched_;
  int made_ = 0;  // number of runs made
  std::vector<Tensor> outputs_;
  std::vector<std::vector<Tensor>> runs_;  // for --json, which is printed after all runs
};

Expected<int> RunOn(OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(flags.run.Use(&opened));
  if (!flags.breaks.empty()) return RunToBreakOn(opened, flags, invocation);
  if (!flags.tap.logdir.empty() && !flags.spread.devices.empty())
    return MakeError("--logdir requires one device and cannot be combined with --devices");
  return GraphRuns(opened, flags, invocation).Do();
}

// Returns an error for a flag without another flag that it requires, since it would be ignored
// silently.
Error CheckCombination(const Flags& flags) {
  RETURN_IF_ERROR(flags.tap.CheckCombination());
  RETURN_IF_ERROR(flags.spread.CheckCombination());
  if (!flags.unchecked.empty() && !flags.check_numerics)
    return MakeError("--skip-numerics requires --check-numerics");
  llvm::StringRef nodes = flags.profile_nodes;
  if (!nodes.empty() && !IsCsv(nodes) && !nodes.ends_with(".json"))
    return MakeError("--profile-nodes {0}: a .csv or .json file was expected", nodes);
  if (!flags.hooks.until.empty() && flags.repeat == 1)
    return MakeError("--until requires a --repeat above 1: the maximum number of runs");
  return Error::success();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(CheckCombination(flags));
  if (invocation.flags.json && flags.tap.writes_to_stdout())
    return MakeError("--json and --tap both write to standard output: pass --tap-file FILE too");
  std::vector<llvm::StringRef> outputs = flags.tap.outputs();
  outputs.insert(outputs.end(),
                 {flags.profile, flags.profile_nodes, flags.hooks.save_variables, flags.save_case});
  for (const std::string& text : flags.run.fetches)
    outputs.push_back(llvm::StringRef(text).split('=').second);
  return OnEachGraph(flags.model, flags.run.graph, outputs, invocation,
                     [&](OpenedGraph& opened) { return RunOn(opened, flags, invocation); });
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to run; a case folder brings its feeds and fetches")
      .Required();
  flags->run.AddTo(line, "a tensor to compute; printed, or saved to the file", "NAME[=FILE.npy]");
  flags->print.AddTo(line);
  line.Option("--device", flags->device,
              "device for nodes that request no device and have a kernel for it: CPU, GPU, GPU:1")
      .ShowDefault();
  flags->spread.AddTo(line);
  line.Option(
          "--repeat", flags->repeat,
          "run this many times, and print the fetches of the last run; variables keep their values "
          "between runs, and taps show the run")
      .Positive();
  line.Flag("--winograd", flags->winograd,
            "compute 3x3 convolutions with Winograd's algorithm where that is faster (AVX-512); "
            "rounding differs; --profile shows which");
  flags->limit.AddTo(
      line, "stop with an error after this time; default: never (a graph may loop forever)");
  flags->run.AddVariablesTo(line);
  flags->hooks.AddTo(line);
  flags->tap.AddTo(line);
  line.Flag(
      "--check-numerics", flags->check_numerics,
      "stop at the first op that outputs NaN or infinity, with TensorFlow's message; exit code 1");
  line.Option("--skip-numerics", flags->unchecked, "nodes that --check-numerics ignores")
      .ShownAs("GLOB");
  line.Option(
          "--break", flags->breaks,
          "stop where this holds: has_inf_or_nan, 'max(abs(_)) > 1e3', a node or layer, op:Log; "
          "prints node, calls and value, and on a terminal opens the prompt of `debug` there; exit "
          "code 1")
      .ShownAs("FILTER");
  line.Option("--profile", flags->profile,
              "write a trace for Perfetto or chrome://tracing, and print where time and memory "
              "went, by "
              "layer, op and node")
      .ShownAs("FILE.json");
  line.Option(
          "--profile-nodes", flags->profile_nodes,
          "like --profile, but write the time of each node: .csv, or Model Explorer's node data; "
          "`view --node-data` colors boxes by either")
      .ShownAs("FILE.csv|FILE.json");
  line.Option("--save-case", flags->save_case,
              "write graph, feeds and outputs as a case folder; if --check-numerics stops, that op "
              "and its inputs")
      .ShownAs("DIR");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("run", "runs a graph on values from .npy files",
                "run model.pb --feed x=x.npy --fetch Identity --tap '*'", SetUp);

}  // namespace
}  // namespace grapnel
