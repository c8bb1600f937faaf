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
#include "lib/ir/fits_shape.h"
#include "lib/ir/verify.h"
#include "lib/support/text.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

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

// The graph of initializers of a case (recorded inputs and state of a run). It lives as long as the
// session, because iterators call its functions.
class InitGraph : public Object {
 public:
  explicit InitGraph(Model model) : model_(std::move(model)) {}
  const Graph& main() const { return model_.graphs[0].module->main; }
  std::string ToString() const override { return "initializers " + model_.path; }

 private:
  Model model_;
};

// Returns the variable of a node of the main graph; creates the variable if the session does not
// have it.
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

// The values of a checkpoint that grapnel reads itself, without the model's saver ops.
enum class Reads {
  kWhatIsLeft,  // those the saver did not restore, or restored from another key
  kAll,
};

// Returns "the checkpoint has two values of 4 variables, such as ..."; empty if no variable has
// two.
std::string AmbiguityText(const Graph& main, llvm::ArrayRef<VariableBinding::Bound> bound) {
  const VariableBinding::Bound* first = nullptr;
  size_t count = 0;
  for (const VariableBinding::Bound& one : bound) {
    if (one.rival.empty()) continue;
    if (count++ == 0) first = &one;
  }
  if (!first) return "";
  return Sentence(
      "the checkpoint has two values of {0}, such as '{1}': '{2}' is read, as tf.saved_model.load "
      "does, and '{3}' is not",
      Plural(count, "variable"), NameOfVariable(main.node(first->variable)), first->key,
      first->rival);
}

bool HasDeclaredShape(const Node& variable, const Tensor& value) {
  auto attr = variable.FindAttr("shape");
  auto shape = attr ? attr->AsShape() : std::nullopt;
  return !shape || FitsShape(Shape(value.dims()), *shape);
}

// Assigns the values of the checkpoint to variables. Sets `any` to true if the checkpoint has a
// value for any variable.
Expected<RestoredState> Bind(const GraphInFile& graph, llvm::StringRef prefix, Reads reads,
                             Session& session, bool* any) {
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
  llvm::DenseMap<NodeId, std::string> by_saver;
  for (SavedVariable& variable : VariablesOf(graph)) by_saver[variable.node] = variable.key;
  RestoredState state;
  state.ambiguous = AmbiguityText(main, binding.bound);
  for (const VariableBinding::Bound& bound : binding.bound) {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(main.node(bound.variable), session));
    const std::string& read = by_saver[bound.variable];
    bool is_read = variable->Get() && (read.empty() || read == bound.key);
    if (reads == Reads::kWhatIsLeft && is_read) continue;
    ASSIGN_OR_RETURN(Literal value, weights ? weights->Read(bound.key) : bundle->Read(bound.key));
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
    variable->Set(std::move(tensor));
  }
  for (auto& [id, reason] : binding.unbound) {
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(main.node(id), session));
    // The saver does not check the shape of the values.
    if (!variable->Get() || !HasDeclaredShape(main.node(id), variable->Get()))
      state.missing.push_back({id, std::move(reason)});
  }
  return state;
}

Expected<RestoredState> RestoreVariables(const GraphInFile& graph, llvm::StringRef prefix,
                                         Session& session, ThreadPool& pool) {
  Error error = Error::success();
  bool all = IsKerasFile(prefix);  // savers cannot read such a file
  if (!all && graph.saver && !graph.saver->restore_op.empty()) {
    error = RunOp(graph.module->main, graph.saver->restore_op,
                  {{graph.saver->filename_tensor, prefix.str()}}, session, pool);
  }
  bool failed = static_cast<bool>(error), any = false;
  auto state = Bind(graph, prefix, all || failed ? Reads::kAll : Reads::kWhatIsLeft, session, &any);
  // If the checkpoint has no value for the model, report the saver's error, which says so too and
  // is shorter than a list of all variables.
  if (failed && !(state && any)) {
    if (!state) llvm::consumeError(state.takeError());
    return Annotate("restoring the variables", std::move(error));
  }
  llvm::consumeError(std::move(error));
  return state;
}

// Returns the session's values of the variables of the object graph, by their keys in the model's
// own checkpoint. They replace what the saver writes, which may be copies of these variables made
// when the model was saved (as for a variable of Keras 3) and not updated since.
Expected<std::map<std::string, Literal>> ValuesOfObjects(const GraphInFile& graph, Bundle* model,
                                                         Session& session) {
  ASSIGN_OR_RETURN(VariableBinding binding, BindVariables(graph, model));
  std::map<std::string, Literal> values;
  for (const VariableBinding::Bound& bound : binding.bound) {
    ASSIGN_OR_RETURN(StoredVariable * variable,
                     VariableOf(graph.module->main.node(bound.variable), session));
    if (Tensor value = variable->Get()) values[bound.key] = value.ToLiteral();
  }
  return values;
}

// Copies the checkpoint that the saver wrote from `saved` to `prefix`, with `values` in place of
// those that the saver wrote under the same keys.
Error CopyWith(const std::map<std::string, Literal>& values, llvm::StringRef saved,
               llvm::StringRef prefix) {
  ASSIGN_OR_RETURN(Bundle bundle, Bundle::Open(saved));
  ASSIGN_OR_RETURN(auto writer, BundleWriter::Create(prefix));
  for (llvm::StringRef name : bundle.names()) {
    if (values.count(name.str())) continue;
    ASSIGN_OR_RETURN(Literal written, bundle.Read(name));
    RETURN_IF_ERROR(writer->Add(name, written));
  }
  for (const auto& [key, value] : values) RETURN_IF_ERROR(writer->Add(key, value));
  return writer->Finish();
}

void RemoveCheckpoint(llvm::StringRef prefix) {
  for (const char* end : {".index", ".data-00000-of-00001"}) llvm::sys::fs::remove(prefix + end);
}

// Gives variables without a value the value of the model's own checkpoint. A saver may write
// variables that no other node reads; if the session was restored from another checkpoint, such
// variables have no value yet.
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

std::string TableInitOf(const Graph& main) {
  Node node = main.Find(kTableInit);
  return node && node.op() == "NoOp" ? node.name().str() : "";
}

std::string InitOpOf(const GraphInFile& graph) {
  if (graph.whole) return InitOpOf(*graph.whole);
  for (const Signature& signature : graph.signatures) {
    if (signature.name == "__saved_model_init_op" && !signature.outputs.empty())
      return signature.outputs[0].tensor;
  }
  for (llvm::StringRef name : {"saved_model_main_op", "legacy_init_op"}) {
    for (const Collection& collection : graph.collections) {
      if (collection.name == name && !collection.values.empty()) return collection.values[0];
    }
  }
  // A plain GraphDef names no init op: look for a node with the usual name.
  bool is_graph_alone = graph.signatures.empty() && graph.collections.empty() && graph.module;
  return is_graph_alone ? TableInitOf(graph.module->main) : "";
}

Expected<RestoredState> RestoreSession(const GraphInFile& graph, llvm::StringRef variables_prefix,
                                       Session& session, ThreadPool& pool) {
  RestoredState state;
  if (graph.whole) {
    ASSIGN_OR_RETURN(state, RestoreSession(*graph.whole, variables_prefix, session, pool));
    llvm::DenseMap<NodeId, NodeId> in_part = VariablesInPart(graph);
    llvm::erase_if(state.missing, [&](const auto& one) { return !in_part.count(one.variable); });
    for (MissingVariable& one : state.missing) one.variable = in_part[one.variable];
    return state;
  }
  if (!variables_prefix.empty()) {
    ASSIGN_OR_RETURN(state, RestoreVariables(graph, variables_prefix, session, pool));
  }
  for (const InitialValue& initial : graph.initial_values) {
    Node node = graph.module->main.Find(initial.node);
    if (!node) continue;  // a pass removed it because it had no reader
    ASSIGN_OR_RETURN(StoredVariable * variable, VariableOf(node, session));
    if (variable->Get()) continue;
    ASSIGN_OR_RETURN(Tensor value, Tensor::FromLiteral(initial.value));
    variable->Set(std::move(value));
    llvm::erase_if(state.missing,
                   [&](const MissingVariable& one) { return one.variable == node.id(); });
  }
  std::string init = InitOpOf(graph);
  if (init.empty()) return state;
  std::vector<Feed> assets;
  for (const AssetFile& asset : graph.assets) assets.push_back({asset.tensor, asset.file});
  if (Error error = RunOp(graph.module->main, init, assets, session, pool))
    return Annotate("initializing the model", std::move(error));
  return state;
}

Error KeepOwnSeeds(const GraphInFile& graph, llvm::StringRef own_prefix, Session& session,
                   RestoredState* state) {
  if (state->missing.empty()) return Error::success();
  llvm::DenseSet<NodeId> seeds;
  for (const SavedVariable& variable : VariablesOfObjects(graph)) {
    llvm::StringRef name = llvm::StringRef(variable.name).rsplit('/').second;
    bool is_missing = llvm::any_of(
        state->missing, [&](const MissingVariable& one) { return one.variable == variable.node; });
    if (is_missing && name.starts_with("seed_generator_state")) seeds.insert(variable.node);
  }
  if (seeds.empty()) return Error::success();
  ASSIGN_OR_RETURN(Bundle own, Bundle::Open(own_prefix));
  ASSIGN_OR_RETURN(VariableBinding binding, BindVariables(graph, &own));
  for (const VariableBinding::Bound& bound : binding.bound) {
    if (!seeds.contains(bound.variable)) continue;
    ASSIGN_OR_RETURN(StoredVariable * variable,
                     VariableOf(graph.module->main.node(bound.variable), session));
    ASSIGN_OR_RETURN(Literal value, own.Read(bound.key));
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::FromLiteral(value));
    variable->Set(std::move(tensor));
    llvm::erase_if(state->missing,
                   [&](const MissingVariable& one) { return one.variable == bound.variable; });
  }
  return Error::success();
}

Error RestoreCase(const GraphInFile& graph, const Case& values, Session& session,
                  ThreadPool& pool) {
  for (const Case::Feed& given : values.variables) {
    Node node = graph.module->main.Find(given.tensor);
    if (!node) continue;  // a pass removed it because it had no reader
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

Error CheckHasSaver(const GraphInFile& graph) {
  if (graph.whole) return CheckHasSaver(*graph.whole);
  if (graph.saver && !graph.saver->save_tensor.empty()) return Error::success();
  return MakeError(
      "the model names no op that saves its variables (in its saver_def): a SavedModel usually "
      "names one");
}

Error SaveVariables(const GraphInFile& graph, llvm::StringRef prefix,
                    llvm::StringRef variables_prefix, Session& session, ThreadPool& pool) {
  if (graph.whole) return SaveVariables(*graph.whole, prefix, variables_prefix, session, pool);
  RETURN_IF_ERROR(CheckHasSaver(graph));
  std::optional<Bundle> model;  // opened before saving, which may overwrite its files
  if (!variables_prefix.empty()) {
    ASSIGN_OR_RETURN(model, Bundle::Open(variables_prefix));
    if (Error error = FillWithOwn(graph, variables_prefix, session, pool))
      return Annotate("saving the variables", std::move(error));
  }
  auto save = [&](llvm::StringRef to) {
    return RunOp(graph.module->main, graph.saver->save_tensor,
                 {{graph.saver->filename_tensor, to.str()}}, session, pool);
  };
  Error error = Error::success();
  if (model && !graph.object_graph.empty()) {
    auto values = ValuesOfObjects(graph, &*model, session);
    if (!values) return Annotate("saving the variables", values.takeError());
    const std::string by_saver = (prefix + ".saver").str();
    auto remove = llvm::make_scope_exit([&] { RemoveCheckpoint(by_saver); });
    error = save(by_saver);
    if (!error) error = CopyWith(*values, by_saver, prefix);
  } else {
    error = save(prefix);
  }
  return error ? Annotate("saving the variables", std::move(error)) : Error::success();
}

}  // namespace grapnel
