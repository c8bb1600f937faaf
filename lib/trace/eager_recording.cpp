// Records an eager program for tapes and hooks: each op as a node. The nodes are in a graph of the
// recording, which is deleted with the last tape or hook; for a hook, they are in the module's main
// graph if that is empty. A node shares the attributes of its signature, so that recording a step
// again takes no memory for attributes.
#include "lib/ir/node_types.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/function_gradient.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace grapnel {

namespace {

// True if the function must not run twice because it, or a function that it calls, has stateful or
// unknown ops other than ReadVariableOp.
bool HasEffects(const Function& function) {
  const Module& module = function.body.module();
  llvm::SmallPtrSet<const Function*, 8> seen;
  std::vector<const Function*> stack = {&function};
  while (!stack.empty()) {
    const Function* next = stack.back();
    stack.pop_back();
    if (!next || !seen.insert(next).second) continue;
    for (Node node : next->body.nodes()) {
      if (node.op() == "_Arg" || node.op() == "_Retval" || node.op() == "ReadVariableOp") continue;
      std::vector<llvm::StringRef> called = CalledFunctions(node);
      const OpInfo* info = DefinitionOf(node);
      if (called.empty() && (!info || info->is_stateful)) return true;
      for (llvm::StringRef name : called) stack.push_back(module.FindFunction(name));
    }
  }
  return false;
}

}  // namespace

EagerRecording::EagerRecording(TraceState* state, TraceBody* outer, uint32_t number, Graph* into)
    : own(into ? nullptr : std::make_unique<Graph>(state->module.get())),
      graph(into ? *into : *own),
      body(state, outer, &graph, nullptr),
      number(number) {
  body.recording = this;
}

EagerRecording& EagerRunner::Join() {
  if (!recording_) {
    // The nodes for a hook go to the main graph if that is empty: the hook can then find them by
    // name.
    Graph& main = state_.module->main;
    bool is_shown = options_.hook && main.num_nodes() == 0;
    recording_ = std::make_unique<EagerRecording>(&state_, &body_, ++num_recordings_,
                                                  is_shown ? &main : nullptr);
  }
  ++recording_->tapes;
  ++recording_->owners;
  return *recording_;
}

void EagerRunner::Leave() {
  if (--recording_->owners > 0) return;
  const TraceBody* body = &recording_->body;
  for (auto it = state_.custom_gradients.begin(); it != state_.custom_gradients.end();) {
    auto next = std::next(it);
    if (it->first.first == body) state_.custom_gradients.erase(it);
    it = next;
  }
  // The recorded values may own other values, whose destructors look at recording_, so it is null
  // before they run.
  std::unique_ptr<EagerRecording> gone = std::move(recording_);
}

std::string EagerRunner::UniqueName(llvm::StringRef name, const std::string& scope) {
  if (!recording_) return scope.empty() ? name.str() : (scope + "/" + name).str();
  recording_->body.scope = scope;
  return recording_->body.UniqueName(name);
}

Port EagerRunner::PortIn(const Value& value, llvm::StringRef given_name) {
  EagerTensor& tensor = *EagerOf(value);
  EagerRecording& recording = *recording_;
  if (tensor.recording != recording.number) {
    llvm::StringRef base = tensor.made_by ? tensor.made_by.op() : "Const";
    std::string name = UniqueName(given_name.empty() ? base : given_name, "");
    NodeId id = recording.body.AddNode("Placeholder", name, {}, tensor.where);
    recording.graph.CopyAttrs(id, StandInOf(tensor.tensor.dtype()));
    recording.body.InferShapes(id);
    tensor.recording = recording.number;
    tensor.recorded = {id, 0};
  }
  if (recording.tapes > 0)
    recording.values.try_emplace({tensor.recorded.node, tensor.recorded.index}, value);
  return tensor.recorded;
}

NodeId EagerRunner::Record(const OpRequest& request, const Signature& signature,
                           const Inputs& inputs, const SourceLocation& where) {
  EagerRecording& recording = *recording_;
  llvm::SmallVector<Port, 4> ports;
  for (const Value& input : inputs) ports.push_back(PortIn(input));
  std::string scope = body_.scope;
  std::string name = request.exact && !scope.empty()
                         ? scope
                         : UniqueName(request.name.empty() ? request.op : request.name, scope);
  // A scope that was opened before the recording began has not reserved its name, so another node
  // may have it.
  if (recording.graph.Find(name)) name = recording.graph.UniqueName(name);
  recording.body.placing = body_.placing;
  NodeId id = recording.body.AddNode(signature.node.op(), name, ports, where);
  recording.graph.CopyAttrs(id, signature.node);
  recording.body.InferShapes(id);
  recording.body.SetCallScope(id, request.own_scope ? name : scope);
  return id;
}

void EagerRunner::KeepOutputs(NodeId node, const Operation& made, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int output = static_cast<int>(i);
    recording_->values.try_emplace({node, output}, made.output(output));
  }
}

// --- Function calls that a tape records. Such a call must also return the function's inner tensors
// that the gradient needs.

// Returns the gradient function of the function that the op calls; it takes a gradient for each of
// that function's results that can be differentiated. Null if the function has no gradient, which
// is reported when the gradient is requested.
const FunctionGradient* EagerRunner::GradientOf(const Signature& signature) {
  auto attr = signature.node.FindAttr("f");
  llvm::StringRef name = attr ? attr->AsFuncName().value_or("") : signature.node.op();
  auto [it, added] = gradients_.try_emplace(name, nullptr);
  const Function* function = state_.module->FindFunction(name);
  if (!added || !function) return it->second.get();
  Values dys;
  for (const auto& result : function->results) {
    DataType type = function->body.node(result.node).GetType("T");
    bool flows = IsTrainable(type) && type != proto::DT_RESOURCE;
    dys.push_back(flows ? Value(&signature_body_, {StandInOf(type).id(), 0}) : Value());
  }
  size_t errors = state_.errors.size();
  auto made = std::make_unique<FunctionGradient>(GradientOfFunction(state_, *function, dys));
  if (state_.errors.size() == errors) {
    made->TakeDtypes();
    gradients_[name] = std::move(made);
  }
  state_.errors.resize(errors);
  return gradients_[name].get();
}

// The inner tensors that the gradient captures are results of the call, after the original results.
// For a second derivative, these tensors have gradients themselves: then the function with all
// these results is differentiated, and runs again on the same inputs.
InputGradients EagerRunner::GradientOfCall(GradientContext& g, const FunctionGradient& of) {
  const FunctionGradient* used = &of;
  Values dys, results, captured;
  auto is_inner = [&](int place) { return place >= 0 && g.has_dy(place); };
  if (llvm::any_of(of.places, is_inner)) {
    const Function& function = *of.forward->function;
    if (HasEffects(function))
      return g.Fail("its second derivative would run the function, and its effects, twice");
    std::string key = (function.name() + ":").str();
    Values wanted(function.results.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      bool has_dy = g.has_dy(static_cast<int>(i));
      if (has_dy) wanted[i] = g.dy(static_cast<int>(i));
      key += has_dy ? '1' : '0';
    }
    auto& cached = gradients_[key];
    if (!cached) {
      cached = std::make_unique<FunctionGradient>(GradientOfFunction(state_, function, wanted));
      cached->TakeDtypes();
    }
    used = cached.get();
    const Function& forward = *used->forward->function;
    Values inputs;
    for (int i = 0; i < g.num_inputs(); ++i) inputs.push_back(g.x(i));
    std::vector<DataType> types;
    for (const auto& result : forward.results)
      types.push_back(forward.body.node(result.node).GetType("T"));
    Operation again =
        g.Op("PartitionedCall", {Operand(inputs)},
             {OpAttribute::Serialized("f", attr::Func(forward.name())), {"Tout", types}});
    for (size_t i = 0; i < types.size(); ++i) results.push_back(again.output(static_cast<int>(i)));
  }
  for (int result : used->results)
    dys.push_back(g.has_dy(result) ? g.dy(result) : ZerosFor(state_, g.y(result)).values);
  for (size_t i = 0; i < used->captures.size(); ++i) {
    int place = used->places[i];
    captured.push_back(place < 0         ? g.x(used->ArgOf(used->captures[i]))
                       : results.empty() ? g.y(place)
                                         : results[place]);
  }
  Values gradients = used->Call(state_, dys, captured);
  InputGradients inputs(g.num_inputs());
  for (size_t i = 0; i < used->args.size(); ++i) inputs[used->args[i]] = gradients[i];
  return inputs;
}

Operation EagerRunner::RunCall(const OpRequest& request, const Signature& signature,
                               const Inputs& inputs, const SourceLocation& where) {
  // A dataset op has an attribute "f" too, but its kernel calls that function for each element: the
  // op itself is not a call.
  llvm::StringRef op = signature.node.op();
  bool is_function = op == "PartitionedCall" || op == "StatefulPartitionedCall" ||
                     state_.module->FindFunction(request.op);
  const FunctionGradient* gradient = is_function ? GradientOf(signature) : nullptr;
  if (!gradient) return RunOn(request, signature, inputs, where);
  const Function& forward = *gradient->forward->function;
  std::vector<DataType> types;
  for (const auto& result : forward.results)
    types.push_back(forward.body.node(result.node).GetType("T"));
  Operand operands[] = {Operand(Values(inputs.begin(), inputs.end()), where)};
  OpRequest call = {HasEffects(forward) ? "StatefulPartitionedCall" : "PartitionedCall",
                    operands,
                    {OpAttribute::Serialized("f", attr::Func(forward.name())), {"Tout", types}},
                    request.name};
  Signature* forward_signature = SignatureOf(call, where);
  if (!forward_signature) return Operation(FailedAlready().home(), kNoNode);
  Operation made = RunOn(call, *forward_signature, inputs, where);
  if (!made.ok()) return made;
  NodeId recorded = made.node();
  recording_->calls[recorded] = gradient;
  if (signature.outputs.size() == types.size()) return made;
  llvm::SmallVector<Value, 2> results;
  for (size_t i = 0; i < signature.outputs.size(); ++i)
    results.push_back(made.output(static_cast<int>(i)));
  if (results.size() == 1) return Operation(results[0].home(), recorded);
  auto* operation = new EagerOperation(&body_);
  operation->made_by = signature.node;
  operation->outputs.assign(results.begin(), results.end());
  return Operation(operation, recorded);
}

}  // namespace grapnel
