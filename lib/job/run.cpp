#include "lib/job/run.h"

#include "lib/check/comparison.h"
#include "lib/exec/saved_state.h"
#include "lib/io/signature.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/pass/pass_manager.h"
#include "lib/place/function_spread.h"
#include "lib/place/settings.h"
#include "lib/support/file.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

Expected<PartitionScope> ScopeOf(const Graph& graph, const ExecutorOptions& options) {
  PartitionScope scope;
  for (const std::string& feed : options.feeds) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, feed));
    scope.feeds.push_back(port);
  }
  for (const std::string& fetch : options.fetches) {
    ASSIGN_OR_RETURN(Port port, FindTensor(graph, fetch));
    scope.fetches.push_back(port);
  }
  return scope;
}

}  // namespace

RunJob::RunJob(const OpenedGraph& opened, RunRequest request)
    : request_(std::move(request)), opened_(&opened), session_(std::make_unique<Session>()) {
  if (request_.pool) return;
  own_pool_ = std::make_unique<ThreadPool>();
  request_.pool = own_pool_.get();
}

Expected<RunJob> RunJob::Make(OpenedGraph& opened, RunRequest request) {
  RunJob job(opened, std::move(request));
  job.placed_ = &opened.module();
  RETURN_IF_ERROR(job.LoadFeeds());
  return job;
}

Expected<RunJob> RunJob::MakeApart(const OpenedGraph& opened, RunRequest request) {
  RunJob job(opened, std::move(request));
  RETURN_IF_ERROR(job.LoadFeeds());
  if (job.request_.devices.empty() && !job.request_.placement_log) return job;
  job.apart_ = std::make_unique<OpenedGraph>(opened.Copy());
  job.placed_ = &job.apart_->module();
  return job;
}

// Names instead of keys, and what was left out.
Error RunJob::Complete() {
  const Model& model = opened_->model();
  auto name = [&](std::string& key) -> Error {
    ASSIGN_OR_RETURN(key, TensorOfKey(model, opened_->file(), request_.signature, key));
    return Error::success();
  };
  std::vector<FeedSource>& feeds = request_.feeds;
  for (FeedSource& feed : feeds) RETURN_IF_ERROR(name(feed.tensor));
  for (std::string& fetch : request_.fetches) RETURN_IF_ERROR(name(fetch));
  RETURN_IF_ERROR(AddFeedsOfCase(*opened_, &feeds));
  ASSIGN_OR_RETURN(FeedsAndFetches tensors,
                   FeedsAndFetchesOf(*opened_, {}, request_.fetches, request_.signature));
  request_.fetches = std::move(tensors.fetches);
  return request_.fetches.empty() ? FetchEnds() : Error::success();
}

// A MetaGraph's ends would save and restore its variables.
Error RunJob::FetchEnds() {
  const GraphInFile& file = opened_->file();
  bool is_meta_graph = file.saver || !file.signatures.empty();
  if (!is_meta_graph) request_.fetches = DefaultFetches(opened_->module().main);
  if (request_.fetches.empty()) {
    std::vector<std::string> names;
    for (const Signature& signature : file.signatures) names.push_back(signature.name);
    return MakeError("{0}: nothing to fetch: name tensors {1}{2}", opened_->model().path,
                     request_.words.fetches,
                     names.empty() ? "" : ", or a signature: '" + llvm::join(names, "', '") + "'");
  }
  if (request_.sink) {
    request_.sink(Severity::kWarning,
                  "no fetch is named: " + EndsText(request_.fetches, "fetched"));
  }
  return Error::success();
}

Error RunJob::LoadFeeds() {
  RETURN_IF_ERROR(DemandValid(*opened_, request_.sink));
  if (request_.completes) RETURN_IF_ERROR(Complete());
  const Graph& graph = opened_->module().main;
  RETURN_IF_ERROR(DemandDifferent(*opened_, request_.feeds));
  for (const FeedSource& feed : request_.feeds) {
    ASSIGN_OR_RETURN(Tensor value, ValueOf(feed, graph));
    if (request_.watch) {
      ASSIGN_OR_RETURN(Port port, FindTensor(graph, feed.tensor));
      request_.watch->AddFeed(port, value);
    }
    feeds_.push_back(feed.tensor);
    values_.push_back(std::move(value));
  }
  return Error::success();
}

// A variable that a fetch needs and nothing gives a value is said here, and not by the op, deep in
// calls, that reads it.
Error RunJob::Restore() {
  const std::string& own = opened_->model().variables_prefix;
  const std::string& prefix = request_.variables.empty() ? own : request_.variables;
  auto missing = RestoreSession(opened_->file(), prefix, *session_, *request_.pool);
  if (!missing) {
    Error error = missing.takeError();
    return request_.variables.empty() ? std::move(error) : Annotate(prefix, std::move(error));
  }
  if (const auto& values = opened_->model().case_info)
    RETURN_IF_ERROR(RestoreCase(opened_->file(), *values, *session_, *request_.pool));
  if (missing->empty()) return Error::success();
  const Graph& main = opened_->module().main;
  Signature fetched;
  for (const std::string& fetch : request_.fetches)
    fetched.outputs.push_back({fetch, fetch, proto::DT_INVALID, {}});
  std::vector<NodeId> needed = NeededNodes(main, fetched);
  std::string text;
  for (const MissingVariable& variable : *missing) {
    if (!llvm::is_contained(needed, variable.variable)) continue;
    text += llvm::formatv("{0}variable '{1}' has no value: {2}", text.empty() ? "" : "\n",
                          main.node(variable.variable).name(), variable.reason)
                .str();
  }
  return text.empty() ? Error::success() : MakeError("{0}: {1}", prefix, text);
}

Error RunJob::Prepare() {
  ExecutorOptions options;
  options.feeds = feeds_;
  options.fetches = request_.fetches;
  options.pool = request_.pool;
  options.hook = request_.watch ? request_.watch : request_.hook;
  options.print = request_.print;
  options.session = session_.get();
  options.profiler = request_.profiler;
  options.device = request_.device;
  options.cancel = request_.cancel;
  RETURN_IF_ERROR(Restore());
  return request_.devices.empty() && !request_.placement_log ? Compile(options)
                                                             : CompileSplit(options);
}

Error RunJob::Compile(const ExecutorOptions& options) {
  const Graph& graph = placed_ ? placed_->main : opened_->module().main;
  ASSIGN_OR_RETURN(whole_, Executor::Compile(graph, options));
  return Error::success();
}

Error RunJob::CompileSplit(const ExecutorOptions& options) {
  if (!IsHost(options.device)) {
    const RunWords& words = request_.words;
    return MakeError("{0} goes with {1} CPU alone",
                     request_.devices.empty() ? words.placement_log : words.placer.devices,
                     words.device);
  }
  PlacerSettings settings;
  settings.devices = request_.devices.empty() ? "cpu:1" : request_.devices;
  settings.may_read = request_.may_read;
  settings.soft = !request_.hard;
  settings.kernels = "grapnel";
  settings.words = request_.words.placer;
  ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(settings));
  for (const ListedDevice& device : setup.devices.devices()) {
    if (device.name.type.text() != "CPU") {
      return MakeError(
          "{0}: '{1}' is no CPU, and only CPUs can be played ({2} GPU runs on a real one)",
          settings.words.devices, device.text, request_.words.device);
    }
  }
  FeedsAndFetches tensors{options.feeds, options.fetches};
  FunctionSpread spread(*placed_, tensors, setup, request_.placement_log);
  RETURN_IF_ERROR(spread.Run());
  if (setup.devices.size() == 1) return Compile(options);
  ASSIGN_OR_RETURN(PartitionScope scope, ScopeOf(placed_->main, options));
  ASSIGN_OR_RETURN(PartitionedGraph split, PartitionByDevice(*placed_, *setup.kernels, scope));
  split_ = std::make_unique<PartitionedGraph>(std::move(split));
  std::vector<PartitionGraph> parts;
  for (const Partition& part : split_->partitions)
    parts.push_back({part.device, &part.module->main});
  ASSIGN_OR_RETURN(parts_, PartitionedExecutor::Compile(parts, options));
  return Error::success();
}

Expected<std::vector<Tensor>> RunJob::Run(std::vector<Tensor> values) {
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                   parts_ ? parts_->Run(values) : whole_->Run(std::move(values)));
  RETURN_IF_ERROR(CheckOpenFiles());
  return outputs;
}

void RunJob::SaySpread(const MessageSink& sink) const {
  if (split_) {
    return sink(Severity::kInfo, Plural(split_->partitions.size(), "device") + ", " +
                                     Plural(split_->transfers.size(), "transfer") +
                                     " between them a run");
  }
  if (IsHost(request_.device)) return;
  const PlanSpread& spread = whole_->spread();
  if (!spread.note.empty()) return sink(Severity::kWarning, spread.note);
  sink(Severity::kInfo,
       llvm::formatv(
           "{0} on {1}, {2} on the CPU, {3} between them a run, {4} of constants copied once",
           Plural(spread.on_device, "node"), request_.device->name(), spread.on_host,
           Plural(spread.copies, "transfer"), Plural(spread.constant_bytes, "byte"))
           .str());
}

Error RunJob::SaveAsCase(llvm::StringRef folder, llvm::ArrayRef<Tensor> outputs) const {
  RETURN_IF_ERROR(CreateDirectories(folder));
  Case saved;
  saved.folder = folder.str();
  saved.graph = JoinPath(folder, "graph.pb");
  saved.rtol = 1e-4;
  RETURN_IF_ERROR(WriteGraph(opened_->module(), saved.graph));
  for (size_t i = 0; i < feeds_.size(); ++i) {
    std::string file = JoinPath(folder, "feed_" + std::to_string(i) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, values_[i].ToLiteral()));
    saved.feeds.push_back({feeds_[i], file});
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || outputs[i].HoldsObjects()) continue;
    std::string file = JoinPath(folder, "out_" + std::to_string(i) + ".npy");
    Literal value = outputs[i].ToLiteral();
    RETURN_IF_ERROR(SaveNpyLiteral(file, value));
    saved.fetches.push_back({fetches()[i], file, AbsoluteTolerance(value, saved.rtol)});
  }
  return SaveCase(folder, saved);
}

Error RunJob::SaveVariables(llvm::StringRef prefix) {
  return grapnel::SaveVariables(opened_->file(), prefix, opened_->model().variables_prefix,
                                *session_, *request_.pool);
}

}  // namespace grapnel
