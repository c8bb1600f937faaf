// Runs single ops of an eager program. The first op with a given signature (name, attributes,
// dtypes) is checked as in a trace, with placeholders as inputs. For later ops with this signature,
// a byte string is the key under which their kernel is found.
#include "lib/trace/eager_runner.h"

#include "lib/exec/call_stack.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "lib/trace/function_gradient.h"
#include "lib/trace/user_call.h"

namespace grapnel {
namespace {

// Returns the key of an op's signature: its name, attributes and input dtypes.
llvm::SmallString<256> SignatureKey(const OpRequest& request) {
  llvm::SmallString<256> key;
  auto add = [&](llvm::StringRef text) {
    uint32_t size = static_cast<uint32_t>(text.size());
    key.append(llvm::StringRef(reinterpret_cast<const char*>(&size), sizeof(size)));
    key.append(text);
  };
  add(request.op);
  for (const Operand& operand : request.inputs) {
    key.push_back(static_cast<char>(operand.kind));
    if (operand.kind == Operand::kLiteral || operand.kind == Operand::kNumbers)
      key.push_back(static_cast<char>(operand.literal.dtype()));
    for (const Value& value : operand.values)
      key.push_back(static_cast<char>(EagerOf(value)->tensor.dtype()));
    key.push_back('\xff');  // ends the operand: not a dtype
  }
  for (const OpAttribute& attribute : request.attributes) {
    add(attribute.key);
    add(attribute.value);
  }
  return key;
}

Operation Failed(const Value& value) { return Operation(value.home(), kNoNode); }

}  // namespace

EagerTensor* EagerOf(const Value& value) {
  return static_cast<EagerTensor*>(value.home().object());
}

EagerRunner::EagerRunner(TraceState& state, const EagerOptions& options)
    : state_(state),
      body_(*state.bodies[0]),
      options_(options),
      own_pool_(options.pool ? nullptr : std::make_unique<ThreadPool>()),
      allocator_(MakePoolAllocator()),
      services_{*allocator_, options.pool ? *options.pool : *own_pool_, options_.print,
                options.hook, options.session ? options.session : &own_session_},
      signature_graph_(state.module.get()),
      signature_body_(&state, nullptr, &signature_graph_, nullptr) {
  services_.cancel = options.cancel;
  if (options.hook || options.records) Join();
  if (options.hook && !options.records) Pause();  // nodes without values
}

EagerRunner::~EagerRunner() = default;

Value EagerRunner::Give(Tensor tensor, const SourceLocation& where) {
  auto* made = new EagerTensor(&body_, std::move(tensor), where);
  made->frame = frames_.empty() ? 0 : frames_.back();
  return Value(made, {0, 0});
}

Value EagerRunner::Constant(const Literal& literal, const SourceLocation& where) {
  auto tensor = Tensor::FromLiteral(literal, *allocator_);
  return tensor ? Give(std::move(*tensor), where) : Fail(where, TextOf(tensor.takeError()));
}

Value EagerRunner::Fail(const SourceLocation& where, const std::string& text) {
  state_.Report(where, text);
  auto* failed = new EagerTensor(&body_, Tensor(), where);
  failed->error = state_.errors.back();
  return Value(failed, {kNoNode, 0});
}

void EagerRunner::Call::GiveOut(const Values& results) const {
  const auto& frames = runner_.frames_;
  for (const Value& result : results) {
    EagerTensor* made = result.ok() ? EagerOf(result) : nullptr;
    if (made && made->frame == frames.back())
      made->frame = frames.size() > 1 ? frames[frames.size() - 2] : 0;
  }
}

Value EagerRunner::Cancelled(const SourceLocation& where) {
  return std::exchange(has_said_cancelled_, true) ? FailedAlready() : Fail(where, "cancelled");
}

bool EagerRunner::IsSeen(const EagerTensor& tensor) const {
  return tensor.frame == 0 || llvm::is_contained(llvm::reverse(frames_), tensor.frame);
}

// --- Operands.

bool EagerRunner::CheckOperands(const OpRequest& request, const SourceLocation& where,
                                Operation* result) {
  int number = 0;
  for (const Operand& operand : request.inputs) {
    for (const Value& value : operand.values) {
      const EagerTensor* tensor = value.ok() ? EagerOf(value) : nullptr;
      bool is_own = tensor && tensor->body == &body_;
      if (is_own && IsSeen(*tensor)) continue;
      bool is_known = !value.ok() && value.body() && value.body()->state == &state_;
      // If an input is not ok(), its error has been reported.
      *result = is_known ? Operation(value.home(), kNoNode)
                         : Failed(Fail(where, llvm::formatv("op '{0}': input {1}{2}", request.op,
                                                            number, ProblemOf(value))
                                                  .str()));
      return false;
    }
    ++number;
  }
  return true;
}

// Returns the reason why a value cannot be used here, as a text to append to "input 0".
std::string EagerRunner::ProblemOf(const Value& value) const {
  if (!value.body()) return " is a Value that was never made";
  std::string foreign = ForeignText(value, state_);
  if (!foreign.empty()) return foreign;
  if (const EagerTensor* tensor = EagerOf(value))
    return " ('" + value.name() + "', made at " + TextOf(tensor->where) +
           ") belongs to a branch or loop body that has ended: return the value from it";
  return " ('" + value.name() + "') belongs to function '" + value.body()->function->name().str() +
         "', which was traced: return it from the function";
}

// --- Signatures.

// Returns a placeholder that stands for any value of the dtype `dtype`.
Node EagerRunner::StandInOf(DataType dtype) {
  auto [it, added] = stand_ins_.try_emplace(static_cast<int>(dtype), kNoNode);
  if (added)
    it->second = signature_body_.AddPlaceholder(dtype, Shape::Unknown(), "Placeholder",
                                                /*keep_name=*/false, SourceLocation());
  return signature_graph_.node(it->second);
}

EagerRunner::Signature* EagerRunner::SignatureOf(const OpRequest& request,
                                                 const SourceLocation& where) {
  llvm::SmallString<256> key = SignatureKey(request);
  auto found = signatures_.find(key);
  if (found != signatures_.end()) return found->second.get();
  std::unique_ptr<Signature> made = MakeSignature(request, where);
  return made ? (signatures_[key] = std::move(made)).get() : nullptr;
}

std::unique_ptr<EagerRunner::Signature> EagerRunner::MakeSignature(const OpRequest& request,
                                                                   const SourceLocation& where) {
  std::vector<Operand> stand_ins(request.inputs.begin(), request.inputs.end());
  for (Operand& operand : stand_ins) {
    for (Value& value : operand.values)
      value = Value(&signature_body_, {StandInOf(value.dtype()).id(), 0});
  }
  Operation made;
  {
    InBody in(state_, &signature_body_);
    made = MakeOp(state_, {request.op, stand_ins, request.attributes, {}}, where);
  }
  if (!made.ok()) return nullptr;
  auto signature = BindKernel(made);
  if (!signature) {
    state_.Report(where, ("op '" + request.op + "': ").str() + TextOf(signature.takeError()));
    return nullptr;
  }
  int slot = 0;
  for (const Operand& operand : request.inputs) {
    bool is_literal = operand.kind == Operand::kLiteral || operand.kind == Operand::kNumbers;
    Port port = is_literal ? (*signature)->node.input(slot) : Port();
    (*signature)
        ->literals.push_back(is_literal ? signature_body_.shapes.TypeOf(port) : proto::DT_INVALID);
    slot += is_literal ? 1 : static_cast<int>(operand.values.size());
  }
  return std::move(*signature);
}

Expected<std::unique_ptr<EagerRunner::Signature>> EagerRunner::BindKernel(const Operation& made) {
  auto signature = std::make_unique<Signature>();
  signature->node = signature_graph_.node(made.node());
  const Node& node = signature->node;
  const OpInfo* info = DefinitionOf(node);
  ASSIGN_OR_RETURN(NodeTypes types, TypesOf(node, *info));
  auto is_reference = [](DataType type) { return IsRefType(type); };
  if (llvm::any_of(types.inputs, is_reference) || llvm::any_of(types.outputs, is_reference))
    return MakeError("it takes or returns a reference to a variable, which exists only in graphs");
  ASSIGN_OR_RETURN(const KernelDef* def, KernelRegistry::Get().Find(node, "CPU"));
  std::vector<const Tensor*> constants(types.inputs.size());
  KernelSetup setup(node, types.inputs, types.outputs, constants);
  ASSIGN_OR_RETURN(signature->kernel, BoundKernel::Make(*def, setup));
  signature->outputs.assign(types.outputs.begin(), types.outputs.end());
  signature->is_call = !CalledFunctions(node).empty();
  return signature;
}

// True if the op makes a resource that is named after its node by default: each call then makes a
// different resource.
bool EagerRunner::NeedsName(const OpRequest& request) {
  auto [it, added] = needs_name_.try_emplace(request.op, false);
  if (added) {
    const OpInfo* info = FindOp(request.op);
    it->second = info && info->is_stateful && info->FindAttr("shared_name");
  }
  if (!it->second) return false;
  return llvm::none_of(request.attributes, [](const OpAttribute& attribute) {
    return attribute.key == "shared_name" &&
           !AttrView(attribute.value).AsString().value_or("").empty();
  });
}

Operation EagerRunner::RunNamed(const OpRequest& request, const SourceLocation& where) {
  std::string name = (request.name.empty() ? request.op : request.name).str();
  if (!body_.scope.empty()) name = body_.scope + "/" + name;
  OpRequest named = request;
  llvm::erase_if(named.attributes, [](const OpAttribute& a) { return a.key == "shared_name"; });
  named.attributes.emplace_back("shared_name", llvm::StringRef(signature_body_.UniqueName(name)));
  named_.push_back(MakeSignature(named, where));
  Inputs inputs;
  if (!named_.back() || !TakeInputs(named, *named_.back(), where, &inputs)) {
    named_.pop_back();
    return Failed(FailedAlready());
  }
  return RunOn(named, *named_.back(), inputs, where);
}

// Returns a value with the error that was just reported.
Value EagerRunner::FailedAlready() {
  std::string text = state_.errors.empty() ? "" : state_.errors.back();
  auto* failed = new EagerTensor(&body_, Tensor(), SourceLocation());
  failed->error = text;
  return Value(failed, {kNoNode, 0});
}

// --- Running.

Operation EagerRunner::Run(const OpRequest& request, const SourceLocation& at) {
  const SourceLocation where = state_.line.value_or(at);
  Operation result;
  if (IsCancelled()) return Failed(Cancelled(where));
  if (!CheckOperands(request, where, &result)) return result;
  if (NeedsName(request)) return RunNamed(request, where);
  Signature* signature = SignatureOf(request, where);
  if (!signature) return Failed(FailedAlready());
  Inputs inputs;
  if (!TakeInputs(request, *signature, where, &inputs)) return Failed(FailedAlready());
  if (signature->is_call && recording_ && recording_->tapes > 0)
    return RunCall(request, *signature, inputs, where);
  return RunOn(request, *signature, inputs, where);
}

bool EagerRunner::TakeInputs(const OpRequest& request, const Signature& signature,
                             const SourceLocation& where, Inputs* inputs) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const Operand& operand = request.inputs[i];
    DataType wanted = signature.literals[i];
    if (operand.kind == Operand::kValue || operand.kind == Operand::kList) {
      inputs->append(operand.values.begin(), operand.values.end());
    } else if (operand.literal.dtype() == wanted) {
      inputs->push_back(Constant(operand.literal, operand.where));
    } else if (auto literal = ConvertNumbers(operand.literal, wanted)) {
      inputs->push_back(Constant(*literal, operand.where));
    } else {
      MakeSignature(request, where);  // reports the problem
      return false;
    }
    if (!inputs->empty() && !inputs->back().ok()) return false;
  }
  return true;
}

Operation EagerRunner::RunOn(const OpRequest& request, const Signature& signature,
                             const Inputs& inputs, const SourceLocation& where) {
  llvm::SmallVector<Tensor, 4> tensors;
  for (const Value& input : inputs) tensors.push_back(EagerOf(input)->tensor);
  llvm::SmallVector<Tensor, 2> outputs(signature.outputs.size());
  NodeId recorded = records() ? Record(request, signature, inputs, where) : kNoNode;
  if (options_.log_placement) LogPlacement(request.op);
  if (Error error = CallKernel(signature, tensors, outputs, recorded)) {
    std::string text = TextOf(std::move(error));
    if (IsCancelled() && llvm::StringRef(text).ends_with("cancelled"))
      return Failed(Cancelled(where));
    return Failed(Fail(where, ("op '" + request.op + "': ").str() + text));
  }
  Operation made = Wrap(signature, outputs, recorded, where);
  if (recorded != kNoNode && recording_->tapes > 0) KeepOutputs(recorded, made, outputs.size());
  return made;
}

Error EagerRunner::CallKernel(const Signature& signature, llvm::MutableArrayRef<Tensor> inputs,
                              llvm::MutableArrayRef<Tensor> outputs, NodeId recorded) {
  FlushDenormals flush;
  KernelContext context(inputs, outputs, signature.outputs, services_);
  if (!options_.hook) return signature.kernel.Call(context);
  const Node node = recording_->graph.node(recorded);
  RunHook* hook = options_.hook->Wants(node) ? options_.hook : nullptr;
  InNode in(&node, hook);
  if (hook && hook->SeesInputs()) RETURN_IF_ERROR(hook->BeforeNode(node, inputs));
  RETURN_IF_ERROR(signature.kernel.Call(context));
  if (!hook) return Error::success();
  if (hook->EditsOutputs()) RETURN_IF_ERROR(hook->EditOutputs(node, outputs));
  return hook->AfterNode(node, outputs);
}

Operation EagerRunner::Wrap(const Signature& signature, llvm::MutableArrayRef<Tensor> outputs,
                            NodeId recorded, const SourceLocation& where) {
  auto wrap = [&](size_t i) {
    Value made = Give(std::move(outputs[i]), where);
    EagerTensor& tensor = *EagerOf(made);
    tensor.made_by = signature.node;
    if (recorded == kNoNode) return made;
    tensor.recording = recording_->number;
    tensor.recorded = {recorded, static_cast<int32_t>(i)};
    return made;
  };
  if (outputs.size() == 1) return Operation(wrap(0).home(), recorded);
  auto* operation = new EagerOperation(&body_);
  operation->made_by = signature.node;
  operation->outputs.reserve(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) operation->outputs.push_back(wrap(i));
  return Operation(operation, recorded);
}

void EagerRunner::LogPlacement(llvm::StringRef op) {
  DeviceSpec device;
  device.job = DeviceWord::Of("localhost");
  device.replica = device.task = device.id = 0;
  device.type = DeviceWord::Of("CPU");
  const DeviceSpec& asked = body_.placing.device;
  // An op for which the user requests another kind of device runs on the CPU all the same.
  if (!asked.type || asked.type == device.type) device.Override(asked);
  options_.log_placement(Severity::kInfo,
                         ("Executing op " + op + " in device " + device.ToString()).str());
}

// --- Values and operations of eager mode, as users see them.

EagerObject::~EagerObject() = default;

bool Operation::IsEagerOk() const {
  const EagerObject* object = home_.object();
  return object->is_operation || static_cast<const EagerTensor*>(object)->error.empty();
}

Port Value::RecordedPort() const {
  const EagerTensor* tensor = EagerOf(*this);
  return tensor->recording == 0 ? Port() : tensor->recorded;
}

Expected<Tensor> Value::tensor() const {
  const EagerTensor* eager = EagerOf(*this);
  if (eager && eager->error.empty()) return eager->tensor;
  if (eager) return MakeError("{0}", eager->error);
  if (!body()) return MakeError("a Value that was never made has no tensor");
  if (ok())
    return MakeError("'{0}' is traced: it has a tensor when its graph runs, not before", name());
  const std::vector<std::string>& errors = body()->state->errors;
  return MakeError("{0}", errors.empty() ? "the value could not be made" : errors.back());
}

Value FromTensor(Tracer& t, Tensor tensor, SourceLocation where) {
  TraceState& state = t.state();
  if (state.current->is_eager) return state.eager->Give(std::move(tensor), where);
  if (!tensor.HoldsObjects()) return t.Constant(Operand(tensor.ToLiteral(), where));
  state.Report(where, "a tensor of " + DataTypeName(tensor.dtype()).str() +
                          " cannot be a constant of a graph: only eager mode accepts it");
  return Value(state.current, {});
}

Expected<Tensor> TensorOfType(const Value& value, DataType dtype) {
  ASSIGN_OR_RETURN(Tensor tensor, value.tensor());
  if (tensor.dtype() == dtype) return tensor;
  return MakeError("'{0}' is {1}, but {2} was requested", value.name(),
                   DataTypeName(tensor.dtype()), DataTypeName(dtype));
}

namespace {

Error CheckFeeds(llvm::ArrayRef<TensorSpec> inputs, llvm::ArrayRef<Tensor> feeds) {
  if (inputs.size() != feeds.size())
    return MakeError("{0} feeds were given for {1} inputs", feeds.size(), inputs.size());
  for (size_t i = 0; i < feeds.size(); ++i) {
    Shape shape(feeds[i].dims());
    if (feeds[i].dtype() == inputs[i].dtype && IsAsKnown(shape, inputs[i].shape)) continue;
    return MakeError("feed '{0}' is {1}{2}, {3}{4} was expected", inputs[i].name,
                     DataTypeName(feeds[i].dtype()), shape.ToString(),
                     DataTypeName(inputs[i].dtype), inputs[i].shape.ToString());
  }
  return Error::success();
}

}  // namespace

Expected<std::vector<Tensor>> RunEagerly(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, std::vector<Tensor> feeds,
    const EagerOptions& options, SourceLocation where) {
  Tracer tracer(options);
  return RunEagerly(tracer, name, inputs, fn, std::move(feeds), where);
}

Expected<std::vector<Tensor>> RunEagerly(
    Tracer& tracer, llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, std::vector<Tensor> feeds,
    SourceLocation where) {
  if (Error error = CheckFeeds(inputs, feeds)) return Annotate(name, std::move(error));
  TraceState& state = tracer.state();
  state.name = name.str();
  Values args, results;
  for (size_t i = 0; i < feeds.size(); ++i) {
    args.push_back(FromTensor(tracer, std::move(feeds[i]), where));
    if (state.eager->options().hook) state.eager->PortIn(args.back(), inputs[i].name);
  }
  CallUser(state, "the function", where, [&] { results = fn(tracer, args); });
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < results.size(); ++i) {
    Expected<Tensor> tensor = results[i].tensor();
    if (tensor) {
      tensors.push_back(std::move(*tensor));
      continue;
    }
    std::string text = TextOf(tensor.takeError());
    if (state.errors.empty()) state.errors.push_back(llvm::formatv("result {0}: {1}", i, text));
  }
  RETURN_IF_ERROR(tracer.TakeErrors());
  return tensors;
}

}  // namespace grapnel
