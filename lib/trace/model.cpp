#include "lib/trace/model.h"

#include "lib/ir/attr.h"
#include "lib/ir/node_types.h"
#include "lib/support/suggest.h"
#include "lib/trace/body.h"
#include "lib/trace/ops.h"
#include "lib/trace/traced_variables.h"

namespace grapnel {
namespace {

// While an object of this class lives, the body of a new function is the current one.
class FunctionGuard {
 public:
  FunctionGuard(TraceState& state, llvm::StringRef function)
      : state_(state), body_(state.Enter(function)) {
    body_->scope.clear();
  }
  ~FunctionGuard() { state_.Leave(); }
  FunctionGuard(const FunctionGuard&) = delete;
  TraceBody& body() { return *body_; }

 private:
  TraceState& state_;
  TraceBody* body_;
};

// The properties of a library function that its calls need.
struct MadeFunction {
  bool ok = false;
  Values captures;  // values of the main graph
  std::vector<DataType> dtypes;
  std::vector<Shape> shapes;
};

MadeFunction MakeFunction(TraceState& state, llvm::StringRef name,
                          llvm::ArrayRef<TensorSpec> inputs,
                          llvm::function_ref<Values(llvm::ArrayRef<Value>)> fn,
                          const SourceLocation& where) {
  MadeFunction made;
  FunctionGuard guard(state, name);
  TraceBody& body = guard.body();
  std::vector<NodeId> args, ends;
  Values values;
  for (const TensorSpec& input : inputs) {
    args.push_back(
        body.AddPlaceholder(input.dtype, input.shape, input.name, /*keep_name=*/true, where));
    values.push_back(body.ValueOf(args.back()));
  }
  Values results = fn(values);
  NameOtherReads(state);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].body() && state.errors.empty())
      state.Report(where, llvm::formatv("result {0} is a Value that was never made", i).str());
    if (!results[i].ok()) return made;
    const SourceLocation line = results[i].body()->LineOf(results[i].port().node);
    Value end = Identity(results[i], {}, line);
    if (!end.ok()) return made;
    ends.push_back(end.port().node);
    made.dtypes.push_back(end.dtype());
    made.shapes.push_back(end.shape());
  }
  AddAutomaticControls(body, ends);
  std::vector<Port> ports;
  ports.reserve(ends.size());
  for (NodeId end : ends) ports.push_back({end, 0});
  for (const auto& captured : body.captures) {
    args.push_back(captured.placeholder);
    made.captures.push_back(captured.outer);
  }
  FinishFunction(body, args, ports);
  made.ok = state.errors.empty();
  return made;
}

// "__inference_train_step_12", tf.function's name for a traced function.
std::string LibraryName(TraceState& state, llvm::StringRef name) {
  std::string full = ("__inference_" + name + "_" + llvm::Twine(state.uid++)).str();
  std::replace(full.begin(), full.end(), '/', '_');
  return full;
}

bool HasStatefulOps(const Function& function) {
  for (Node node : function.body.nodes()) {
    const OpInfo* info = DefinitionOf(node);
    if (info && info->is_stateful) return true;
  }
  return false;
}

}  // namespace

Values CallFunction(Tracer& t, llvm::StringRef name, const Values& values, SourceLocation where) {
  TraceState& state = t.state();
  const Function* function = state.module->FindFunction(name);
  if (!function) {
    std::vector<std::string> names;
    for (const auto& one : state.module->functions) names.push_back(one->name().str());
    state.Report(where, ("there is no function '" + name + "'" + DidYouMean(name, names)).str());
    return {};
  }
  if (function->args.size() != values.size()) {
    state.Report(where, llvm::formatv("function '{0}' takes {1} values, {2} were given", name,
                                      function->args.size(), values.size())
                            .str());
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].ok()) return {};
    DataType wanted = function->body.node(function->args[i]).GetType("T");
    if (values[i].dtype() == wanted) continue;
    state.Report(
        where,
        llvm::formatv("function '{0}': argument {1} ('{2}') is {3}, but the value '{4}' is {5}",
                      name, i, function->body.node(function->args[i]).name(), DataTypeName(wanted),
                      values[i].name(), DataTypeName(values[i].dtype()))
            .str());
    return {};
  }
  std::vector<int64_t> read_only;
  std::vector<bool> only_read = OnlyRead(function->body, function->args);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].dtype() == proto::DT_RESOURCE && only_read[i])
      read_only.push_back(static_cast<int64_t>(i));
  }
  std::vector<DataType> results;
  for (const Function::Result& result : function->results)
    results.push_back(function->body.node(result.node).GetType("T"));
  Operand operands[] = {Operand(values, where)};
  Operation call =
      MakeOp(state,
             {HasStatefulOps(*function) ? "StatefulPartitionedCall" : "PartitionedCall",
              operands,
              {{"Tout", results},
               {"_read_only_resource_inputs", read_only},
               OpAttribute::Serialized("f", attr::Func(name))},
              {}},
             where);
  Values outputs;
  for (int i = 0; i < static_cast<int>(results.size()); ++i) outputs.push_back(call.output(i));
  return outputs;
}

ModelBuilder::ModelBuilder() : tracer_(std::make_unique<Tracer>()) {}

ModelBuilder::ModelBuilder(std::unique_ptr<Module> module, SourceLocation where)
    : tracer_(std::make_unique<Tracer>(std::move(module), where)) {}

ModelBuilder::~ModelBuilder() = default;

void ModelBuilder::AddFunction(llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
                               llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn,
                               llvm::ArrayRef<std::string> outputs, SourceLocation where) {
  TraceState& state = tracer_->state();
  for (const ModelFunction& function : functions_) {
    if (function.name == name)
      return state.Report(where, ("model: function '" + name + "' already exists").str());
  }
  if (!state.variables) state.variables = std::make_shared<TracedVariables>();
  ++state.variables->epoch;
  std::string before = state.name;
  state.name = name.str();
  ModelFunction made;
  made.name = name.str();
  made.function = LibraryName(state, name);
  size_t errors = state.errors.size();
  MadeFunction inner = MakeFunction(
      state, made.function, inputs, [&](llvm::ArrayRef<Value> args) { return fn(*tracer_, args); },
      where);
  // Puts the function's name before each of its errors.
  for (size_t i = errors; i < state.errors.size(); ++i)
    state.errors[i] = (name + ": " + state.errors[i]).str();
  state.name = before;
  if (!inner.ok) return;
  if (!outputs.empty() && outputs.size() != inner.dtypes.size()) {
    return state.Report(where,
                        llvm::formatv("model: function '{0}' returns {1} values, {2} names were "
                                      "given for them",
                                      name, inner.dtypes.size(), outputs.size())
                            .str());
  }
  made.wrapper = LibraryName(state, ("signature_wrapper_" + name).str());
  MadeFunction wrapper = MakeFunction(
      state, made.wrapper, inputs,
      [&](llvm::ArrayRef<Value> args) {
        Values all(args.begin(), args.end());
        llvm::append_range(all, inner.captures);
        return CallFunction(*tracer_, made.function, all, where);
      },
      where);
  if (!wrapper.ok) return;
  Values call;
  for (const TensorSpec& input : inputs) {
    Value value =
        tracer_->Placeholder(input.dtype, input.shape, made.name + "_" + input.name, where);
    call.push_back(value);
    made.inputs.push_back({input.name, value.name(), input.dtype, input.shape});
  }
  llvm::append_range(call, wrapper.captures);
  for (const Value& capture : inner.captures)
    made.captures.push_back(capture.body()->graph->node(capture.port().node).name().str());
  Values results = CallFunction(*tracer_, made.wrapper, call, where);
  for (size_t i = 0; i < results.size(); ++i) {
    made.outputs.push_back({outputs.empty() ? "output_" + std::to_string(i) : outputs[i],
                            results[i].name(), inner.dtypes[i], inner.shapes[i]});
  }
  functions_.push_back(std::move(made));
}

Expected<TracedModel> ModelBuilder::Finish() {
  TracedModel model;
  TraceState& state = tracer_->state();
  if (!state.variables) state.variables = std::make_shared<TracedVariables>();
  state.variables->is_model = true;
  ASSIGN_OR_RETURN(model.module, tracer_->Finish());
  model.variables = VariableInfosOf(*tracer_);
  model.functions = std::move(functions_);
  return model;
}

Expected<TracedModel> TraceWithVariables(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, SourceLocation where) {
  TracedModel model;
  ModelFunction function;
  function.name = name.str();
  NodeId traced = 0;
  auto call = [&](Tracer& t, llvm::ArrayRef<Value> args) {
    for (size_t i = 0; i < args.size(); ++i)
      function.inputs.push_back({inputs[i].name, args[i].name(), inputs[i].dtype, inputs[i].shape});
    Values results = fn(t, args);
    for (const Value& result : results)
      function.outputs.push_back({"", "", result.dtype(), result.shape()});
    model.variables = VariableInfosOf(t);
    traced = t.module().main.end_id();
    return results;
  };
  ASSIGN_OR_RETURN(model.module, TraceFunction(name, inputs, call, where));
  // Right after the function's nodes, Finish makes an Identity for each result.
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    function.outputs[i].key = "output_" + std::to_string(i);
    function.outputs[i].tensor = model.module->main.node(traced + i).name().str();
  }
  model.functions.push_back(std::move(function));
  return model;
}

}  // namespace grapnel
