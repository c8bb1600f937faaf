// `grapnel run MODEL`: runs a graph on values from .npy files.
#include "lib/exec/executor.h"
#include "lib/exec/saved_state.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/job/opened_graph.h"
#include "lib/support/text.h"
#include "lib/watch/profile.h"
#include "lib/watch/tap.h"
#include "tools/command.h"
#include "tools/graph_runner.h"
#include "tools/values.h"

namespace grapnel {
namespace {

struct Flags {
  std::string model, graph, signature, tap_file, tap_mode = "FULL_HEALTH", save_case,
                                                 save_variables, profile, device = "CPU";
  SpreadFlags spread;
  int repeat = 1;
  std::vector<std::string> feeds, fetches, taps;
};

// "name=file" -> (name, file); without '=' the file is empty.
std::pair<std::string, std::string> SplitAssignment(const std::string& text) {
  auto [name, file] = llvm::StringRef(text).split('=');
  return {name.str(), file.str()};
}

struct Plan {
  std::vector<std::string> feeds, feed_files, fetches, fetch_files;
};

Expected<Plan> MakePlan(const Flags& flags, const OpenedGraph& input) {
  Plan plan;
  const GraphInFile& graph = input.file();
  for (const std::string& text : flags.feeds) {
    auto [name, file] = SplitAssignment(text);
    if (file.empty()) return MakeError("--feed {0}: NAME=FILE.npy was expected", text);
    ASSIGN_OR_RETURN(std::string tensor, TensorOfKey(input.model(), graph, flags.signature, name));
    plan.feeds.push_back(std::move(tensor));
    plan.feed_files.push_back(file);
  }
  for (const std::string& text : flags.fetches) {
    auto [name, file] = SplitAssignment(text);
    ASSIGN_OR_RETURN(std::string tensor, TensorOfKey(input.model(), graph, flags.signature, name));
    plan.fetches.push_back(std::move(tensor));
    plan.fetch_files.push_back(file);
  }
  if (const auto& values = input.model().case_info) {
    for (const Case::Feed& feed : values->feeds) {
      if (llvm::is_contained(plan.feeds, feed.tensor)) continue;
      plan.feeds.push_back(feed.tensor);
      plan.feed_files.push_back(feed.file);
    }
  }
  if (plan.fetches.empty()) {
    ASSIGN_OR_RETURN(Ends ends, EndsOf(input, {}, {}, flags.signature));
    plan.fetches = ends.fetches;
    plan.fetch_files.resize(plan.fetches.size());
  }
  if (plan.fetches.empty())
    return MakeError("{0}: nothing to fetch: name tensors by --fetch", flags.model);
  return plan;
}

Error SaveCaseFolder(const Flags& flags, const Module& module, const Plan& plan,
                     llvm::ArrayRef<Tensor> feeds, llvm::ArrayRef<Tensor> outputs) {
  RETURN_IF_ERROR(CreateDirectories(flags.save_case));
  Case saved;
  saved.folder = flags.save_case;
  saved.graph = JoinPath(flags.save_case, "graph.pb");
  saved.rtol = 1e-4;
  RETURN_IF_ERROR(WriteGraph(module, saved.graph));
  for (size_t i = 0; i < feeds.size(); ++i) {
    std::string file = JoinPath(flags.save_case, "feed_" + std::to_string(i) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, feeds[i].ToLiteral()));
    saved.feeds.push_back({plan.feeds[i], file});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || outputs[i].HoldsObjects()) continue;
    std::string file = JoinPath(flags.save_case, "out_" + std::to_string(i) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, outputs[i].ToLiteral()));
    saved.fetches.push_back({plan.fetches[i], file, 1e-5});
  }
  return SaveCase(flags.save_case, saved);
}

void Print(const Plan& plan, llvm::ArrayRef<Tensor> outputs, llvm::raw_ostream& out) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] && plan.fetch_files[i].empty())
      out << plan.fetches[i] << " = " << outputs[i].ToString() << "\n";
  }
}

Error SaveFetches(const Plan& plan, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || plan.fetch_files[i].empty()) continue;
    if (outputs[i].HoldsObjects()) {
      return MakeError("fetch '{0}' is {1}, which no .npy file holds", plan.fetches[i],
                       outputs[i].ToString());
    }
    RETURN_IF_ERROR(SaveNpyLiteral(plan.fetch_files[i], outputs[i].ToLiteral()));
  }
  return Error::success();
}

Error SaveProfile(const std::string& path, const Profile& profile, Invocation& invocation) {
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  profile.WriteTrace(file->os());
  RETURN_IF_ERROR(file->Commit());
  if (!invocation.flags.quiet) profile.WriteTables(llvm::errs(), 20);
  return Error::success();
}

Expected<int> Run(const Flags& flags, Invocation& invocation) {
  ASSIGN_OR_RETURN(OpenedGraph input, OpenedGraph::Open(flags.model, flags.graph));
  RETURN_IF_ERROR(DemandValid(input, invocation.sink()));
  const Graph& graph = input.module().main;
  ASSIGN_OR_RETURN(Plan plan, MakePlan(flags, input));
  if (Error error = DemandTapped(input.module(), flags.taps))
    return Annotate(flags.model + ": --tap", std::move(error));
  std::vector<Tensor> feeds;
  for (size_t i = 0; i < plan.feeds.size(); ++i) {
    ASSIGN_OR_RETURN(Tensor tensor, LoadFeed(graph, plan.feeds[i], plan.feed_files[i]));
    feeds.push_back(std::move(tensor));
  }
  std::unique_ptr<AtomicFile> tap_file;
  llvm::raw_ostream* tap_stream = &invocation.out();
  if (!flags.tap_file.empty()) {
    ASSIGN_OR_RETURN(tap_file, AtomicFile::Create(flags.tap_file));
    tap_stream = &tap_file->os();
  }
  ThreadPool pool(invocation.flags.threads);
  Tap tap(flags.taps, *ParseTapMode(flags.tap_mode), tap_stream);
  ExecutorOptions options;
  options.feeds = plan.feeds;
  options.fetches = plan.fetches;
  options.pool = &pool;
  options.print = [](Severity, llvm::StringRef text) { llvm::errs() << text << "\n"; };
  if (!flags.taps.empty()) options.hook = &tap;
  Profile profile;
  if (!flags.profile.empty()) options.profiler = &profile;
  ASSIGN_OR_RETURN(options.device, Devices::Get().Find(flags.device));
  Session session;
  options.session = &session;
  const GraphInFile& opened = input.file();
  if (Error error = RestoreSession(opened, input.model().variables_prefix, session, pool))
    return Annotate(flags.model, std::move(error));
  auto runner = GraphRunner::Make(input.module(), options, flags.spread, llvm::errs());
  if (!runner) return Annotate(flags.model, runner.takeError());
  SaySpread(*runner, *options.device, invocation.sink());
  std::vector<Tensor> outputs;
  for (int i = 0; i < flags.repeat; ++i) {
    auto made = runner->Run(feeds);
    profile.RunDone();
    if (!made) {
      if (tap_file) RETURN_IF_ERROR(tap_file->Commit());
      return Annotate(flags.model, made.takeError());
    }
    outputs = std::move(*made);
    if (!invocation.flags.quiet) Print(plan, outputs, invocation.out());
  }
  if (tap_file) RETURN_IF_ERROR(tap_file->Commit());
  if (!flags.profile.empty()) RETURN_IF_ERROR(SaveProfile(flags.profile, profile, invocation));
  RETURN_IF_ERROR(SaveFetches(plan, outputs));
  if (!flags.save_variables.empty()) {
    if (Error error = SaveVariables(opened, flags.save_variables, session, pool))
      return Annotate(flags.model, std::move(error));
  }
  if (!flags.save_case.empty())
    RETURN_IF_ERROR(SaveCaseFolder(flags, input.module(), plan, feeds, outputs));
  return kExitOk;
}

RunCommand SetUp(CommandLine& line) {
  auto flags = std::make_shared<Flags>();
  line.Option("MODEL", flags->model, "the graph to run; a case folder brings its feeds and fetches")
      .Required();
  line.Option("--graph", flags->graph, "which graph of a file with several");
  line.Option("--signature", flags->signature,
              "the signature of a SavedModel; its keys then name feeds and fetches");
  line.Option("--feed", flags->feeds, "a value for a tensor").ShownAs("NAME=FILE.npy");
  line.Option("--fetch", flags->fetches, "a tensor to compute; printed, or saved to the file")
      .ShownAs("NAME[=FILE.npy]");
  line.Option("--device", flags->device,
              "where nodes run that name no device and have a kernel there: CPU, GPU, GPU:1")
      .ShowDefault();
  flags->spread.AddTo(line);
  line.Option("--repeat", flags->repeat,
              "run so many times; variables keep what each run made of them")
      .Positive();
  line.Option("--save-variables", flags->save_variables,
              "write the variables as a checkpoint that TensorFlow reads")
      .ShownAs("PREFIX");
  line.Option("--tap", flags->taps, "say what nodes whose names fit put out, as JSON lines")
      .ShownAs("GLOB");
  line.Option("--tap-mode", flags->tap_mode, "what a tap says").OneOf(TapModeNames()).ShowDefault();
  line.Option("--tap-file", flags->tap_file, "where taps go; default: standard output");
  line.Option("--profile", flags->profile,
              "write a trace for Perfetto or chrome://tracing, and say where time and memory went")
      .ShownAs("FILE.json");
  line.Option("--save-case", flags->save_case, "write graph, feeds and outputs as a case folder")
      .ShownAs("DIR");
  return [flags](Invocation& invocation) { return Run(*flags, invocation); };
}

GRAPNEL_COMMAND("run", "runs a graph on values from .npy files",
                "run model.pb --feed x=x.npy --fetch Identity --tap '*'", SetUp);

}  // namespace
}  // namespace grapnel
