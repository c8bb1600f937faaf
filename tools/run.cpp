// `grapnel run MODEL`: runs a graph on values from .npy files.
#include <limits>

#include "lib/io/value.h"
#include "lib/job/blame_text.h"
#include "lib/job/failing_case.h"
#include "lib/job/job_json.h"
#include "lib/watch/check_numerics.h"
#include "lib/watch/profile.h"
#include "tools/break_run.h"
#include "tools/hook_flags.h"
#include "tools/input.h"
#include "tools/progress.h"
#include "tools/run_flags.h"
#include "tools/spread_flags.h"
#include "tools/tap_flags.h"
#include "tools/time_limit.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, save_case, profile, device = "CPU";
  RunFlags run;
  HookFlags hooks;
  TapFlags tap;
  SpreadFlags spread;
  int repeat = 1;
  TimeLimit limit;
  bool all = false, check_numerics = false;
  std::vector<std::string> unchecked, breaks;
};

// What came of a fetch, and the file that it goes to; empty: it is printed.
struct Fetched {
  std::string name, file;
};

void Print(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs, bool all,
           llvm::raw_ostream& out) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] && fetched[i].file.empty())
      out << fetched[i].name << " = "
          << (all ? outputs[i].ToString(std::numeric_limits<int>::max()) : outputs[i].ToString())
          << "\n";
  }
}

// What is saved to files is in the document too.
void WriteJson(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<std::vector<Tensor>> runs, bool all,
               llvm::raw_ostream& os) {
  int64_t limit = all ? std::numeric_limits<int64_t>::max() : 8;
  llvm::json::OStream json(os, 1);
  auto write = [&](const Fetched& fetch, const Tensor& output) {
    json.object([&] {
      WriteTensorJson(fetch.name, output, limit, json);
      if (!fetch.file.empty()) json.attribute("file", fetch.file);
    });
  };
  json.object([&] {
    json.attributeArray("runs", [&] {
      for (const std::vector<Tensor>& outputs : runs) {
        json.object([&] {
          json.attributeArray("fetches", [&] {
            for (size_t i = 0; i < outputs.size(); ++i) write(fetched[i], outputs[i]);
          });
        });
      }
    });
  });
  os << "\n";
}

Error SaveFetches(llvm::ArrayRef<Fetched> fetched, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || fetched[i].file.empty()) continue;
    if (outputs[i].HoldsObjects()) {
      return MakeError("fetch '{0}' is {1}, which no .npy file holds", fetched[i].name,
                       outputs[i].ToString());
    }
    RETURN_IF_ERROR(SaveNpyLiteral(fetched[i].file, outputs[i].ToLiteral()));
  }
  return Error::success();
}

Error SaveProfile(const std::string& path, const Profile& profile, Invocation& invocation) {
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  profile.WriteTrace(file->os());
  RETURN_IF_ERROR(file->Commit());
  if (!invocation.flags.quiet) profile.WriteTables(invocation.err(), 20);
  return Error::success();
}

Expected<RunRequest> RequestOf(const Flags& flags) {
  ASSIGN_OR_RETURN(RunRequest request, flags.run.Request());
  flags.spread.Fill(&request, "--device");
  ASSIGN_OR_RETURN(request.device, Devices::Get().Find(flags.device));
  return request;
}

// Where a fetch, or a variable, is not finite, one line says which op made it so. The graph runs
// again for that, on the same values; what it prints was said.
Error SayWhatIsBad(OpenedGraph& opened, const Flags& flags, llvm::ArrayRef<Tensor> outputs,
                   const Session& session, const CancelFlag& cancel, const MessageSink& sink) {
  if (llvm::none_of(outputs, IsBad) && BadVariables(session).empty()) return Error::success();
  ASSIGN_OR_RETURN(RunRequest request, RequestOf(flags));
  request.sink = request.print = [](Severity, llvm::StringRef) {};
  request.cancel = &cancel;
  ASSIGN_OR_RETURN(RunBlame blame, BlameRun(opened, request, flags.repeat));
  // A graph that draws random numbers may be finite the second time.
  if (const BadProducer* producer = blame.first_harmful())
    sink(Severity::kWarning,
         flags.model + ": " + ProducerSentence(*producer) + " (`grapnel blame` tells more)");
  return Error::success();
}

// The fetches that were named come first, in their order.
std::vector<Fetched> FetchedBy(llvm::ArrayRef<std::string> names, const Flags& flags) {
  std::vector<Fetched> fetched;
  for (const std::string& name : names) fetched.push_back({name, ""});
  for (size_t i = 0; i < flags.run.fetches.size(); ++i)
    fetched[i].file = SplitAssignment(flags.run.fetches[i]).second;
  return fetched;
}

Error Failed(const Flags& flags, const CancelFlag& cancel, Error error) {
  return Annotate(cancel.is_set() ? flags.model + ": " + flags.limit.Text() : flags.model,
                  std::move(error));
}

// The debugger runs the graph by itself, on one thread of the CPU.
Error DemandPlainRun(const Flags& flags) {
  const std::pair<const char*, bool> others[] = {
      {"--tap", flags.tap.any() && flags.tap.logdir.empty()},
      {"--logdir", !flags.tap.logdir.empty()},
      {"--check-numerics", flags.check_numerics},
      {"--profile", !flags.profile.empty()},
      {"--device", flags.device != "CPU"},
      {"--devices", !flags.spread.devices.empty()},
      {"--save-case", !flags.save_case.empty()},
      {"--save-variables", !flags.hooks.save_variables.empty()},
      {"--assert", !flags.hooks.assertions.empty()},
      {"--summaries", !flags.hooks.summaries.empty()},
      {"--until", !flags.hooks.until.empty()}};
  for (const auto& [name, is_given] : others)
    if (is_given) return MakeError("--break and {0} do not go together", name);
  return Error::success();
}

Expected<int> RunToBreakOn(const OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  RETURN_IF_ERROR(DemandPlainRun(flags));
  ASSIGN_OR_RETURN(RunRequest request, RequestOf(flags));
  request.sink = invocation.sink();
  request.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  CancelFlag cancel;
  request.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.model, invocation);
  auto run = RunToBreak(opened, std::move(request), flags.breaks, flags.repeat, invocation);
  if (!run) return Failed(flags, cancel, run.takeError());
  if (run->has_stopped) return kExitNo;
  std::vector<Fetched> fetched = FetchedBy(run->fetches, flags);
  if (invocation.flags.json) {
    WriteJson(fetched, run->runs, flags.all, invocation.out());
  } else if (!invocation.flags.quiet) {
    for (llvm::ArrayRef<Tensor> outputs : run->runs)
      Print(fetched, outputs, flags.all, invocation.out());
  }
  RETURN_IF_ERROR(SaveFetches(fetched, run->runs.back()));
  return kExitOk;
}

// Whether an assertion cannot hold, which is said.
bool SayRefuted(AssertionHook& assertions, llvm::ArrayRef<std::string> feeds,
                const std::string& model, Invocation& invocation) {
  std::vector<std::string> refuted = assertions.Refuted(feeds);
  for (const std::string& text : refuted)
    invocation.err() << "grapnel: " << model << ": " << text << "\n";
  return !refuted.empty();
}

Expected<int> RunOn(OpenedGraph& opened, const Flags& flags, Invocation& invocation) {
  if (!flags.breaks.empty()) return RunToBreakOn(opened, flags, invocation);
  ASSIGN_OR_RETURN(RunRequest request, RequestOf(flags));
  if (!flags.tap.logdir.empty() && !flags.spread.devices.empty())
    return MakeError("--logdir goes with one device, and not with --devices");
  ThreadPool pool(invocation.flags.threads);
  ASSIGN_OR_RETURN(TappedRun taps,
                   TappedRun::Begin(flags.tap, flags.model, opened, flags.repeat > 1, pool,
                                    invocation.out(), invocation.sink()));
  auto hooks = FlaggedHooks::Make(flags.hooks, opened, flags.run.signature, invocation.sink());
  if (!hooks) return Annotate(flags.model, hooks.takeError());
  // What a check stops at is tapped before.
  if (taps.hook()) request.steps.push_back(taps.hook());
  for (StepHook* hook : hooks->hooks()) request.steps.push_back(hook);
  Profile profile;
  request.pool = &pool;
  request.sink = invocation.sink();
  CancelFlag cancel;
  request.cancel = &cancel;
  Deadline deadline = flags.limit.Begin(cancel, flags.model, invocation);
  request.print = [&](Severity, llvm::StringRef text) { invocation.err() << text << "\n"; };
  auto unchecked = Glob::ParseAll(flags.unchecked);
  if (!unchecked) return Annotate("--skip-numerics", unchecked.takeError());
  if (Error error = DemandNodes(opened.module(), *unchecked, "--skip-numerics"))
    return Annotate(flags.model, std::move(error));
  CheckNumerics numerics(*unchecked, &pool);
  if (!flags.save_case.empty()) numerics.KeepInputs();
  if (flags.check_numerics) request.hook = &numerics;
  if (!flags.profile.empty()) request.profiler = &profile;
  ASSIGN_OR_RETURN(RunJob job, RunJob::Make(opened, std::move(request)));
  AssertionHook* assertions = hooks->assertions();
  if (assertions && SayRefuted(*assertions, job.feeds(), flags.model, invocation)) return kExitNo;
  std::vector<Fetched> fetched = FetchedBy(job.fetches(), flags);
  if (Error error = job.Prepare()) return Failed(flags, cancel, std::move(error));
  job.SaySpread(invocation.sink());
  std::vector<Tensor> outputs;
  std::vector<std::vector<Tensor>> runs;  // for --json, which is printed when all have run
  auto end = [&]() -> Error {
    Error error = job.End();
    Error of_taps = taps.Close(opened, job.feeds());
    if (!error) return of_taps;
    llvm::consumeError(std::move(of_taps));
    return error;
  };
  for (int i = 0; i < flags.repeat && !job.stops(); ++i) {
    if (flags.repeat > 1) Progress::Say("run", i + 1, flags.repeat);
    auto made = job.Run();
    profile.RunDone();
    if (!made) {
      if (Error error = end()) {
        llvm::consumeError(made.takeError());
        return error;
      }
      if (numerics.has_found() || (assertions && assertions->has_failed())) {
        if (!flags.save_case.empty() && numerics.failure())
          RETURN_IF_ERROR(SaveFailingCase(*numerics.failure(), flags.save_case));
        invocation.err() << "grapnel: " << TextOf(Failed(flags, cancel, made.takeError())) << "\n";
        return kExitNo;
      }
      return Failed(flags, cancel, made.takeError());
    }
    outputs = std::move(*made);
    if (invocation.flags.json) {
      runs.push_back(outputs);
    } else if (!invocation.flags.quiet) {
      Print(fetched, outputs, flags.all, invocation.out());
    }
  }
  if (Error error = end()) return Failed(flags, cancel, std::move(error));
  if (invocation.flags.json) WriteJson(fetched, runs, flags.all, invocation.out());
  if (!flags.profile.empty()) RETURN_IF_ERROR(SaveProfile(flags.profile, profile, invocation));
  RETURN_IF_ERROR(SaveFetches(fetched, outputs));
  if (!flags.save_case.empty()) RETURN_IF_ERROR(job.SaveAsCase(flags.save_case, outputs));
  invocation.out().flush();  // before what is said on stderr
  if (!invocation.flags.quiet)
    RETURN_IF_ERROR(SayWhatIsBad(opened, flags, outputs, job.session(), cancel, invocation.sink()));
  return kExitOk;
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  if (invocation.flags.json && flags.tap.writes_lines_to_stdout())
    return MakeError("--json and --tap both write to standard output: give --tap-file too");
  std::vector<llvm::StringRef> outputs = flags.tap.outputs();
  outputs.insert(outputs.end(), {flags.profile, flags.hooks.save_variables, flags.save_case});
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
  line.Flag("--all", flags->all, "print every element of what is fetched, and not the first 8");
  line.Option("--device", flags->device,
              "where nodes run that name no device and have a kernel there: CPU, GPU, GPU:1")
      .ShowDefault();
  flags->spread.AddTo(line);
  line.Option("--repeat", flags->repeat,
              "run so many times; variables keep what each run made of them, taps say the run")
      .Positive();
  flags->limit.AddTo(
      line, "stop after so long with an error; default: never (a graph may loop for ever)");
  flags->run.AddVariablesTo(line);
  flags->hooks.AddTo(line);
  flags->tap.AddTo(line);
  line.Flag(
      "--check-numerics", flags->check_numerics,
      "stop at the first op that puts out NaN or infinity, with TensorFlow's message; exit code 1");
  line.Option("--skip-numerics", flags->unchecked, "nodes that --check-numerics passes over")
      .ShownAs("GLOB");
  line.Option(
          "--break", flags->breaks,
          "stop where this holds: has_inf_or_nan, 'max(abs(_)) > 1e3', a node, op:Log; says node, "
          "calls and value, and at a terminal opens the prompt of `debug` there; exit code 1")
      .ShownAs("FILTER");
  line.Option("--profile", flags->profile,
              "write a trace for Perfetto or chrome://tracing, and say where time and memory went")
      .ShownAs("FILE.json");
  line.Option("--save-case", flags->save_case,
              "write graph, feeds and outputs as a case folder; where --check-numerics stops, that "
              "op and "
              "what it was given")
      .ShownAs("DIR");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("run", "runs a graph on values from .npy files",
                "run model.pb --feed x=x.npy --fetch Identity --tap '*'", SetUp);

}  // namespace
}  // namespace grapnel
