#include "lib/exec/saved_state.h"

#include <map>
#include <memory>
#include <optional>

#include "lib/exec/executor.h"
#include "lib/io/bundle_writer.h"
#include "lib/io/keras_weights.h"
#include "lib/io/saved_variables.h"
#include "lib/io/value.h"
#include "lib/io/variable_binding.h"
#include "lib/ir/verify.h"

namespace grapnel {
namespace {

struct Feed {
  std::string tensor, text;
};

Error RunOp(const Graph& graph, llvm::StringRef fetch, llvm::ArrayRef<Feed> feeds, Session& session,
            ThreadPool& pool) {
  ExecutorOptions options;
  options.pool = &pool;
  options.session = &session;
  options.fetches = {fetch.str()};
  std::vector<Tensor> values;
  for (const Feed& feed : feeds) {
    ASSIGN_OR_RETURN(Tensor value, Tensor::Allocate(proto::DT_STRING, {}));
    *value.data<std::string>() = feed.text;
    values.push_back(std::move(value));
    options.feeds.push_back(feed.tensor);
  }
  ASSIGN_OR_RETURN(auto executor, Executor::Compile(graph, options));
  return executor->Run(std::move(values)).takeError();
}

// A case's graph of initialisers stays as long as the session: iterators call its functions.
class InitGraph : public Object {
 public:
  explicit InitGraph(Model model) : model_(std::move(model)) {}
  const Graph& main() const { return model_.graphs[0].module->main; }
  std::string ToString() const override { return "initialisers " + model_.path; }

 private:
  Model model_;
};

// The variable of a node of the main graph, made where the session has none.
Expected<StoredVariable*> VariableOf(const Node& node, Session& session) {
  std::string name = NameOfVariable(node);
  DataType dtype = node.GetType("dtype");
  std::optional<AttrView> shape = node.Attr("shape");
  ObjectRef object = session.FindOrMake(node.GetString("container"), name, [&] {
    return ObjectRef(
        new StoredVariable(name, dtype, shape ? shape->AsShape().value_or(Shape()) : Shape()));
  });
  auto* variable = dynamic_cast<StoredVariable*>(object.get());
  if (!variable)
    return MakeError("'{0}' is {1}, a variable was expected", name, object->ToString());
  return variable;  // the session keeps it
}

// Gives the variables values of the checkpoint; with `all`, those that have one already too. `any`:
// whether it has one for any.
Expected<std::vector<MissingVariable>> Bind(const GraphInFile& graph, llvm::StringRef prefix,
                                            bool all, Session& session, bool* any) {
  std::optional<KerasWeights> weights;
  std::optional<Bundle> bundle;
  VariableBinding binding;
  if (IsKerasFile(prefix)) {
    ASSIGN_OR_RETURN(weights, KerasWeights::Open(prefix));
    ASSIGN_OR_RETURN(binding, weights->Bind(graph));
  } else {
    ASSIGN_OR_RETURN(bundle, Bundle::Open(prefix));
    ASSIGN_OR_RETURN(binding, BindVariables(graph, &*bundle));
  }
  *any = binding.is_of_model;
  const Graph& main = graph.module->main;
  for (const auto& [id, key] : binding.bound) {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(main.node(id), session));
    if (!all && variable->Get()) continue;
    ASSIGN_OR_RETURN(Literal value, weights ? weights->Read(key) : bundle->Read(key));
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
    variable->Set(std::move(tensor));
  }
  std::vector<MissingVariable> missing;
  for (auto& [id, reason] : binding.unbound) {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(main.node(id), session));
    if (!variable->Get()) missing.push_back({id, std::move(reason)});
  }
  return missing;
}

Expected<std::vector<MissingVariable>> RestoreVariables(const GraphInFile& graph,
                                                        llvm::StringRef prefix, Session& session,
                                                        ThreadPool& pool) {
  Error error = Error::success();
  bool all = IsKerasFile(prefix);  // which no saver reads
  if (!all && graph.saver && !graph.saver->restore_op.empty()) {
    error = RunOp(graph.module->main, graph.saver->restore_op,
                  {{graph.saver->filename_tensor, prefix.str()}}, session, pool);
  }
  bool failed = static_cast<bool>(error), any = false;
  auto missing = Bind(graph, prefix, all || failed, session, &any);
  // Of a checkpoint that holds nothing of the model, what the saver says is as true, and shorter.
  if (failed && !(missing && any)) {
    if (!missing) llvm::consumeError(missing.takeError());
    return Annotate("restoring the variables", std::move(error));
  }
  llvm::consumeError(std::move(error));
  return missing;
}

bool IsSame(const Literal& a, const Literal& b) {
  if (a.dtype() != b.dtype() ||
      llvm::ArrayRef<int64_t>(a.dims()) != llvm::ArrayRef<int64_t>(b.dims()))
    return false;
  return a.dtype() == proto::DT_STRING ? a.strings() == b.strings() : a.bytes() == b.bytes();
}

// In the checkpoint `prefix`, which the saver wrote, the variables of objects get the values of
// now: a saver may write copies of them that it made when the model was saved (as for a Keras model
// that a tf.Module holds), and nobody has updated those since. `model` is the checkpoint that the
// model came with, which knows where they belong.
Error WriteObjects(const GraphInFile& graph, llvm::StringRef prefix, Bundle* model,
                   Session& session) {
  ASSIGN_OR_RETURN(VariableBinding binding, BindVariables(graph, model));
  ASSIGN_OR_RETURN(Bundle saved, Bundle::Open(prefix));
  std::map<std::string, Literal> now;
  bool differs = false;
  for (const auto& [id, key] : binding.bound) {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(graph.module->main.node(id), session));
    Tensor value = variable->Get();
    if (!value) continue;
    Literal literal = value.ToLiteral();
    if (saved.Has(key)) {
      ASSIGN_OR_RETURN(Literal written, saved.Read(key));
      differs |= !IsSame(written, literal);
    } else {
      differs = true;
    }
    now[key] = std::move(literal);
  }
  if (!differs) return Error::success();
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(prefix));
  for (llvm::StringRef name : saved.names()) {
    auto value = now.find(name.str());
    if (value != now.end()) continue;
    ASSIGN_OR_RETURN(Literal written, saved.Read(name));
    RETURN_IF_ERROR(writer->Add(name, written));
  }
  for (const auto& [key, value] : now) RETURN_IF_ERROR(writer->Add(key, value));
  return writer->Finish();
}

// A saver may write variables that nothing else reads: where the session began from another
// checkpoint, those have no value yet, and get the model's own.
Error FillWithOwn(const GraphInFile& graph, llvm::StringRef variables_prefix, Session& session,
                  ThreadPool& pool) {
  std::vector<std::pair<Node, StoredVariable*>> empty;
  for (const SavedVariable& saved : VariablesOf(graph)) {
    Node node = graph.module->main.node(saved.node);
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(node, session));
    if (!variable->Get()) empty.emplace_back(node, variable);
  }
  if (empty.empty() || graph.saver->restore_op.empty()) return Error::success();
  Session own;
  RETURN_IF_ERROR(RunOp(graph.module->main, graph.saver->restore_op,
                        {{graph.saver->filename_tensor, variables_prefix.str()}}, own, pool));
  for (auto& [node, variable] : empty) {
    ASSIGN_OR_RETURN(StoredVariable * restored, VariableOf(node, own));
    if (Tensor value = restored->Get()) variable->Set(std::move(value));
  }
  return Error::success();
}

}  // namespace

std::string InitOpOf(const GraphInFile& graph) {
  for (const Signature& signature : graph.signatures) {
    if (signature.name == "__saved_model_init_op" && !signature.outputs.empty())
      return signature.outputs[0].tensor;
  }
  for (llvm::StringRef name : {"saved_model_main_op", "legacy_init_op"}) {
    for (const Collection& collection : graph.collections) {
      if (collection.name == name && !collection.values.empty()) return collection.values[0];
    }
  }
  return "";
}

Expected<std::vector<MissingVariable>> RestoreSession(const GraphInFile& graph,
                                                      llvm::StringRef variables_prefix,
                                                      Session& session, ThreadPool& pool) {
  std::vector<MissingVariable> missing;
  if (!variables_prefix.empty()) {
    ASSIGN_OR_RETURN(missing, RestoreVariables(graph, variables_prefix, session, pool));
  }
  for (const InitialValue& initial : graph.initial_values) {
    Node node = graph.module->main.Find(initial.node);
    if (!node) continue;  // a pass found that nobody needs it
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(node, session));
    if (variable->Get()) continue;
    ASSIGN_OR_RETURN(Tensor value, Tensor::FromLiteral(initial.value));
    variable->Set(std::move(value));
    llvm::erase_if(missing, [&](const MissingVariable& one) { return one.variable == node.id(); });
  }
  std::string init = InitOpOf(graph);
  if (init.empty()) return missing;
  std::vector<Feed> assets;
  for (const AssetFile& asset : graph.assets) assets.push_back({asset.tensor, asset.file});
  if (Error error = RunOp(graph.module->main, init, assets, session, pool))
    return Annotate("initialising the model", std::move(error));
  return missing;
}

Error RestoreCase(const GraphInFile& graph, const Case& values, Session& session,
                  ThreadPool& pool) {
  for (const Case::Feed& given : values.variables) {
    Node node = graph.module->main.Find(given.tensor);
    if (!node) continue;  // a pass found that nobody needs it
    ASSIGN_OR_RETURN(Literal value, LoadNpyLiteral(given.file, node.GetType("dtype")));
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(node, session));
    variable->Set(std::move(tensor));
  }
  if (values.init_graph.empty()) return Error::success();
  ASSIGN_OR_RETURN(Model opened, OpenModel(values.init_graph));
  auto init = std::make_unique<InitGraph>(std::move(opened));
  const Graph& main = init->main();
  for (const Problem& problem : VerifyModule(main.module())) {
    if (problem.severity == Severity::kError)
      return MakeError("{0}: {1}", values.init_graph, problem.ToString());
  }
  session.FindOrMake("", values.init_graph, [&] { return ObjectRef(init.release()); });
  if (Error error = RunOp(main, kInitNode, {}, session, pool))
    return Annotate(values.init_graph, std::move(error));
  return Error::success();
}

Error DemandSaver(const GraphInFile& graph) {
  if (graph.saver && !graph.saver->save_tensor.empty()) return Error::success();
  return MakeError("the model has no ops that save its variables: a SavedModel has them");
}

Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix,
                    llvm::StringRef variables_prefix, Session& session, ThreadPool& pool) {
  RETURN_IF_ERROR(DemandSaver(graph));
  std::optional<Bundle> model;  // opened first: it may be what is written
  if (!variables_prefix.empty()) {
    ASSIGN_OR_RETURN(model, Bundle::Open(variables_prefix));
    if (Error error = FillWithOwn(graph, variables_prefix, session, pool))
      return Annotate("saving the variables", std::move(error));
  }
  Error error = RunOp(graph.module->main, graph.saver->save_tensor,
                      {{graph.saver->filename_tensor, prefix.str()}}, session, pool);
  if (!error && model && !graph.object_graph.empty())
    error = WriteObjects(graph, prefix, &*model, session);
  return error ? Annotate("saving the variables", std::move(error)) : Error::success();
}

}  // namespace grapnel
