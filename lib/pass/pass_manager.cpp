#include "lib/pass/pass_manager.h"

#include <algorithm>
#include <map>
#include <set>

#include "lib/pass/branch_arguments.h"
#include "lib/pass/library.h"
#include "lib/pass/pipeline.h"
#include "lib/pass/registry.h"
#include "lib/pass/shape_annotations.h"
#include "lib/pass/tidy.h"
#include "lib/shape/module_shapes.h"
#include "lib/support/denormals.h"
#include "lib/support/exceptions.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Names of stages that are not registered passes, as TensorFlow calls the same steps.
constexpr const char* kWholeFlow = "meta_optimizer";
constexpr const char* kLastLook = "tfg_optimizer";

constexpr const char* kOurBug = "a bug in grapnel: please report it with the model";

// One run of the PassManager over one module.
class Runner {
 public:
  Runner(Module& module, const OptimizeOptions& options, llvm::ArrayRef<Instrumentation*> clients)
      : module_(module),
        options_(options),
        registry_(options.registry ? *options.registry : PassRegistry::Get()),
        clients_(clients),
        left_(options.limit) {}

  Expected<OptimizeResult> Run() {
    result_.fetches = options_.fetches;
    if (result_.fetches.empty()) result_.fetches = DefaultFetches(module_.main);
    ASSIGN_OR_RETURN(Boundary boundary, BoundaryOf(module_.main, options_.feeds, result_.fetches));
    RETURN_IF_ERROR(ReadWithout());
    names_ = IsPipeline() ? PipelineOf(options_.config, registry_, options_.sink) : options_.passes;
    llvm::erase_if(names_, [&](llvm::StringRef name) { return IsLeftOut(name); });
    has_plugins_ = llvm::any_of(names_, [&](llvm::StringRef name) {
      return !PluginsOf(name).empty() || !PluginsOf(name.split('/').first).empty();
    });
    bool runs = !options_.config.disable_meta_optimizer() || !IsPipeline();
    if (runs && IsPipeline() && options_.bodies.empty()) DropShapeAnnotations(module_.main);
    for (Instrumentation* client : clients_) RETURN_IF_ERROR(client->BeforePipeline(module_));
    if (runs) RETURN_IF_ERROR(RunUntilFixed(std::move(boundary)));
    for (Instrumentation* client : llvm::reverse(clients_))
      RETURN_IF_ERROR(client->AfterPipeline(module_));
    return std::move(result_);
  }

 private:
  // False if passes were selected by name: then only these passes run.
  bool IsPipeline() const { return options_.passes.empty(); }

  // Finds the passes and rules that options_.without names.
  Error ReadWithout() {
    for (const std::string& name : options_.without) {
      ASSIGN_OR_RETURN(PassRegistry::Choice choice, registry_.Choose(name));
      std::vector<std::string>& rules = without_[choice.pass->info.name];
      if (choice.rule.empty())
        passes_left_out_.insert(choice.pass->info.name);
      else
        rules.push_back(choice.rule);
    }
    return Error::success();
  }

  // True if the name, "pass" or "pass/rule", is of a pass or rule that is not to run.
  bool IsLeftOut(llvm::StringRef name) const {
    auto [pass, rule] = name.split('/');
    const PassRegistry::Entry* entry = registry_.Find(pass);
    if (!entry) return false;
    if (passes_left_out_.count(entry->info.name)) return true;
    auto rules = without_.find(entry->info.name);
    return rules != without_.end() && llvm::is_contained(rules->second, rule);
  }

  std::vector<std::string> RulesLeftOut(const std::string& pass) const {
    auto rules = without_.find(pass);
    return rules == without_.end() ? std::vector<std::string>() : rules->second;
  }

  // Runs the passes, as often as the options say. Each run begins with new editors, because a run
  // may drop functions.
  Error RunUntilFixed(Boundary boundary) {
    for (;;) {
      result_.last_run = result_.stages.size();
      RETURN_IF_ERROR(RunModule(std::move(boundary)));
      ++result_.runs;
      auto run = llvm::ArrayRef(result_.stages).drop_front(result_.last_run);
      result_.is_fixed = llvm::none_of(run, [](const Stage& stage) { return stage.changed; });
      bool is_over = result_.is_fixed || left_ == 0 || result_.runs >= options_.most_runs;
      if (is_over) return Error::success();
      for (const Stage& stage : run) first_iteration_ = std::max(first_iteration_, stage.iteration);
      ++first_iteration_;
      editors_.clear();
      arguments_.clear();
      ASSIGN_OR_RETURN(boundary, BoundaryOf(module_.main, options_.feeds, result_.fetches));
    }
  }

  std::unique_ptr<Editor> MakeEditor(Graph& graph, Function* function, Boundary boundary) {
    boundary.onednn = options_.onednn;
    boundary.keep_nan = options_.keep_nan;
    boundary.assumed_device = options_.assumed_device;
    boundary.keep_functional = options_.keep_functional;
    auto editor = std::make_unique<Editor>(graph, function, std::move(boundary), options_.config,
                                           options_.evaluator);
    editor->set_id(function ? function->name() : llvm::StringRef(options_.id));
    editor->set_registry(&registry_);
    editor->set_counter(&result_.rewrites);
    if (options_.limit >= 0) editor->set_limit(&left_);
    if (options_.on_refusal) editor->set_on_refusal(options_.on_refusal);
    if (options_.on_mismatch) editor->set_on_mismatch(options_.on_mismatch);
    if (llvm::any_of(clients_, [](const auto& client) { return client->ReadsRewrites(); })) {
      editor->set_on_rewrite([this](const Rewrite& rewrite) {
        for (Instrumentation* client : clients_) {
          if (client->ReadsRewrites()) client->OnRewrite(rewrite);
        }
      });
    }
    return editor;
  }

  Error RunModule(Boundary boundary) {
    if (!options_.bodies.empty()) return RunBodies();
    std::unique_ptr<Editor> editor = MakeEditor(module_.main, nullptr, std::move(boundary));
    if (options_.trusts_shapes) editor->set_fed_shapes({});
    if (IsPipeline() && !module_.functions.empty()) {
      auto drop = [&] {
        DropFunctions(editor.get(), /*choices=*/true);
        return Error::success();
      };
      RETURN_IF_ERROR(RunStage(kWholeFlow, 0, editor.get(), drop, &result_));
    }
    RETURN_IF_ERROR(RunBody(editor.get(), &result_));
    RETURN_IF_ERROR(RunFunctions(ReachableFunctions(module_)));
    bool last_look = IsPipeline() && !options_.config.disable_tfg_optimizer() &&
                     !module_.functions.empty() && !IsTiny(module_.main);
    if (!last_look) return Error::success();
    auto look = [&] {
      // Iterates by index, because optimizing bodies adds functions.
      for (size_t i = 0, known = module_.functions.size(); i < known; ++i) {
        auto found = editors_.find(module_.functions[i].get());
        if (found != editors_.end()) OrderArguments(found->second.get());
      }
      OrderArguments(editor.get());
      MarkDirectCalls(editor.get());
      for (const auto& function : module_.functions) {
        if (editors_.count(function.get())) {
          MarkDirectCalls(editors_[function.get()].get());
        } else if (HasDirectCalls(function->body)) {
          MarkDirectCalls(EditorOf(function.get()));
        }
      }
      DropFunctions(editor.get(), /*choices=*/false);
      return Error::success();
    };
    return RunStage(kLastLook, 0, editor.get(), look, &result_);
  }

  // Optimizes the named functions, each as the graph of a run of its own, and then the functions
  // that they still reach.
  Error RunBodies() {
    FunctionSet done, reached;
    for (const std::string& name : options_.bodies) {
      const Function* function = module_.FindFunction(name);
      if (!function) return MakeError("function '{0}' is not in the library", name);
      AddReachable(*function, &reached);
    }
    LearnArguments(reached);
    for (const auto& function : module_.functions) {  // inlining would make annotations wrong
      if (reached.contains(function.get())) DropShapeAnnotations(function->body);
    }
    for (const std::string& name : options_.bodies) {
      Function* function = module_.FindFunction(name);
      if (done.insert(function).second) RETURN_IF_ERROR(RunBody(EditorOf(function), &result_));
    }
    reached.clear();
    for (const Function* function : done) AddReachable(*function, &reached);
    for (const Function* function : done) reached.erase(function);
    LearnArguments(reached);  // includes functions made meanwhile
    return RunFunctions(std::move(reached));
  }

  // Collects the argument shapes that calls pass to functions.
  void LearnArguments(const FunctionSet& functions) {
    ModuleShapes shapes(module_);
    // Replaces symbols with plain unknown dimensions: TensorFlow does not know that unknown
    // dimensions of two arguments are equal.
    auto without_symbols = [](Shape shape) {
      for (int i = 0; shape.known_rank() && i < shape.rank(); ++i) {
        if (!shape.IsKnown(i)) shape.set_dim(i, kUnknownDim);
      }
      return shape;
    };
    for (const Function* function : functions) {
      const ShapeMap& body = shapes.Of(function->body);
      std::vector<Shape>& known = arguments_[function];
      known.clear();
      for (NodeId arg : function->args) {
        bool is_resource = function->body.node(arg).GetType("T") == proto::DT_RESOURCE;
        known.push_back(
            without_symbols(is_resource ? body.OfContent({arg, 0}) : body.OfPort({arg, 0})));
      }
    }
  }

  static void DropFunctions(Editor* editor, bool choices) {
    FunctionSet reached = ReachableFunctions(editor->module(), choices);
    if (reached.size() == editor->module().functions.size()) return;
    if (!editor->Begin("drop_unreachable_functions", Node())) return;
    editor->DropUnreachableFunctions(choices);
    editor->End();
  }

  bool HasDirectCalls(const Graph& graph) const {
    for (Node node : graph.nodes()) {
      if (module_.FindFunction(node.op())) return true;
    }
    return false;
  }

  void OrderArguments(Editor* editor) {
    editor->StartPass(kLastLook, 0);
    OrderBranchArguments(*editor, [&](const Function& function) {
      auto found = editors_.find(&function);
      return found == editors_.end() ? llvm::ArrayRef<uint32_t>() : found->second->ranks();
    });
  }

  // TensorFlow's last pass leaves this attribute on nodes whose op is a function.
  static void MarkDirectCalls(Editor* editor) {
    constexpr const char* kCall = "tfg.legacy_call";
    editor->StartPass(kLastLook, 0);
    for (Node node : editor->graph().nodes()) {
      if (!editor->module().FindFunction(node.op()) || node.FindAttr(kCall)) continue;
      if (!editor->Begin("mark_direct_call", node)) return;
      editor->SetAttr(node, kCall, attr::Func(node.op()));
      editor->End();
    }
  }

  // Optimizes the functions in `reached` and those made meanwhile, each once. Skips functions of
  // tf.data and the functions that they call: tf.data optimizes these itself, and TensorFlow marks
  // the called ones for it. But TensorFlow loses these marks as soon as it optimizes any other
  // function; in that case it optimizes the called ones too, after all others, and so does this
  // function.
  Error RunFunctions(FunctionSet reached) {
    FunctionSet compiled, data;
    FunctionSet differentiable = FunctionsNamedBy(module_, "SymbolicGradient", "f");
    for (const Function* function : FunctionsNamedBy(module_, "XlaLaunch", "function"))
      AddReachable(*function, &compiled);
    for (const auto& function : module_.functions) {
      if (FunctionFlag(*function, kDataFunction)) AddReachable(*function, &data);
    }
    std::optional<CallGraph> calls;
    if (MaySplit()) calls.emplace(module_);
    Batch batch;
    auto run = [&](Function* function) -> Error {
      Editor* editor = EditorOf(function, differentiable.contains(function));
      if (calls && calls->IsLeaf(*function)) {
        batch.functions.insert(function);
        batch.editors.push_back(editor);
        return Error::success();
      }
      // Functions of the batch that `function` may inline must be optimized before it, as in serial
      // order.
      if (calls && calls->Reaches(*function, batch.functions)) RETURN_IF_ERROR(RunBatch(&batch));
      return RunBody(editor, &result_);
    };
    auto is_taken = [&](const Function& function) {
      return reached.contains(&function) && !compiled.contains(&function) &&
             !IsParametrized(function);
    };
    std::vector<Function*> of_data;
    bool has_others = false;
    for (const auto& function : module_.functions) {
      if (!is_taken(*function)) continue;
      if (!data.contains(function.get()))
        has_others = true;
      else if (!FunctionFlag(*function, kDataFunction))
        of_data.push_back(function.get());
    }
    if (!has_others) MarkDataFunctions(data);
    // Iterates by index, because functions are added while bodies are optimized.
    for (size_t i = 0, known = module_.functions.size(); i < module_.functions.size(); ++i) {
      Function* function = module_.functions[i].get();
      if (data.contains(function)) continue;
      if (i < known ? is_taken(*function) : !IsParametrized(*function))
        RETURN_IF_ERROR(run(function));
    }
    for (Function* function : has_others ? of_data : std::vector<Function*>())
      RETURN_IF_ERROR(run(function));
    return RunBatch(&batch);
  }

  // Functions that wait to be optimized in parallel, which is safe because their bodies name no
  // other function.
  struct Batch {
    FunctionSet functions;
    std::vector<Editor*> editors;
  };

  bool MaySplit() const {
    return options_.pool && options_.pool->num_threads() > 1 && options_.limit < 0 &&
           !options_.on_refusal && !options_.on_mismatch && !options_.registry && !has_plugins_ &&
           llvm::all_of(clients_, [](const auto& client) { return client->TakesBodiesApart(); });
  }

  Error RunBatch(Batch* batch) {
    if (batch->editors.empty()) return Error::success();
    std::vector<Editor*> editors = std::move(batch->editors);
    *batch = Batch();
    std::vector<OptimizeResult> results(editors.size());
    std::vector<Error> errors;
    errors.reserve(editors.size());
    size_t nodes = 0;
    for (size_t i = 0; i < editors.size(); ++i) {
      editors[i]->set_counter(&results[i].rewrites);
      errors.push_back(Error::success());
      nodes += editors[i]->graph().num_nodes();
    }
    constexpr double kNanosecondsANode = 10000;
    double cost = kNanosecondsANode * nodes / std::max<size_t>(editors.size(), 1);
    options_.pool->ParallelFor(editors.size(), cost, [&](int64_t begin, int64_t end) {
      KeepDenormals keep;  // rules compare numbers
      for (int64_t i = begin; i < end; ++i) errors[i] = RunBody(editors[i], &results[i]);
    });
    Error first = Error::success();
    for (size_t i = 0; i < editors.size(); ++i) {
      editors[i]->set_counter(&result_.rewrites);
      result_.rewrites += results[i].rewrites;
      result_.stages.insert(result_.stages.end(), results[i].stages.begin(),
                            results[i].stages.end());
      if (first) {
        llvm::consumeError(std::move(errors[i]));
      } else {
        first = std::move(errors[i]);
        if (!first) continue;
        for (Instrumentation* client : llvm::reverse(clients_))
          client->Failed(results[i].stages.back(), module_);
      }
    }
    return first;
  }

  Editor* EditorOf(Function* function, bool differentiable = false) {
    std::unique_ptr<Editor>& editor = editors_[function];
    if (!editor) {
      Boundary boundary = BoundaryOf(*function);
      boundary.differentiable = differentiable;
      editor = MakeEditor(function->body, function, std::move(boundary));
      if (auto known = arguments_.find(function); known != arguments_.end())
        editor->set_fed_shapes(known->second);
    }
    return editor.get();
  }

  // Marks the functions in `data` as tf.data's own, which tf.data optimizes itself.
  void MarkDataFunctions(const FunctionSet& data) {
    for (const auto& function : module_.functions) {
      if (data.contains(function.get()) && !FunctionFlag(*function, kDataFunction))
        SetFunctionAttr(function.get(), kDataFunction, attr::Bool(true));
    }
  }

  int64_t LeastNodes() const {
    constexpr int64_t kDefault = 4;
    int64_t least = options_.config.min_graph_nodes();
    return least == 0 ? kDefault : least;
  }
  bool IsTiny(const Graph& graph) const {
    return IsPipeline() && static_cast<int64_t>(graph.num_nodes()) < LeastNodes();
  }

  // Warns if the main graph is too small to be optimized. Says nothing about small functions, of
  // which there may be hundreds.
  void ReportTiny(const Editor& editor) const {
    if (&editor.graph() != &module_.main || !options_.sink) return;
    options_.sink(Severity::kWarning,
                  llvm::formatv("the graph has {0}, fewer than min_graph_nodes ({1}): it stays "
                                "unchanged, as in TensorFlow (min_graph_nodes: -1 optimizes it)",
                                Plural(editor.graph().num_nodes(), "node"), LeastNodes())
                      .str());
  }

  // Runs the passes over one body, and makes the changes that TensorFlow makes after the passes.
  Error RunBody(Editor* editor, OptimizeResult* result) {
    const proto::RewriterConfig& config = options_.config;
    if (IsTiny(editor->graph())) {
      ReportTiny(*editor);
      return Error::success();
    }
    // Passes that are selected by name run in one iteration only.
    int iterations =
        !IsPipeline() || config.meta_optimizer_iterations() == proto::RewriterConfig::ONE ? 1 : 2;
    int iteration = 0;
    for (; iteration < iterations && !IsTiny(editor->graph()); ++iteration) {
      for (const std::string& name : names_)
        RETURN_IF_ERROR(RunPass(name, iteration, editor, result));
    }
    bool reassigns = IsPipeline() && !names_.empty() && HasColocations(editor->graph());
    std::vector<NodeId> stale = StaleShapeAnnotations(editor->graph());
    if (!reassigns && stale.empty()) return Error::success();
    auto tidy = [&] {
      if (reassigns) ReassignColocations(*editor);
      DropStaleShapeAnnotations(*editor, stale);
      return Error::success();
    };
    return RunStage(kWholeFlow, iteration - 1, editor, tidy, result);
  }

  Error RunPass(const std::string& name, int iteration, Editor* editor, OptimizeResult* result) {
    ASSIGN_OR_RETURN(PassRegistry::Choice choice, registry_.Choose(name));
    const PassInfo& info = choice.pass->info;
    if (iteration > 0 && info.run_once) return Error::success();
    std::unique_ptr<GraphPass> pass = choice.pass->make();
    const proto::RewriterConfig& config = options_.config;
    bool compress = IsPipeline() && iteration == 0 &&
                    info.name == llvm::StringRef("model_pruner") &&
                    !config.experimental_disable_compressed_tensor_optimization();
    const char* plugin = choice.pass->plugin;
    auto run = [&]() -> Error {
      Error error = WithoutExceptions([&] { return pass->Run(*editor); });
      if (error) return *plugin ? Annotate(plugin, std::move(error)) : std::move(error);
      if (compress) CompressConstants(*editor);
      return Error::success();
    };
    return RunStage(info.name, iteration, editor, run, result, choice.rule);
  }

  // The names of the plugins that registered a pass, or some of its rules; usually "".
  std::string PluginsOf(llvm::StringRef pass) const {
    const PassRegistry::Entry* entry = registry_.Find(pass);
    if (!entry) return "";
    std::vector<std::string> files;
    auto add = [&](const char* file) {
      if (*file && !llvm::is_contained(files, file)) files.push_back(file);
    };
    add(entry->plugin);
    for (const Rule* rule : registry_.RulesOf(pass)) add(rule->plugin);
    return llvm::join(files, ", ");
  }

  // The versions of all bodies except the one that the pass runs on, by Graph::id().
  using Versions = std::map<uint64_t, uint64_t>;
  Versions OtherBodies(const Graph& graph) const {
    Versions versions = {{module_.main.id(), module_.main.version()}};
    for (const auto& function : module_.functions)
      versions[function->body.id()] = function->body.version();
    versions.erase(graph.id());
    return versions;
  }

  std::optional<Editor::Fault> FaultOf(Editor* editor, const Versions& before) const {
    editor->NoticeChanges();
    if (editor->fault()) return editor->fault();
    if (editor->IsRewriting()) return Editor::Fault{"", "", "left a rewrite open"};
    // `before` is empty for built-in passes: other threads may rewrite other bodies while they run.
    if (before.empty()) return std::nullopt;
    for (const auto& [id, version] : OtherBodies(editor->graph())) {
      auto was = before.find(id);
      if (was != before.end() && was->second != version)
        return Editor::Fault{"", "", "changed another body without its Editor" + NameOfBody(id)};
    }
    return std::nullopt;
  }

  std::string NameOfBody(uint64_t id) const {
    for (const auto& function : module_.functions) {
      if (function->body.id() == id) return (", that of function '" + function->name() + "'").str();
    }
    return ", that of the main graph";
  }

  // Returns an error for the pass's first fault. If a plugin registered the pass or rule, the error
  // names it. `before`: the versions of the other bodies before the pass.
  Error CheckNoFault(Editor* editor, const Stage& stage, const Versions& before) const {
    std::optional<Editor::Fault> found = FaultOf(editor, before);
    if (!found) return Error::success();
    const Editor::Fault& fault = *found;
    std::string text = fault.rule.empty() ? "it" : "rule '" + fault.rule + "'";
    std::string file = stage.plugins;
    for (const Rule* rule : registry_.RulesOf(stage.pass)) {
      if (fault.rule == rule->name) file = rule->plugin;
    }
    if (!fault.rule.empty() && !file.empty()) text += " of " + file;
    if (!fault.node.empty()) text += " at '" + fault.node + "'";
    text += " " + fault.what;
    if (file.empty() && !options_.registry) text += " (" + std::string(kOurBug) + ")";
    return fault.rule.empty() && !file.empty() ? MakeError("{0}: {1}", file, text)
                                               : MakeError("{0}", text);
  }

  Error RunStage(const std::string& name, int iteration, Editor* editor,
                 llvm::function_ref<Error()> run, OptimizeResult* result,
                 llvm::StringRef only_rule = "") {
    iteration += first_iteration_;
    Stage stage;
    stage.pass = name;
    if (editor->function()) stage.function = editor->function()->name().str();
    stage.iteration = iteration;
    stage.plugins = PluginsOf(name);
    for (Instrumentation* client : clients_) RETURN_IF_ERROR(client->BeforePass(stage, module_));
    editor->StartPass(name, iteration, only_rule, RulesLeftOut(name));
    int64_t changes = editor->num_changes();
    int rewrites = result->rewrites;
    Versions before;
    if (!stage.plugins.empty()) before = OtherBodies(editor->graph());
    auto began = std::chrono::steady_clock::now();
    Error error = WithoutExceptions(run);  // built-in passes do not throw, but plugins may
    if (!error) error = CheckNoFault(editor, stage, before);
    stage.time = std::chrono::steady_clock::now() - began;
    if (!error) error = editor->CheckFetches();
    stage.changed = editor->num_changes() != changes || result->rewrites != rewrites;
    stage.rewrites = result->rewrites - rewrites;
    for (Instrumentation* client : llvm::reverse(clients_)) {
      if (!error) {
        error = client->AfterPass(stage, module_);
      } else if (result == &result_) {  // a batch reports its first failure when it is done
        client->Failed(stage, module_);
      }
    }
    result->stages.push_back(stage);
    std::string where = "pass '" + name + "'";
    if (!stage.function.empty()) where += " in function '" + stage.function + "'";
    return Annotate(where, std::move(error));
  }

  static constexpr const char* kDataFunction = "_tf_data_function";

  Module& module_;
  const OptimizeOptions& options_;
  const PassRegistry& registry_;
  llvm::ArrayRef<Instrumentation*> clients_;
  int left_;
  std::vector<std::string> names_;                           // of the passes, in order
  std::map<std::string, std::vector<std::string>> without_;  // rules that do not run, by pass
  std::set<std::string> passes_left_out_;
  int first_iteration_ = 0;   // the number of the first iteration of this run of the passes
  bool has_plugins_ = false;  // whether a plugin registered some of them, or rules of them
  std::map<const Function*, std::unique_ptr<Editor>> editors_;
  std::map<const Function*, std::vector<Shape>> arguments_;  // known shapes of arguments
  OptimizeResult result_;
};

}  // namespace

void PassManager::Add(std::unique_ptr<Instrumentation> instrumentation) {
  clients_.push_back(instrumentation.get());
  owned_.push_back(std::move(instrumentation));
}

Expected<OptimizeResult> PassManager::Run(Module& module, const OptimizeOptions& options) {
  return Runner(module, options, clients_).Run();
}

}  // namespace grapnel
