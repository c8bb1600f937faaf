#include "lib/job/optimize.h"

#include <array>

#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"
#include "lib/check/reproducer.h"
#include "lib/check/value_check.h"
#include "lib/exec/evaluator.h"
#include "lib/exec/saved_state.h"
#include "lib/io/model_lines.h"
#include "lib/io/signature.h"
#include "lib/ir/device_name.h"
#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/dump.h"
#include "lib/job/freeze.h"
#include "lib/job/name_resolver.h"
#include "lib/job/node_question.h"
#include "lib/job/starting_state.h"
#include "lib/job/whole_model.h"
#include "lib/pass/boundary.h"
#include "lib/pass/device_renames.h"
#include "lib/pass/near_misses.h"
#include "lib/pass/registry.h"
#include "lib/pass/run_text.h"
#include "lib/pass/source_location_tracker.h"
#include "lib/place/settings.h"
#include "lib/support/file.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// Collects the first error of parsing a text proto, with its position.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (text.empty()) text = llvm::formatv("{0}:{1}: {2}", line + 1, column + 1, message).str();
  }
  std::string text;
};

// True if the text is a text proto rather than a file name. In a text proto, ':' or '{' follows
// every field name; file names rarely look like that.
bool IsText(const std::string& config) {
  return !FileExists(config) &&
         llvm::StringRef(config).find_first_of(":{") != llvm::StringRef::npos;
}

Expected<proto::RewriterConfig> ReadRewriterConfig(const OptimizeRequest& request) {
  const std::string& given = request.rewriter_config;
  std::shared_ptr<const FileBytes> file = FileBytes::FromString(given, request.config_name);
  if (request.may_read && !IsText(given)) {
    ASSIGN_OR_RETURN(file, FileBytes::Open(given));
  }
  proto::RewriterConfig config;
  FirstError first;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&first);
  if (!parser.ParseFromString(file->bytes().str(), &config))
    return MakeError("{0}:{1} (a RewriterConfig as text was expected)", file->name(), first.text);
  return config;
}

// Returns an error if the placer's device setting names a file. If the config has no valid placer
// settings, returns success: the placer reports that error itself.
Error CheckNoFiles(const proto::RewriterConfig& config) {
  auto settings = PlacerSettings::From(config);
  if (!settings) {
    llvm::consumeError(settings.takeError());
    return Error::success();
  }
  settings->may_read = false;
  return PlacerSetup::Make(*settings).takeError();
}

std::string AssumedDevice() { return LocalDeviceName("CPU", 0); }

bool AssumesCpu(const OptimizeRequest& request) {
  return !request.device && request.rewriter_config.empty();
}

size_t CountWithoutDevice(const Module& module) {
  size_t count = 0;
  auto add = [&](const Graph& graph) {
    for (Node node : graph.nodes()) count += node.device().empty();
  };
  add(module.main);
  for (const auto& function : module.functions) add(function->body);
  return count;
}

// Replaces signature keys and other names (lib/job/name_resolver.h), and in the graph of a function
// the indices of arguments and results, by tensor names. Errors: an ambiguous name.
Expected<OptimizeRequest> WithNames(const OpenedGraph& opened, OptimizeRequest request) {
  const Graph& main = opened.module().main;
  for (FeedSource& feed : request.feeds) {
    if (Node argument = FindArgument(main, feed.tensor)) feed.tensor = argument.name().str();
  }
  for (std::string& fetch : request.options.fetches) {
    if (Node result = FindResult(main, fetch)) fetch = result.name().str();
  }
  NameResolver resolver(opened, request.signature);
  auto name = [&](std::string* given) -> Error {
    if (ReadTensorName(*given).control) return Error::success();
    ASSIGN_OR_RETURN(std::optional<std::string> tensor, resolver.MainTensorIfThere(*given));
    if (tensor) *given = std::move(*tensor);  // else it may be there after freezing
    return Error::success();
  };
  if (Error error = ChooseSignature(opened.model(), opened.file(), request.signature).takeError()) {
    llvm::consumeError(std::move(error));  // reported later
    return request;
  }
  for (FeedSource& feed : request.feeds) RETURN_IF_ERROR(name(&feed.tensor));
  for (std::string& fetch : request.options.fetches) RETURN_IF_ERROR(name(&fetch));
  return request;
}

// True if argument shapes are known: TensorFlow 2 calls functions, whose arguments have shapes (the
// functions of signatures, and dumped functions). A session may feed a graph with any shape, unless
// the request sets shapes.
bool KnowsShapes(const OpenedGraph& opened, const OptimizeRequest& request,
                 llvm::ArrayRef<std::string> feeds) {
  bool is_of_functions =
      opened.model().kind == FileKind::kSavedModel && !opened.file().object_graph.empty();
  if (IsFunctionGraph(opened.module().main)) return true;
  if (!is_of_functions && request.sizes.empty()) return false;
  return llvm::all_of(feeds, [&](const std::string& feed) {
    std::optional<Port> port = FindTensorIfThere(opened.module().main, feed);
    return port && opened.module().main.node(port->node).op().starts_with("Placeholder");
  });
}

// A frozen graph cannot run without the op that fills its tables. Keeps the op when the graph is
// frozen here, and when its GraphDef is optimized without named fetches.
void KeepTableInit(const OpenedGraph& opened, const OptimizeRequest& request,
                   std::vector<std::string>* fetches) {
  const Graph& main = opened.module().main;
  std::string init = TableInitOf(main);
  bool is_graph_def = opened.file().signatures.empty() && fetches->empty();
  if (init.empty() || request.whole_model || !(request.freeze || is_graph_def)) return;
  if (fetches->empty()) *fetches = DefaultFetches(main);
  if (!llvm::is_contained(*fetches, init)) fetches->push_back(std::move(init));
}

// True if the arguments of a function are elements of a dataset: TensorFlow's
// structured_function.py wraps the function in one with *args, which names the first argument
// "args_0".
bool TakesElements(const Graph& graph) {
  Node first = FindArgument(graph, "0");
  return first && first.GetString("_user_specified_name") == "args_0";
}

// True for functions that tf.data calls: TensorFlow optimizes these without constant folding and
// layout optimization. They are recognized by name; "reduce_", which may also be a user's function,
// by the arguments too.
bool IsOfTfData(llvm::StringRef path, const Graph& graph) {
  llvm::StringRef name = llvm::sys::path::filename(path);
  if (!name.consume_front("__inference_")) return false;
  if (name.starts_with("Dataset_")) return true;
  if (name.starts_with("reduce_")) return TakesElements(graph);
  if (!name.consume_front("_remote_")) name.consume_front("_");
  return llvm::any_of(std::array<llvm::StringRef, 3>{"init_func_", "next_func_", "finalize_func_"},
                      [&](llvm::StringRef of_iterator) { return name.starts_with(of_iterator); });
}

// Returns the configuration with which TensorFlow would optimize the graph. TensorFlow leaves small
// functions unoptimized (min_graph_nodes); a main graph, which a session runs, is always optimized
// here.
proto::RewriterConfig DefaultConfig(const OpenedGraph& opened, const OptimizeRequest& request) {
  proto::RewriterConfig config;
  if (!IsFunctionGraph(opened.module().main)) {
    config.set_min_graph_nodes(-1);
  } else if (IsOfTfData(opened.file().path, opened.module().main) &&
             request.options.passes.empty()) {
    config.set_constant_folding(proto::RewriterConfig::OFF);
    config.set_layout_optimizer(proto::RewriterConfig::OFF);
    if (request.options.sink)
      request.options.sink(
          Severity::kWarning,
          opened.name() +
              ": a tf.data function, optimized as TensorFlow does: without "
              "constant_folding and layout (--rewriter-config selects another pipeline)");
  }
  return config;
}

// Returns the options of a request with those that the job sets, except for the evaluator, the pool
// and the callbacks.
Expected<OptimizeOptions> OptionsOf(const OpenedGraph& opened, const OptimizeRequest& request) {
  OptimizeOptions options = request.options;
  options.pool = nullptr;  // Optimize sets both; the runs after a failure are silent and in order
  options.sink = nullptr;
  std::vector<std::string> feeds;
  for (const FeedSource& feed : request.feeds) feeds.push_back(feed.tensor);
  std::string signature = request.signature;
  if (request.whole_model) {
    // The passes work on all signatures; these are the ends that messages speak of.
    std::vector<const Signature*> signatures = DistinctSignatures(opened.file());
    if (signature.empty() && !signatures.empty()) signature = signatures.front()->name;
  } else if (request.options.fetches.empty()) {
    RETURN_IF_ERROR(ChooseOneSignature(opened.model(), opened.file(), signature).takeError());
  }
  ASSIGN_OR_RETURN(FeedsAndFetches tensors,
                   FeedsAndFetchesOf(opened, feeds, request.options.fetches, signature));
  options.trusts_shapes = KnowsShapes(opened, request, tensors.feeds);
  options.feeds = std::move(tensors.feeds);
  options.fetches = std::move(tensors.fetches);
  if (options.fetches.empty() && IsFunctionGraph(opened.module().main))
    options.fetches = DefaultFetches(opened.module().main);
  KeepTableInit(opened, request, &options.fetches);
  options.onednn = UsesOneDnn(request.onednn);
  if (AssumesCpu(request)) options.assumed_device = AssumedDevice();
  options.config = DefaultConfig(opened, request);
  if (!request.rewriter_config.empty()) {
    ASSIGN_OR_RETURN(options.config, ReadRewriterConfig(request));
    if (!request.may_read) RETURN_IF_ERROR(CheckNoFiles(options.config));
  }
  return options;
}

bool DropsDebugging(const OptimizeOptions& options) {
  auto drops = [](llvm::StringRef pass) { return pass.starts_with("debug_stripper"); };
  return llvm::any_of(options.passes, drops) || llvm::any_of(options.config.optimizers(), drops) ||
         options.config.debug_stripper() == proto::RewriterConfig::ON;
}

std::vector<std::string> ResultsOfSignatures(const GraphInFile& graph) {
  std::vector<std::string> results;
  for (const Signature& signature : graph.signatures) {
    if (IsInternal(signature)) continue;
    for (const SignatureTensor& output : signature.outputs) results.push_back(output.tensor);
  }
  return results;
}

Expected<std::unique_ptr<ValueCheck>> MakeValueCheck(const OpenedGraph& opened,
                                                     const OptimizeRequest& request,
                                                     const OptimizeOptions& optimize,
                                                     ThreadPool& pool) {
  ValueCheckOptions options;
  options.rtol = request.rtol;
  options.atol = request.atol;
  options.timeout_s = request.run_timeout_s;
  options.pool = &pool;
  options.sink = request.options.sink;
  options.fetches = optimize.fetches;
  // The op that fills the tables has no value to compare, and the starting state already contains
  // the filled tables.
  llvm::erase_if(options.fetches, [&](const std::string& fetch) {
    return fetch == TableInitOf(opened.module().main);
  });
  options.drops_debugging = DropsDebugging(optimize);
  const Graph& graph = opened.module().main;
  if (request.whole_model && request.options.fetches.empty())
    options.fetches = ResultsOfSignatures(opened.file());
  if (options.fetches.empty()) options.fetches = DefaultFetches(graph);
  ASSIGN_OR_RETURN(std::shared_ptr<const StartingState> state, StartingState::Of(opened, pool));
  if (state) {
    options.fill_session = [state](const Module&, Session& session) {
      return state->Fill(session);
    };
  }
  std::vector<FeedSource> sources;
  for (const FeedSource& feed : request.feeds) {
    if (feed.value || !feed.file.empty()) sources.push_back(feed);
  }
  AddFeedsOfCase(opened, &sources);
  ASSIGN_OR_RETURN(std::vector<Feed> feeds, LoadFeeds(opened, sources));
  for (auto [source, feed] : llvm::zip(sources, feeds))
    options.feeds.push_back({source.tensor, std::move(feed.value)});
  return ValueCheck::Create(opened.module(), std::move(options));
}

const PassRegistry& RegistryOf(const OptimizeOptions& options) {
  return options.registry ? *options.registry : PassRegistry::Get();
}

bool HasPlugins(const OptimizeOptions& options) {
  const PassRegistry& registry = RegistryOf(options);
  return llvm::any_of(registry.Passes(), [&](const PassRegistry::Entry* pass) {
    return *pass->plugin || llvm::any_of(registry.RulesOf(pass->info.name),
                                         [](const Rule* rule) { return *rule->plugin; });
  });
}

bool IsOfPlugin(const Rewrite& rewrite, const OptimizeOptions& options) {
  const PassRegistry& registry = RegistryOf(options);
  const PassRegistry::Entry* pass = registry.Find(rewrite.pass);
  if (!pass) return false;
  return *pass->plugin || llvm::any_of(registry.RulesOf(rewrite.pass), [&](const Rule* rule) {
    return *rule->plugin && rewrite.rule == rule->name;
  });
}

class RewriteListener : public Instrumentation {
 public:
  explicit RewriteListener(const std::function<void(const Rewrite&)>& listen) : listen_(listen) {}
  void OnRewrite(const Rewrite& rewrite) override { listen_(rewrite); }

 private:
  const std::function<void(const Rewrite&)>& listen_;
};

// The threads and kernels of a job.
struct JobResources {
  explicit JobResources(ThreadPool* given)
      : own(given ? nullptr : std::make_unique<ThreadPool>()),
        pool(given ? *given : *own),
        evaluator(MakeCpuEvaluator(pool)) {}
  std::unique_ptr<ThreadPool> own;
  ThreadPool& pool;
  std::unique_ptr<Evaluator> evaluator;
};

// Prepares the graph for the passes: applies the request's settings to the graph.
Error MakeReady(OpenedGraph& opened, const OptimizeRequest& request, ThreadPool& pool) {
  if (request.whole_model && !request.sizes.empty())
    return MakeError(
        "{0}: a SavedModel's argument sizes come from its signatures: --shape and --batch require "
        "-o FILE.pb",
        opened.model().path);
  RETURN_IF_ERROR(FillSizes(request.sizes, request.signature, &opened));
  if (request.freeze)
    RETURN_IF_ERROR(Freeze(opened, {request.signature, request.options.fetches}, pool));
  return SetMissingDevices(opened.module(), request.device.value_or(""));
}

Expected<OpenedGraph> OpenAnew(const OpenedGraph& opened, const OptimizeRequest& request,
                               ThreadPool& pool) {
  ASSIGN_OR_RETURN(OpenedGraph again, opened.Reopen());
  RETURN_IF_ERROR(MakeReady(again, request, pool));
  return again;
}

// For a graph that a pass broke: reruns the passes to find the rewrite that broke it, and returns
// "\nsince 1. PASS/RULE at ..."; "" if no such rewrite is found.
std::string WhichRewrite(const OpenedGraph& opened, OptimizeRequest request) {
  request.options.sink = nullptr;
  auto holds = [](const Module&) { return std::optional<std::string>(); };
  auto culprit = FindCulprit(opened, request, holds);
  if (culprit && *culprit) return "\nsince " + RewriteText((*culprit)->rewrite);
  llvm::consumeError(culprit.takeError());
  return "";
}

// Returns null if the graph has no source lines.
std::unique_ptr<SourceLocationTracker> MakeLineKeeper(const OpenedGraph& opened) {
  LineTable lines = LinesOf(opened.model(), opened.module());
  return lines.empty() ? nullptr : std::make_unique<SourceLocationTracker>(std::move(lines));
}

// Warns about an unknown device type. It may come from a plugin, and is then correct; else it is
// mistyped, and no rule would fuse ops for it.
void ReportUnknownKind(llvm::StringRef device, const MessageSink& sink) {
  static constexpr llvm::StringRef kKinds[] = {"CPU",        "GPU",     "TPU",
                                               "TPU_SYSTEM", "XLA_CPU", "XLA_GPU"};
  auto name = DeviceNameFromTyped(device);
  if (!name) return llvm::consumeError(name.takeError());
  llvm::StringRef kind = DeviceTypeOf(*name);
  if (!sink || kind.empty() || llvm::is_contained(kKinds, kind)) return;
  sink(Severity::kWarning, ("device '" + device + "': TensorFlow itself has no device type '" +
                            kind + "'" + DidYouMean(kind, kKinds))
                               .str());
}

}  // namespace

std::string Optimized::KeptText() const {
  llvm::ArrayRef<std::string> kept = result.fetches;
  if (!tensors.fetches.empty() || kept.empty()) return "";
  return EndsText(kept, "kept");
}

std::string Optimized::AssumedText() const {
  if (assumed_of == 0) return "";
  return llvm::formatv("{0} without a device: assumed to be on {1}", Plural(assumed_of, "node"),
                       AssumedDevice())
      .str();
}

Expected<Optimized> Optimize(OpenedGraph& opened, const OptimizeRequest& given) {
  ASSIGN_OR_RETURN(const OptimizeRequest request, WithNames(opened, given));
  RETURN_IF_ERROR(CheckValid(opened, request.options.sink));
  Module& module = opened.module();
  JobResources resources(request.options.pool);
  RETURN_IF_ERROR(MakeReady(opened, request, resources.pool));
  if (request.device && !request.device->empty())
    ReportUnknownKind(*request.device, request.options.sink);
  ASSIGN_OR_RETURN(OptimizeOptions options, OptionsOf(opened, request));
  std::optional<WholeModel> whole;
  if (request.whole_model) {
    ASSIGN_OR_RETURN(whole, WholeModel::Prepare(opened));
    whole->Fill(&options);
  }
  options.evaluator = resources.evaluator.get();
  options.pool = &resources.pool;
  options.sink = request.options.sink;
  PassManager manager;
  NearMisses left, intermediate;
  std::function<void(const Rewrite&)> forget = [&](const Rewrite& rewrite) {
    left.Rewrote(rewrite);
  };
  if (request.wants_near_misses) {
    options.on_refusal = [&](const Refusal& refusal) {
      left.Add(refusal);
      intermediate.Add(refusal);
    };
    manager.Add(std::make_unique<RewriteListener>(forget));
  }
  if (request.question) {
    request.question->Join(&options);
    manager.Add(request.question);
  }
  if (request.ledger) manager.Add(MakeLedgerInstrumentation(*request.ledger, options.onednn));
  if (request.on_rewrite) manager.Add(std::make_unique<RewriteListener>(request.on_rewrite));
  if (request.watcher) manager.Add(request.watcher);
  if (request.dump_folder) {
    RETURN_IF_ERROR(AddDump({*request.dump_folder, opened.name(), request.options.sink}, module,
                            options, &manager));
  }
  Optimized optimized;
  optimized.onednn = options.onednn;
  if (AssumesCpu(request)) optimized.assumed_of = CountWithoutDevice(module);
  optimized.tensors = {options.feeds, options.fetches};
  // If the graph has source lines, the optimized graph gets them too.
  std::unique_ptr<SourceLocationTracker> keeper = MakeLineKeeper(opened);
  if (keeper) manager.Add(keeper.get());
  std::unique_ptr<ValueCheck> values;
  if (request.check_values) {
    auto made = MakeValueCheck(opened, request, options, resources.pool);
    if (!made) return Annotate(opened.model().path, made.takeError());
    values = std::move(*made);
    optimized.values_compared = values->num_compared();
    optimized.effects_compared = values->num_effects();
    optimized.open_sizes = values->open_sizes();
    manager.Add(MakeValueCheckInstrumentation(values.get(), &optimized.difference));
  }
  // Added after the value check, because after a pass the instrumentations run in reverse order:
  // the value check comes later, and its failure does not count as the pass's own.
  manager.Add(MakeFailureInstrumentation(&optimized.failed));
  bool broke_graph = false;
  manager.Add(MakeVerifyInstrumentation(/*is_sound=*/true, options.fetches, &broke_graph));
  auto result = manager.Run(module, options);
  if (result && whole) whole->CleanUp(module);
  if (result && keeper) keeper->WriteTo(&module);
  optimized.near_misses = left.Sorted();
  optimized.intermediate = intermediate.Sorted();
  if (result) {
    optimized.result = std::move(*result);
  } else {
    optimized.failure = TextOf(result.takeError());
    if (broke_graph) *optimized.failure += llvm::StringRef(WhichRewrite(opened, request)).rtrim();
  }
  RETURN_IF_ERROR(CheckOpenFiles());  // files of constants may have been truncated meanwhile
  return optimized;
}

Expected<std::string> SaveFailedInput(const OpenedGraph& opened, const OptimizeRequest& given,
                                      const Stage& failed) {
  ASSIGN_OR_RETURN(const OptimizeRequest request, WithNames(opened, given));
  JobResources resources(request.options.pool);
  ASSIGN_OR_RETURN(OpenedGraph again, OpenAnew(opened, request, resources.pool));
  ASSIGN_OR_RETURN(OptimizeOptions options, OptionsOf(again, request));
  options.evaluator = resources.evaluator.get();
  std::string path = again.name() + ".before_" + failed.pass + ".pb";
  if (Error error = SaveReproducer(again.module(), options, failed, path))
    return Annotate("its input could not be saved", std::move(error));
  return path;
}

Expected<std::optional<Culprit>> FindCulprit(
    const OpenedGraph& opened, const OptimizeRequest& given,
    std::function<Expected<std::optional<std::string>>(const Module&)> fails,
    std::vector<int64_t>* open_sizes) {
  ASSIGN_OR_RETURN(const OptimizeRequest request, WithNames(opened, given));
  JobResources resources(request.options.pool);
  std::optional<OpenedGraph> again;
  std::optional<WholeModel> whole;
  BisectOptions options;
  options.open = [&]() -> Expected<Module*> {
    ASSIGN_OR_RETURN(again, OpenAnew(opened, request, resources.pool));
    if (request.whole_model) {
      ASSIGN_OR_RETURN(whole, WholeModel::Prepare(*again));
    }
    return &again->module();
  };
  RETURN_IF_ERROR(options.open().takeError());
  RETURN_IF_ERROR(CheckValid(*again, request.options.sink));
  ASSIGN_OR_RETURN(options.optimize, OptionsOf(*again, request));
  if (whole) whole->Fill(&options.optimize);
  options.optimize.evaluator = resources.evaluator.get();
  std::unique_ptr<ValueCheck> values;
  if (!fails) {
    auto made = MakeValueCheck(*again, request, options.optimize, resources.pool);
    if (!made) return Annotate(opened.model().path, made.takeError());
    values = std::move(*made);
    if (open_sizes) *open_sizes = values->open_sizes();
    fails = [&](const Module& module) { return values->Differs(module); };
  }
  options.fails = std::move(fails);
  auto culprit = Bisect(options);
  if (!culprit) return Annotate(opened.model().path, culprit.takeError());
  if (*culprit || !values || !HasPlugins(options.optimize)) return culprit;
  // No rewrite was found. A plugin's rule may still have made values NaN or infinite, which the
  // first search tolerates: bisects again and counts those too.
  RETURN_IF_ERROR(options.open().takeError());
  values->Renew(again->module());
  options.fails = [&](const Module& module) { return values->DiffersWildly(module); };
  culprit = Bisect(options);
  if (!culprit) return Annotate(opened.model().path, culprit.takeError());
  if (*culprit && IsOfPlugin((*culprit)->rewrite, options.optimize)) return culprit;
  return std::optional<Culprit>();
}

}  // namespace grapnel
