#include "lib/job/program.h"

#include <map>

#include "lib/exec/saved_state.h"
#include "lib/io/signature.h"
#include "lib/ir/find.h"
#include "lib/ir/fits_shape.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/opened_graph.h"
#include "lib/job/optimize.h"
#include "lib/job/run.h"
#include "lib/job/save_model.h"
#include "lib/job/session_values.h"
#include "lib/pass/boundary.h"
#include "lib/shape/inference.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

ModelFunction CallableOf(const Signature& signature) {
  ModelFunction function;
  function.name = signature.name;
  for (const SignatureTensor& input : signature.inputs)
    function.inputs.push_back({input.key, input.tensor, input.dtype, input.shape});
  for (const SignatureTensor& output : signature.outputs)
    function.outputs.push_back({output.key, output.tensor, output.dtype, output.shape});
  return function;
}

ModelFunction::End EndOf(const Graph& graph, const ShapeMap& shapes, const std::string& tensor) {
  ModelFunction::End end{tensor, tensor, proto::DT_INVALID, Shape::Unknown()};
  if (std::optional<Port> port = FindTensorIfThere(graph, tensor)) {
    end.dtype = BaseType(shapes.TypeOf(*port));
    end.shape = shapes.OfPort(*port);
  }
  return end;
}

}  // namespace

struct Program::Impl {
  explicit Impl(const ProgramOptions& options) : options(options), pool(options.threads) {}

  ProgramOptions options;
  ThreadPool pool;
  Session session;
  TracedModel model;                    // `module` is null if loaded from a file
  std::unique_ptr<OpenedGraph> opened;  // if loaded from a file
  std::unique_ptr<Module> run;          // if set: the optimized copy
  struct Plan {
    std::unique_ptr<Module> placed;  // null: not placed
    std::unique_ptr<PlacerSetup> setup;
    RunPlan run;
  };
  std::map<std::vector<std::string>, Plan> plans;

  const Module& module() const { return opened ? opened->module() : *model.module; }

  const ModelFunction* Find(llvm::StringRef name) const {
    for (const ModelFunction& function : model.functions) {
      if (function.name == name) return &function;
    }
    return nullptr;
  }

  // Optimizes once for all functions: the passes keep the inputs and outputs of all functions.
  Error Optimize() {
    OptimizeRequest request;
    request.options.pool = &pool;
    request.onednn = options.onednn;
    for (const ModelFunction& function : model.functions) {
      for (const auto& input : function.inputs)
        request.feeds.push_back({input.tensor, "", Tensor()});
      for (const auto& output : function.outputs) request.options.fetches.push_back(output.tensor);
    }
    auto copy = std::make_shared<Model>();
    copy->path = opened ? opened->model().path : "model";
    copy->graphs.emplace_back();
    copy->graphs[0].module = module().Copy();
    OpenedGraph graph(copy, 0);
    ASSIGN_OR_RETURN(Optimized done, grapnel::Optimize(graph, request));
    RETURN_IF_ERROR(done.AsError());
    run = graph.module().Copy();
    return Error::success();
  }

  Expected<RunPlan*> PlanFor(const std::vector<std::string>& feeds,
                             const std::vector<std::string>& fetches) {
    std::vector<std::string> key = feeds;
    key.push_back("");
    key.insert(key.end(), fetches.begin(), fetches.end());
    if (auto known = plans.find(key); known != plans.end()) return &known->second.run;
    if (options.optimize && !run) RETURN_IF_ERROR(Optimize());
    ExecutorOptions compile;
    compile.feeds = feeds;
    compile.fetches = fetches;
    compile.pool = &pool;
    compile.session = &session;
    compile.print = options.print;
    compile.hook = options.hook;
    const Module& from = run ? *run : module();
    Plan plan;
    if (options.devices.empty()) {
      ASSIGN_OR_RETURN(plan.run, RunPlan::Compile(from.main, compile));
    } else {
      RunRequest request;
      request.devices = options.devices;
      request.words.placer.devices = "devices";
      plan.placed = from.Copy();
      ASSIGN_OR_RETURN(plan.setup, PlaceForRun(*plan.placed, request, compile));
      ASSIGN_OR_RETURN(plan.run, RunPlan::CompilePlaced(*plan.placed, *plan.setup, compile));
    }
    return &plans.emplace(std::move(key), std::move(plan)).first->second.run;
  }

  Error Check(const ModelFunction& function, const std::vector<Tensor>& inputs) const {
    if (inputs.size() != function.inputs.size()) {
      std::vector<std::string> keys;
      for (const auto& input : function.inputs) keys.push_back(input.key);
      return MakeError("function '{0}' takes {1} ({2}), but {3} are given", function.name,
                       Plural(function.inputs.size(), "value"), llvm::join(keys, ", "),
                       inputs.size());
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto& wanted = function.inputs[i];
      Shape shape(inputs[i].dims());
      bool fits = wanted.dtype == proto::DT_INVALID ||
                  (inputs[i].dtype() == wanted.dtype && FitsShape(shape, wanted.shape));
      if (!fits) {
        return MakeError("function '{0}': argument '{1}' is {2}, but {3} is given", function.name,
                         wanted.key, TypeAndShape(wanted.dtype, wanted.shape),
                         inputs[i] ? TypeAndShape(inputs[i].dtype(), shape) : "no tensor");
      }
    }
    return Error::success();
  }

  // For a graph without signatures: adds its only function, "".
  Error AddWhole() {
    ASSIGN_OR_RETURN(FeedsAndFetches ends, FeedsAndFetchesOf(*opened, {}, {}));
    if (ends.fetches.empty()) ends.fetches = DefaultFetches(opened->module().main);
    ShapeMap shapes = InferShapes(opened->module().main);
    ModelFunction whole;
    if (ends.feeds.empty()) ends.feeds = DefaultFeeds(opened->module().main);
    for (const std::string& feed : ends.feeds)
      whole.inputs.push_back(EndOf(opened->module().main, shapes, feed));
    for (const std::string& fetch : ends.fetches) {
      if (!ReadTensorName(fetch).control)  // a control output of a function's graph has no value
        whole.outputs.push_back(EndOf(opened->module().main, shapes, fetch));
    }
    model.functions.push_back(std::move(whole));
    return Error::success();
  }

  const VariableInfo* FindVariable(llvm::StringRef name) const {
    for (const VariableInfo& variable : model.variables) {
      if (variable.name == name) return &variable;
    }
    return nullptr;
  }

  Error NoVariable(llvm::StringRef name) const {
    std::vector<std::string> names;
    for (const VariableInfo& variable : model.variables) names.push_back(variable.name);
    return NotFound("variable", name, names, "");
  }
};

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Expected<Program> Program::Make(TracedModel model, const ProgramOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  impl->model = std::move(model);
  RETURN_IF_ERROR(SetInitialValues(impl->session, impl->model.variables));
  return Program(std::move(impl));
}

Expected<Program> Program::Load(llvm::StringRef path, const ProgramOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  ASSIGN_OR_RETURN(OpenedGraph opened, OpenedGraph::Open(path, options.title));
  impl->opened = std::make_unique<OpenedGraph>(std::move(opened));
  const GraphInFile& file = impl->opened->file();
  RETURN_IF_ERROR(CheckValid(*impl->opened, [](Severity, llvm::StringRef) {}));
  auto restored =
      RestoreSession(file, impl->opened->model().variables_prefix, impl->session, impl->pool);
  if (!restored) return Annotate(path, restored.takeError());
  if (const auto& values = impl->opened->model().case_info)
    RETURN_IF_ERROR(RestoreCase(file, *values, impl->session, impl->pool));
  for (const Signature& signature : file.signatures) {
    if (!IsInternal(signature)) impl->model.functions.push_back(CallableOf(signature));
  }
  if (impl->model.functions.empty()) RETURN_IF_ERROR(impl->AddWhole());
  impl->model.variables = VariablesOfGraph(impl->opened->module().main);
  return Program(std::move(impl));
}

const std::vector<ModelFunction>& Program::functions() const { return impl_->model.functions; }
const std::vector<VariableInfo>& Program::variables() const { return impl_->model.variables; }
Session& Program::session() { return impl_->session; }

Expected<std::vector<Tensor>> Program::Call(llvm::StringRef name, std::vector<Tensor> inputs) {
  const ModelFunction* function = impl_->Find(name);
  if (!function) {
    std::vector<std::string> names;
    for (const ModelFunction& one : impl_->model.functions) names.push_back(one.name);
    return NotFound("function", name, names, "");
  }
  RETURN_IF_ERROR(impl_->Check(*function, inputs));
  std::vector<std::string> feeds, fetches;
  for (const auto& input : function->inputs) feeds.push_back(input.tensor);
  for (const auto& output : function->outputs) fetches.push_back(output.tensor);
  return Run(feeds, std::move(inputs), fetches);
}

Expected<std::vector<Tensor>> Program::Run(const std::vector<std::string>& feeds,
                                           std::vector<Tensor> values,
                                           const std::vector<std::string>& fetches) {
  ASSIGN_OR_RETURN(RunPlan * plan, impl_->PlanFor(feeds, fetches));
  return plan->Run(std::move(values));
}

Expected<Tensor> Program::Get(llvm::StringRef name) const {
  const VariableInfo* variable = impl_->FindVariable(name);
  if (!variable) return impl_->NoVariable(name);
  Tensor value = ValueOfVariable(impl_->session, variable->container, variable->name);
  if (!value) return MakeError("variable '{0}' has no value yet", name);
  return value;
}

Error Program::Set(llvm::StringRef name, const Tensor& value) {
  const VariableInfo* variable = impl_->FindVariable(name);
  if (!variable) return impl_->NoVariable(name);
  return SetVariable(impl_->session, *variable, value);
}

Error Program::SaveModel(llvm::StringRef folder) const {
  if (impl_->opened)
    return MakeError(
        "{0}: was loaded from a file: only a model made by a ModelBuilder can be written as a "
        "SavedModel",
        impl_->opened->model().path);
  return SaveTracedModel(impl_->model, impl_->session, folder);
}

Error Program::SaveCheckpoint(llvm::StringRef prefix, int64_t step) const {
  return WriteCheckpoint(impl_->session, impl_->model.variables, step, prefix);
}

Expected<int64_t> Program::LoadCheckpoint(llvm::StringRef prefix) {
  return ReadCheckpoint(impl_->session, impl_->model.variables, prefix);
}

std::unique_ptr<Module> Program::CopyModule() const { return impl_->module().Copy(); }

Values CallImported(Tracer& t, const ModelFunction& function, const Values& values,
                    SourceLocation where) {
  auto fail = [&](const std::string& text) {
    t.ReportError(where, "function '" + function.name + "': " + text);
    return Values();
  };
  if (values.size() != function.inputs.size())
    return fail(
        llvm::formatv("takes {0} values, but {1} are given", function.inputs.size(), values.size())
            .str());
  // In the main graph, one call produces all outputs of the function; its inputs are placeholders
  // and captured values.
  const Graph& main = t.module().main;
  NodeId caller = kNoNode;
  std::vector<int> places;
  for (const auto& output : function.outputs) {
    std::optional<Port> port = FindTensorIfThere(main, output.tensor);
    if (!port) return fail("the graph has no tensor '" + output.tensor + "'");
    Node node = main.node(port->node);
    while (node.op() == "Identity") {
      port = node.input(0);
      node = main.node(port->node);
    }
    if (caller != kNoNode && caller != node.id())
      return fail("its outputs come from several nodes; one call was expected");
    caller = node.id();
    places.push_back(port->index);
  }
  Node call = caller == kNoNode ? Node() : main.node(caller);
  if (!call || (call.op() != "StatefulPartitionedCall" && call.op() != "PartitionedCall"))
    return fail("is not a function call in the main graph");
  auto f = call.FindAttr("f");
  std::string callee = f ? f->AsFuncName().value_or("").str() : "";
  Values inputs;
  for (int i = 0; i < call.num_inputs(); ++i) {
    std::string tensor =
        main.node(call.input(i).node).name().str() + ":" + std::to_string(call.input(i).index);
    bool is_given = false;
    for (size_t k = 0; k < values.size() && !is_given; ++k) {
      std::optional<Port> port = FindTensorIfThere(main, function.inputs[k].tensor);
      is_given = port && *port == call.input(i);
      if (is_given) inputs.push_back(values[k]);
    }
    if (!is_given) inputs.push_back(t.Find(tensor, where));
  }
  Values results = CallFunction(t, callee, inputs, where), outputs;
  for (int place : places) {
    if (place < static_cast<int>(results.size())) outputs.push_back(results[place]);
  }
  return outputs;
}

}  // namespace grapnel
