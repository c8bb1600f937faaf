#include "lib/job/run.h"

#include <mutex>
#include <set>

#include "lib/check/comparison.h"
#include "lib/exec/saved_state.h"
#include "lib/function/call.h"
#include "lib/io/keras_weights.h"
#include "lib/io/object_functions.h"
#include "lib/io/signature.h"
#include "lib/io/value.h"
#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/name_resolver.h"
#include "lib/job/run_devices.h"
#include "lib/job/session_values.h"
#include "lib/pass/pass_manager.h"
#include "lib/support/file.h"
#include "lib/support/name_list.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {

// The fetches inside of calls.
struct InnerFetches {
  std::map<std::string, InnerFetch> fetches;  // by name in the completed request
  std::map<size_t, std::string> typed;        // their names in the request, by index
  std::vector<size_t> places;                 // the indices of the fetches that the hook catches
  std::unique_ptr<InnerFetchHook> hook;       // null before FindInnerFetches
};

namespace {

// Rejects paths that users mistake for a checkpoint. Without this check, an op of the model would
// report a less clear error.
Error CheckCheckpoint(const std::string& prefix) {
  if (FileExists(prefix + ".index") || IsKerasFile(prefix)) return Error::success();
  llvm::StringRef without = prefix;
  if (without.consume_back(".index") && FileExists(prefix))
    return MakeError("{0}: is one file of a checkpoint: name the checkpoint '{1}'", prefix,
                     without);
  if (!IsDirectory(prefix))
    return MakeError("{0}: is not a checkpoint: there is no {0}.index{1}", prefix,
                     FileExists(prefix) ? ", nor is it a file of Keras weights" : "");
  ASSIGN_OR_RETURN(std::vector<std::string> names, ListDirectory(prefix));
  std::vector<std::string> checkpoints;
  for (llvm::StringRef name : names) {
    if (name.consume_back(".index")) checkpoints.push_back(JoinPath(prefix, name));
  }
  return MakeError("{0}: is a folder; a checkpoint's prefix was expected{1}", prefix,
                   checkpoints.empty() ? "" : ", such as " + NameList(checkpoints));
}

// Returns a sink, which several threads may call, that passes what the graph prints to the
// request's `print`, and each warning of a kernel to the request's `sink`, but only once, even if
// the kernel repeats it. Neither is called by two threads at a time.
MessageSink PrintOf(const RunRequest& request, const std::string& path) {
  if (!request.print && !request.sink) return nullptr;
  struct Said {
    std::mutex mutex;
    std::set<std::string> texts;
  };
  return [print = request.print, sink = request.sink, path, said = std::make_shared<Said>()](
             Severity severity, llvm::StringRef text) {
    std::lock_guard lock(said->mutex);
    if (severity == Severity::kInfo) {
      if (print) print(severity, text);
    } else if (said->texts.insert(text.str()).second && sink) {
      sink(severity, (path + ": " + text).str());
    }
  };
}

// For errors about an unknown feed: lists the inputs, of the signature by their keys or of the
// graph, if there are few, and if `error` does not name one already.
std::string InputsText(const OpenedGraph& opened, llvm::StringRef signature,
                       llvm::StringRef error) {
  std::vector<std::string> names;
  auto chosen = ChooseSignature(opened.model(), opened.file(), signature);
  if (!chosen) llvm::consumeError(chosen.takeError());
  if (chosen && *chosen) {
    for (const SignatureTensor& input : (*chosen)->inputs) names.push_back(input.key);
  } else {
    names = DefaultFeeds(opened.module().main);
  }
  for (std::string& name : names) name.insert(0, "'").append("'");
  bool is_named =
      llvm::any_of(names, [&](const std::string& name) { return error.contains(name); });
  if (names.empty() || names.size() > 8 || is_named) return "";
  return names.size() == 1 ? "; the input is " + names[0]
                           : "; the inputs are " + llvm::join(names, ", ");
}

// Returns the error that a feed is in a function that is called; success if it is not.
Error InnerFeedError(const OpenedGraph& opened, NameResolver& resolver, llvm::StringRef name,
                     llvm::StringRef signature) {
  auto found = resolver.Fetch(name);
  if (!found) return llvm::consumeError(found.takeError()), Error::success();
  if (!found->inner) return Error::success();
  const std::vector<InnerCall>& calls = found->inner->calls;
  auto loop = llvm::find_if(calls, [](const InnerCall& call) {
    return call.kind == CallKind::kBody || call.kind == CallKind::kCond;
  });
  bool is_in_loop = loop != calls.end();
  const InnerCall& call = is_in_loop ? *loop : calls.back();
  std::string text = Sentence(
      "{0}: feed '{1}' is in function '{2}', which {3} '{4}' {5}: feed an input instead, or run "
      "the function alone (--function {6})",
      opened.model().path, name, call.function, is_in_loop ? "loop" : "node", call.caller,
      is_in_loop ? "runs in each iteration" : "calls", calls.back().function);
  return MakeError("{0}{1}", text, InputsText(opened, signature, text));
}

// In the graph of a function, replaces `name` by the node's name if it is the index of an argument
// or result, and checks that a control output ("^x"), which signatures do not list, exists. Returns
// true in these two cases.
Expected<bool> NameEnd(const Graph& graph, Node (*find)(const Graph&, llvm::StringRef),
                       std::string* name) {
  if (IsFunctionGraph(graph) && ReadTensorName(*name).control) {
    RETURN_IF_ERROR(FindEnd(graph, *name).takeError());
    return true;
  }
  Node end = find(graph, *name);
  if (end) *name = end.name().str();
  return static_cast<bool>(end);
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
  RETURN_IF_ERROR(job.Load());
  return job;
}

Expected<RunJob> RunJob::MakeApart(const OpenedGraph& opened, RunRequest request) {
  RunJob job(opened, std::move(request));
  RETURN_IF_ERROR(job.Load());
  if (job.request_.devices.empty() && !job.request_.placement_log) return job;
  job.apart_ = std::make_unique<OpenedGraph>(opened.Copy());
  job.placed_ = &job.apart_->module();
  return job;
}

// Replaces keys by names, and adds missing feeds and fetches.
Error RunJob::Complete() {
  const Model& model = opened_->model();
  NameResolver resolver(*opened_, request_.signature);
  auto name = [&](std::string& key, Node (*find)(const Graph&, llvm::StringRef)) -> Error {
    ASSIGN_OR_RETURN(bool is_end, NameEnd(opened_->module().main, find, &key));
    if (is_end) return Error::success();
    ASSIGN_OR_RETURN(key, resolver.MainTensor(key));
    return Error::success();
  };
  std::vector<FeedSource>& feeds = request_.feeds;
  for (FeedSource& feed : feeds) {
    Error error = name(feed.tensor, FindArgument);
    if (!error) continue;
    if (Error functions = CheckHasSignature(model, opened_->file())) {
      llvm::consumeError(std::move(error));
      return functions;
    }
    if (Error inner = InnerFeedError(*opened_, resolver, feed.tensor, request_.signature)) {
      llvm::consumeError(std::move(error));
      return inner;
    }
    std::string text = TextOf(std::move(error));
    return MakeError("{0}{1}", text, InputsText(*opened_, request_.signature, text));
  }
  RETURN_IF_ERROR(CompleteFetches());
  AddFeedsOfCase(*opened_, &feeds);
  ASSIGN_OR_RETURN(FeedsAndFetches tensors,
                   FeedsAndFetchesOf(*opened_, {}, request_.fetches, request_.signature));
  request_.fetches = std::move(tensors.fetches);
  return request_.fetches.empty() ? FetchEnds() : Error::success();
}

// Replaces the names of fetches by those of tensors, in the main graph or inside of calls.
Error RunJob::CompleteFetches() {
  NameResolver resolver(*opened_, request_.signature);
  for (size_t i = 0; i < request_.fetches.size(); ++i) {
    std::string& fetch = request_.fetches[i];
    ASSIGN_OR_RETURN(bool is_end, NameEnd(opened_->module().main, FindResult, &fetch));
    if (is_end) continue;
    auto resolved = resolver.Fetch(fetch);
    if (!resolved) {
      Error functions = CheckHasSignature(opened_->model(), opened_->file());
      if (!functions) return resolved.takeError();
      llvm::consumeError(resolved.takeError());
      return functions;
    }
    std::string tensor = resolved->inner ? resolved->inner->Name() : resolved->tensor;
    if (resolved->inner) {
      if (!inner_) inner_ = std::make_shared<InnerFetches>();
      inner_->typed[i] = fetch;
      inner_->fetches.emplace(tensor, std::move(*resolved->inner));
    }
    fetch = std::move(tensor);
  }
  return Error::success();
}

// Fetches the sinks (nodes without consumers), except in a MetaGraph, whose sinks would save and
// restore its variables.
Error RunJob::FetchEnds() {
  const GraphInFile& file = opened_->file();
  RETURN_IF_ERROR(CheckHasSignature(opened_->model(), file));
  bool is_meta_graph = file.saver || !file.signatures.empty();
  if (!is_meta_graph) request_.fetches = DefaultFetches(opened_->module().main);
  if (request_.fetches.empty()) {
    std::vector<std::string> names;
    for (const Signature* signature : DistinctSignatures(file)) names.push_back(signature->name);
    return MakeError("{0}: nothing to fetch: name tensors {1}{2}", opened_->model().path,
                     request_.words.fetches,
                     names.empty() ? "" : ", or a signature: " + NameList(names));
  }
  // A function's graph declares its results, so the notice is not needed.
  if (request_.sink && !IsFunctionGraph(opened_->module().main)) {
    request_.sink(Severity::kWarning,
                  "no fetch is given: " + EndsText(request_.fetches, "fetched"));
  }
  return Error::success();
}

// Finds the fetches inside of calls. What runs for such a fetch is the outermost call.
Error RunJob::FindInnerFetches() {
  const Graph& main = opened_->module().main;
  NameResolver resolver(*opened_, request_.signature);
  options_.fetches = request_.fetches;
  // Complete() has resolved the names of the request. Those of a case, and of a request that is
  // used as written, are resolved here.
  for (const std::string& name : request_.fetches) {
    bool is_main = main.Find(ReadTensorName(name).node) || ReadTensorName(name).control;
    if (is_main || (inner_ && inner_->fetches.count(name))) continue;
    ASSIGN_OR_RETURN(ResolvedFetch resolved, resolver.Fetch(name));
    if (!resolved.inner) continue;
    if (!inner_) inner_ = std::make_shared<InnerFetches>();
    inner_->fetches.emplace(name, std::move(*resolved.inner));
  }
  if (!inner_) return Error::success();
  std::vector<InnerFetch> fetches;
  for (size_t i = 0; i < request_.fetches.size(); ++i) {
    auto found = inner_->fetches.find(request_.fetches[i]);
    if (found == inner_->fetches.end()) continue;
    inner_->places.push_back(i);
    fetches.push_back(found->second);
    options_.fetches[i] = NodeDefInput(fetches.back().calls.front().caller, kControlPort);
  }
  inner_->hook = std::make_unique<InnerFetchHook>(std::move(fetches));
  return Error::success();
}

Error RunJob::Load() {
  RETURN_IF_ERROR(CheckValid(*opened_, request_.sink));
  if (request_.completes) RETURN_IF_ERROR(Complete());
  RETURN_IF_ERROR(FindInnerFetches());
  fetch_names_ = request_.fetches;
  if (request_.completes) {
    fetch_names_ =
        NamesOfFetches(opened_->model(), opened_->file(), request_.signature, request_.fetches);
    if (inner_) {
      for (const auto& [i, typed] : inner_->typed) fetch_names_[i] = typed;
    }
  }
  ASSIGN_OR_RETURN(std::vector<Feed> feeds, LoadFeeds(*opened_, request_.feeds));
  for (auto [source, feed] : llvm::zip(request_.feeds, feeds)) {
    if (request_.watch) request_.watch->AddFeed(feed.port, feed.value);
    feeds_.push_back(source.tensor);
    values_.push_back(std::move(feed.value));
    given_.push_back(std::move(feed.given));
  }
  return Error::success();
}

// True if an op reads the node's output, directly or in a function that it is passed to. Inputs of
// If, Case and While count as read.
bool IsRead(const Graph& graph, NodeId source, int depth = 0) {
  constexpr int kDeepest = 64;  // depth of nested calls; deeper ones count as read
  for (const Use& use : graph.node(source).uses()) {
    Node reader = graph.node(use.node);
    if (reader.input(use.slot).IsControl()) continue;
    const Function* callee = CallOf(reader).function;
    size_t argument = static_cast<size_t>(use.slot);
    if (!callee || depth == kDeepest || argument >= callee->args.size()) return true;
    if (IsRead(callee->body, callee->args[argument], depth + 1)) return true;
  }
  return false;
}

// Restores the state. If a fetch needs a variable without a value, reports that here, not in the op
// that reads the variable, which may be deep inside calls.
Error RunJob::Restore() {
  const std::string& own = opened_->model().variables_prefix;
  const std::string& prefix = request_.variables.empty() ? own : request_.variables;
  if (!request_.variables.empty()) RETURN_IF_ERROR(CheckCheckpoint(prefix));
  auto restored = RestoreSession(opened_->file(), prefix, *session_, *request_.pool);
  if (!restored) {
    Error error = restored.takeError();
    return request_.variables.empty() ? std::move(error) : Annotate(prefix, std::move(error));
  }
  if (!request_.variables.empty() && !own.empty())
    RETURN_IF_ERROR(KeepOwnSeeds(opened_->file(), own, *session_, &*restored));
  if (const auto& values = opened_->model().case_info)
    RETURN_IF_ERROR(RestoreCase(opened_->file(), *values, *session_, *request_.pool));
  if (!restored->ambiguous.empty() && request_.sink)
    request_.sink(Severity::kWarning, prefix + ": " + restored->ambiguous);
  if (restored->missing.empty()) return Error::success();
  const Graph& main = opened_->module().main;
  Signature fetched;
  for (const std::string& fetch : options_.fetches)
    fetched.outputs.push_back({fetch, fetch, proto::DT_INVALID, Shape()});
  std::vector<NodeId> needed = NeededNodes(main, fetched);
  std::string text;
  for (const MissingVariable& variable : restored->missing) {
    if (!llvm::is_contained(needed, variable.variable) || !IsRead(main, variable.variable))
      continue;
    text += llvm::formatv("{0}variable '{1}' has no value: {2}", text.empty() ? "" : "\n",
                          main.node(variable.variable).name(), variable.reason)
                .str();
  }
  return text.empty() ? Error::success() : MakeError("{0}: {1}", prefix, text);
}

RunRequest RunRequest::ByItself() const {
  RunRequest request = *this;
  request.device = nullptr;
  request.devices.clear();
  request.hard = false;
  request.placement_log = nullptr;
  request.pool = nullptr;
  request.steps.clear();
  request.hook = nullptr;
  request.watch = nullptr;
  request.profiler = nullptr;
  request.keeps_variables = false;
  return request;
}

Error RunJob::Prepare() {
  options_.feeds = feeds_;
  options_.pool = request_.pool;
  options_.hook = ChainHooks();
  options_.print = PrintOf(request_, opened_->model().path);
  options_.session = session_.get();
  options_.profiler = request_.profiler;
  options_.device = request_.device;
  options_.cancel = request_.cancel;
  options_.winograd = request_.winograd;
  options_.onednn = UsesOneDnn(request_.onednn);
  // Drops from memory the pages of mapped files that opening and optimizing read; kernels read the
  // weights again as they need them.
  for (const auto& source : opened_->module().sources) DropPages(source->bytes());
  bool is_watched = options_.hook || !request_.steps.empty() || request_.profiler;
  bool is_placed = !request_.devices.empty() || request_.placement_log;
  if (request_.gives_up_values && placed_ && !is_watched && !is_placed)
    options_.take_value = ValueTaker(*placed_);
  RETURN_IF_ERROR(Restore());
  BeginStep(values_);
  RETURN_IF_ERROR(Tell(&StepHook::Begin));
  always_ = step_.more;
  ASSIGN_OR_RETURN(plan_, PlanFor(always_));
  return Error::success();
}

// Returns a hook that calls all node hooks. If there is only one, returns it directly, since a
// chain also checks for each node which hooks want it.
RunHook* RunJob::ChainHooks() {
  std::vector<RunHook*> hooks;
  for (StepHook* step : request_.steps) {
    if (RunHook* hook = step->node_hook()) hooks.push_back(hook);
  }
  if (request_.hook) hooks.push_back(request_.hook);
  if (request_.watch) hooks.push_back(request_.watch);
  if (inner_) hooks.push_back(inner_->hook.get());
  if (hooks.size() < 2) return hooks.empty() ? nullptr : hooks.front();
  hooks_ = std::make_unique<HookChain>();
  for (RunHook* hook : hooks) hooks_->Add(hook);
  return hooks_.get();
}

Expected<RunPlan*> RunJob::PlanFor(const std::vector<std::string>& more) {
  auto known = plans_.find(more);
  if (known != plans_.end()) return &known->second;
  ExecutorOptions options = options_;
  options.fetches.insert(options.fetches.end(), more.begin(), more.end());
  if (!setup_ && (!request_.devices.empty() || request_.placement_log)) {
    ASSIGN_OR_RETURN(setup_, PlaceForRun(*placed_, request_, options));
  }
  const Graph& graph = placed_ ? placed_->main : opened_->module().main;
  // Placing may have inlined the calls, so that no call leads to the tensor any more.
  for (size_t i = 0; setup_ && inner_ && i < inner_->places.size(); ++i) {
    const InnerFetch& fetch = inner_->fetches.at(request_.fetches[inner_->places[i]]);
    if (graph.Find(fetch.Path()))
      options.fetches[inner_->places[i]] = NodeDefInput(fetch.Path(), fetch.output);
  }
  ASSIGN_OR_RETURN(RunPlan plan, setup_ ? RunPlan::CompilePlaced(*placed_, *setup_, options)
                                        : RunPlan::Compile(graph, options));
  return &plans_.emplace(more, std::move(plan)).first->second;
}

void RunJob::BeginStep(llvm::ArrayRef<Tensor> values) {
  step_.feeds = feeds_;
  step_.feed_values = values;
  step_.fetches = request_.fetches;
  step_.fetch_names = fetch_names_;
  step_.fetched = {};
  step_.more = always_;
  step_.more_values.clear();
  step_.save_variables = [this](llvm::StringRef prefix) { return SaveVariables(prefix); };
}

Error RunJob::Tell(Error (StepHook::*event)(StepContext&)) {
  for (StepHook* hook : request_.steps) {
    if (Error error = (hook->*event)(step_)) return Annotate(hook->name(), std::move(error));
  }
  return Error::success();
}

Expected<std::vector<Tensor>> RunJob::Run(std::vector<Tensor> values) {
  std::vector<Tensor> given;
  if (!request_.steps.empty()) given = values;
  BeginStep(given);
  ++step_.run;
  step_.has_failed = true;
  RETURN_IF_ERROR(Tell(&StepHook::BeforeRun));
  RunPlan* plan = plan_;
  if (step_.more != always_) {
    ASSIGN_OR_RETURN(plan, PlanFor(step_.more));
  }
  if (request_.keeps_variables) KeepVariables();
  if (inner_) inner_->hook->Clear();
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, plan->Run(std::move(values)));
  for (size_t i = 0; inner_ && i < inner_->places.size(); ++i) {
    Tensor& output = outputs[inner_->places[i]];
    if (output) continue;
    ASSIGN_OR_RETURN(output, inner_->hook->Value(i));
  }
  RETURN_IF_ERROR(CheckOpenFiles());
  size_t own = request_.fetches.size();
  step_.more_values.assign(outputs.begin() + own, outputs.end());
  outputs.resize(own);
  step_.fetched = outputs;
  RETURN_IF_ERROR(Tell(&StepHook::AfterRun));
  step_.has_failed = false;
  // Releases the tensors that the hooks have seen, so that the memory is free after the run.
  step_.fetched = step_.feed_values = {};
  step_.more_values.clear();
  return outputs;
}

Error RunJob::End() {
  Error first = Error::success();
  BeginStep({});
  for (StepHook* hook : request_.steps) {
    Error error = hook->End(step_);
    if (error && !first)
      first = Annotate(hook->name(), std::move(error));
    else
      llvm::consumeError(std::move(error));
  }
  return first;
}

void RunJob::ReportSpread(const MessageSink& sink) const {
  const Device* device = request_.device;
  if (setup_) {
    device = RealGpuFor(setup_->devices, &placed_->main);
    std::string gpus = LogicalGpusText(setup_->devices, device);
    if (!gpus.empty()) sink(Severity::kWarning, gpus);
  }
  if (const PartitionedGraph* split = plan_->split.get()) {
    return sink(Severity::kInfo, Plural(split->partitions.size(), "device") + ", " +
                                     Plural(split->transfers.size(), "transfer") +
                                     " between them per run");
  }
  if (IsHost(device)) return;
  const PlanSpread& spread = plan_->whole->spread();
  if (!spread.note.empty()) return sink(Severity::kWarning, spread.note);
  sink(Severity::kInfo,
       llvm::formatv(
           "{0} on {1}, {2} on the CPU, {3} between them per run, {4} of constants copied once",
           Plural(spread.on_device, "node"), device->name(), spread.on_host,
           Plural(spread.copies, "transfer"), Plural(spread.constant_bytes, "byte"))
           .str());
}

void RunJob::KeepVariables() {
  before_.clear();
  for (const VariableInfo& variable : VariablesOfGraph(opened_->module().main)) {
    Tensor value = ValueOfVariable(*session_, variable.container, variable.name);
    if (value && !value.HoldsObjects()) before_.emplace_back(variable.node, std::move(value));
  }
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
    if (given_[i].HoldsObjects())
      return MakeError("--save-case: feed '{0}' is {1}, which cannot be saved as .npy", feeds_[i],
                       given_[i].ToString());
    RETURN_IF_ERROR(SaveNpyLiteral(file, given_[i].ToLiteral()));
    saved.feeds.push_back({feeds_[i], file});
  }
  for (size_t i = 0; i < before_.size(); ++i) {
    std::string file = JoinPath(folder, "variable_" + std::to_string(i) + ".npy");
    RETURN_IF_ERROR(SaveNpyLiteral(file, before_[i].second.ToLiteral()));
    saved.variables.push_back({before_[i].first, file});
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
