#include "lib/pass/pass_manager.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The node of "x", "x:0" or "^x".
llvm::StringRef NodeName(llvm::StringRef tensor) {
  tensor.consume_front("^");
  auto [name, port] = tensor.rsplit(':');
  unsigned number;
  return !port.empty() && !port.getAsInteger(10, number) ? name : tensor;
}

Expected<NodeId> FindNode(const Graph& graph, llvm::StringRef tensor, const char* what) {
  llvm::StringRef name = NodeName(tensor);
  Node node = graph.Find(name);
  if (!node) node = graph.Find(tensor);
  if (node) return node.id();
  std::string nearest;
  unsigned best = std::max<unsigned>(3, name.size() / 3);
  for (Node other : graph.nodes()) {
    unsigned distance = name.edit_distance(other.name(), true, best);
    if (distance < best) {
      best = distance;
      nearest = other.name().str();
    }
  }
  std::string hint = nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
  return MakeError("{0} '{1}': there is no node '{2}'{3}", what, tensor, name, hint);
}

// A v1 or v2 graph that says nothing of its results has them where nobody reads on.
std::vector<std::string> Sinks(const Graph& graph) {
  std::vector<std::string> sinks;
  for (Node node : graph.nodes()) {
    if (node.uses().empty() && node.op() != "NoOp" && node.op() != "Const")
      sinks.push_back(node.name().str());
  }
  return sinks;
}

bool IsPlaceholder(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "Placeholder" || op == "PlaceholderV2" || op == "PlaceholderWithDefault" ||
         op == "_Arg";
}

bool IsOn(const PassInfo& info, const proto::RewriterConfig& config) {
  if (llvm::StringRef(info.toggle).empty()) return info.default_on;
  const auto* field = proto::RewriterConfig::descriptor()->FindFieldByName(info.toggle);
  if (!field) return info.default_on;
  // Two fields that are no Toggle.
  if (field->name() == "auto_parallel") return config.auto_parallel().enable();
  if (field->name() == "memory_optimization")
    return config.memory_optimization() != proto::RewriterConfig::NO_MEM_OPT;
  const auto* reflection = config.GetReflection();
  if (field->type() == google::protobuf::FieldDescriptor::TYPE_BOOL) {
    return !reflection->GetBool(config, field);  // disable_...
  }
  switch (reflection->GetEnumValue(config, field)) {
    case proto::RewriterConfig::DEFAULT:
      return info.default_on;
    case proto::RewriterConfig::ON:
    case proto::RewriterConfig::AGGRESSIVE:
      return true;
    default:
      return false;
  }
}

// One run over one module.
class Runner {
 public:
  Runner(Module& module, const OptimizeOptions& options,
         llvm::ArrayRef<std::unique_ptr<Instrumentation>> clients)
      : module_(module), options_(options), clients_(clients), left_(options.limit) {}

  Expected<OptimizeResult> Run() {
    ASSIGN_OR_RETURN(Boundary boundary, MakeBoundary());
    Editor editor(module_.main, nullptr, std::move(boundary), options_.config, options_.evaluator);
    editor.set_counter(&result_.rewrites);
    if (options_.limit >= 0) editor.set_limit(&left_);
    if (options_.on_refusal) editor.set_on_refusal(options_.on_refusal);
    if (!clients_.empty()) {
      editor.set_on_rewrite([this](const Rewrite& rewrite) {
        for (const auto& client : clients_) client->OnRewrite(rewrite);
      });
    }
    for (const auto& client : clients_) RETURN_IF_ERROR(client->BeforePipeline(module_));
    RETURN_IF_ERROR(RunPasses(&editor));
    for (const auto& client : llvm::reverse(clients_))
      RETURN_IF_ERROR(client->AfterPipeline(module_));
    return std::move(result_);
  }

 private:
  Expected<Boundary> MakeBoundary() {
    Boundary boundary;
    Graph& graph = module_.main;
    result_.fetches = options_.fetches;
    if (result_.fetches.empty()) result_.fetches = Sinks(graph);
    for (const std::string& fetch : result_.fetches) {
      ASSIGN_OR_RETURN(NodeId id, FindNode(graph, fetch, "fetch"));
      boundary.fetched.insert(id);
    }
    for (const std::string& feed : options_.feeds) {
      ASSIGN_OR_RETURN(NodeId id, FindNode(graph, feed, "feed"));
      boundary.fed.insert(id);
    }
    for (Node node : graph.nodes()) {
      if (IsPlaceholder(node)) boundary.fed.insert(node.id());
      if (node.op() == "_Retval") boundary.kept.insert(node.id());
    }
    return boundary;
  }

  Expected<std::vector<std::string>> PassNames() const {
    if (!options_.passes.empty()) return options_.passes;
    std::vector<std::string> names;
    if (options_.config.optimizers_size() > 0) {
      // Names that it does not know TensorFlow passes over in silence; a person wants to hear of
      // them.
      for (const std::string& name : options_.config.optimizers()) {
        if (PassRegistry::Get().Find(name)) {
          names.push_back(name);
        } else if (options_.sink) {
          options_.sink(Severity::kWarning, "the RewriterConfig asks for optimizer '" + name +
                                                "', which is none of ours: passed over");
        }
      }
      return names;
    }
    for (const PassRegistry::Entry* entry : PassRegistry::Get().Passes()) {
      if (entry->info.order > 0 && IsOn(entry->info, options_.config))
        names.push_back(entry->info.name);
    }
    return names;
  }

  Error RunPasses(Editor* editor) {
    const proto::RewriterConfig& config = options_.config;
    if (config.disable_meta_optimizer() && options_.passes.empty()) return Error::success();
    ASSIGN_OR_RETURN(std::vector<std::string> names, PassNames());
    // Asked for by name, a pass runs once, wherever it stands.
    int iterations =
        !options_.passes.empty() || config.meta_optimizer_iterations() == proto::RewriterConfig::ONE
            ? 1
            : 2;
    int64_t least = config.min_graph_nodes() == 0 ? 4 : config.min_graph_nodes();
    for (int iteration = 0; iteration < iterations; ++iteration) {
      if (options_.passes.empty() && static_cast<int64_t>(module_.main.num_nodes()) < least) break;
      for (const std::string& name : names) {
        const PassRegistry::Entry* entry = PassRegistry::Get().Find(name);
        if (iteration > 0 && entry && entry->info.run_once) continue;
        RETURN_IF_ERROR(RunPass(entry ? entry->info.name : name, iteration, editor));
      }
    }
    return Error::success();
  }

  Error RunPass(const std::string& name, int iteration, Editor* editor) {
    ASSIGN_OR_RETURN(auto pass, PassRegistry::Get().Make(name));
    Stage stage;
    stage.pass = name;
    stage.iteration = iteration;
    for (const auto& client : clients_) RETURN_IF_ERROR(client->BeforePass(stage, module_));
    editor->StartPass(name, iteration);
    int64_t changes = editor->num_changes();
    int rewrites = result_.rewrites;
    auto began = std::chrono::steady_clock::now();
    Error error = pass->Run(*editor);
    stage.time = std::chrono::steady_clock::now() - began;
    stage.changed = editor->num_changes() != changes;
    stage.rewrites = result_.rewrites - rewrites;
    for (const auto& client : llvm::reverse(clients_)) {
      if (error) {
        client->Failed(stage, module_);
      } else {
        error = client->AfterPass(stage, module_);
      }
    }
    result_.stages.push_back(stage);
    return Annotate(llvm::Twine("pass '") + name + "'", std::move(error));
  }

  Module& module_;
  const OptimizeOptions& options_;
  llvm::ArrayRef<std::unique_ptr<Instrumentation>> clients_;
  int left_;
  OptimizeResult result_;
};

}  // namespace

void PassManager::Add(std::unique_ptr<Instrumentation> instrumentation) {
  instrumentations_.push_back(std::move(instrumentation));
}

Expected<OptimizeResult> PassManager::Run(Module& module, const OptimizeOptions& options) {
  return Runner(module, options, instrumentations_).Run();
}

}  // namespace grapnel
