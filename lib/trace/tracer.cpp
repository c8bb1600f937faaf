#include "lib/trace/tracer.h"

#include "lib/ir/debug_info_writer.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/verify.h"
#include "lib/ir/wire.h"
#include "lib/trace/body.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/ops.h"
#include "lib/trace/trace.h"
#include "lib/trace/traced_variables.h"
#include "lib/trace/user_call.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// True if tf.Graph accepts the name. Inside a scope, the name may begin with more characters.
bool IsValidName(llvm::StringRef name, bool in_scope) {
  auto is_part = [](char c) { return llvm::isAlnum(c) || llvm::StringRef("_.\\/>-").contains(c); };
  if (name.empty() || !llvm::all_of(name, is_part)) return false;
  return in_scope || llvm::isAlnum(name.front()) || name.front() == '.';
}

// Returns the imported GraphDef.debug_info; if the field is there twice, concatenated, which parses
// as one message.
std::string ImportedDebugInfo(const Module& module) {
  constexpr uint32_t kDebugInfo = 5;
  std::string imported;
  WireReader reader(module.other_fields);
  while (reader.Next()) {
    if (reader.Is(kDebugInfo, WireType::kBytes)) imported += reader.bytes();
  }
  return imported;
}

}  // namespace

Tracer::Tracer() : state_(std::make_unique<TraceState>()) {}

Tracer::Tracer(std::unique_ptr<Module> module, SourceLocation where)
    : state_(std::make_unique<TraceState>(std::move(module), where)) {}

Tracer::Tracer(const EagerOptions& options, std::unique_ptr<Module> module, SourceLocation where)
    : state_(module ? std::make_unique<TraceState>(std::move(module), where)
                    : std::make_unique<TraceState>()) {
  state_->current->is_eager = true;
  state_->eager = std::make_unique<EagerRunner>(*state_, options);
}

Tracer::Tracer(Mode mode) : Tracer() {
  if (mode == Mode::kGraph) return;
  state_->current->is_eager = true;
  state_->eager = std::make_unique<EagerRunner>(*state_, EagerOptions());
}

Tracer::~Tracer() = default;

bool Tracer::is_eager() const { return state_->current->is_eager; }

Error Tracer::TakeErrors() {
  std::vector<std::string> errors = std::exchange(state_->errors, {});
  std::string before = state_->name.empty() ? "" : state_->name + ": ";
  return errors.empty() ? Error::success()
                        : MakeError("{0}{1}", before, llvm::join(errors, "\n" + before));
}

Value Tracer::Find(llvm::StringRef tensor, SourceLocation where) {
  TraceBody& main = *state_->bodies[0];
  if (main.is_eager) {
    return state_->eager->Fail(where, ("'" + tensor +
                                       "': tensors of a graph have no value in eager mode; its "
                                       "functions can be called")
                                          .str());
  }
  Expected<Port> port = FindTensor(*main.graph, tensor);
  if (port) return Value(&main, *port);
  state_->Report(where, TextOf(port.takeError()));
  return Value(state_->current, {});
}

const Module& Tracer::module() const { return *state_->module; }

void Tracer::ReportError(const SourceLocation& where, const std::string& text) {
  state_->Report(where, text);
}

Value Tracer::Placeholder(DataType dtype, const Shape& shape, llvm::StringRef name,
                          SourceLocation where) {
  TraceBody& body = *state_->current;
  if (body.is_eager) {
    return state_->eager->Fail(
        where, ("placeholder '" + name +
                "': eager mode has no feeds; use FromTensor to make a value from a tensor")
                   .str());
  }
  if (!IsValidName(name, !body.scope.empty())) {
    state_->Report(where, ("'" + name + "' is not a node name").str());
    return Value(&body, {});
  }
  return body.ValueOf(body.AddPlaceholder(dtype, shape, name, /*keep_name=*/false, where));
}

Value Tracer::Constant(const Operand& value, llvm::StringRef name) {
  return ToValue(*state_, value, name);
}

Value Tracer::Constant(const Operand& value, DataType dtype, llvm::StringRef name) {
  std::optional<Literal> literal;
  if (value.IsRagged()) return ToValue(*state_, value, name);
  if (value.kind == Operand::kNumbers) literal = ConvertNumbers(value.literal, dtype);
  if (value.kind == Operand::kLiteral && value.literal.dtype() == dtype) literal = value.literal;
  if (!literal) {
    bool constant = value.kind == Operand::kNumbers || value.kind == Operand::kLiteral;
    state_->Report(value.where,
                   constant ? llvm::formatv("the {0} {1} is not a valid {2} constant",
                                            DataTypeName(value.literal.dtype()),
                                            value.literal.ToString(), DataTypeName(dtype))
                                  .str()
                            : "a constant is made of numbers, a text or a Literal, not of a value");
    return Value(state_->current, {});
  }
  return MakeConstant(*state_->current, *literal, state_->current->UniqueName(name), value.where);
}

Tracer::ScopeGuard Tracer::Scope(llvm::StringRef name, SourceLocation where) {
  if (!IsValidName(name, !state_->current->scope.empty())) {
    state_->Report(where, ("'" + name + "' is not a scope name").str());
    name = "scope";
  }
  TraceBody* body = state_->current;
  std::string before = body->scope;
  body->OpenScope(name);
  return ScopeGuard([body, before, call = state_->EnterCall(where)] {
    body->scope = before;
    body->state->call = call;
  });
}

Tracer::ScopeGuard Tracer::ControlDependencies(llvm::ArrayRef<Operation> ops,
                                               SourceLocation where) {
  TraceBody* body = state_->current;
  if (body->is_eager) return ScopeGuard([] {});  // earlier ops have run
  TraceBody::Controller controller;
  for (const Operation& op : ops) {
    if (!op.ok()) {
      if (!op.body() && state_->errors.empty())
        state_->Report(where, "a control dependency is an Operation that was never made");
    } else if (op.home().object() && body->IsInside(op.body())) {
      continue;  // has already run
    } else if (op.body() == body) {
      controller.inputs.push_back(op.node());
      body->MarkControl(op.node());
    } else if (body->IsInside(op.body())) {
      body->outer_controls.push_back(op);
    } else {
      state_->Report(where, "control dependency '" + op.name() +
                                "' belongs to a function that is not visible here");
    }
  }
  body->controllers.push_back(std::move(controller));
  return ScopeGuard([body] { body->controllers.pop_back(); });
}

Tracer::ScopeGuard Tracer::Device(llvm::StringRef device, SourceLocation where) {
  TraceBody* body = state_->current;
  TraceBody::Placing before = body->placing;
  Expected<DeviceSpec> spec = device.empty() ? DeviceSpec() : DeviceSpec::ParseTyped(device);
  if (!spec) {
    state_->Report(where, TextOf(spec.takeError()));
  } else if (before.colocation.empty()) {
    if (device.empty()) body->placing.device = DeviceSpec();
    body->placing.device.Override(*spec);
  }
  return ScopeGuard([body, before] { body->placing = before; });
}

Tracer::ScopeGuard Tracer::Colocate(const Operation& with, SourceLocation where) {
  TraceBody* body = state_->current;
  if (body->is_eager) return ScopeGuard([] {});
  TraceBody::Placing before = body->placing;
  if (!with.ok()) {
    if (!with.body() && state_->errors.empty())
      state_->Report(where, "the operation to colocate with was never made");
  } else if (with.body() != body) {
    state_->Report(
        where, "operation '" + with.name() +
                   "' belongs to another function: nodes can only be colocated within a function");
  } else {
    Node node = body->graph->node(with.node());
    // The node may have been imported with a device that cannot be parsed, which counts as no
    // device.
    Expected<DeviceSpec> spec = DeviceSpec::Parse(node.device());
    body->placing.device = spec ? *spec : DeviceSpec();
    llvm::consumeError(spec.takeError());
    // Uses the colocation group of `node` if it has one.
    std::optional<AttrView> with_class = node.FindAttr("_class");
    body->placing.colocation =
        with_class ? with_class->bytes().str() : attr::Strings({("loc:@" + node.name()).str()});
  }
  return ScopeGuard([body, before] { body->placing = before; });
}

Operation Tracer::Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                     llvm::ArrayRef<OpAttribute> attributes, llvm::StringRef name,
                     SourceLocation where) {
  if (!name.empty() && !IsValidName(name, !state_->current->scope.empty())) {
    state_->Report(where, ("op '" + op + "': '" + name + "' is not a node name").str());
    name = {};
  }
  return MakeOp(*state_, {op, inputs, attributes.vec(), name}, where);
}

Operation Tracer::Print(llvm::StringRef format, llvm::ArrayRef<Operand> values,
                        const PrintOptions& options, SourceLocation where) {
  if (size_t places = format.count("{}"); places != values.size()) {
    state_->Report(where, llvm::formatv("print: \"{0}\" has {1} places for {2} values", format,
                                        places, values.size())
                              .str());
    return Operation(state_->current, kNoNode);
  }
  Values inputs;
  for (const Operand& operand : values) inputs.push_back(ToValue(*state_, operand));
  Operand list(inputs, where);
  std::vector<OpAttribute> attributes = {{"template", format},
                                         {"placeholder", "{}"},
                                         {"summarize", static_cast<int64_t>(options.summarize)}};
  Operation text = MakeOp(*state_, {"StringFormat", list, attributes, {}}, where);
  Operand line(text, where);
  return MakeOp(
      *state_,
      {"PrintV2", line, {{"output_stream", options.output_stream}, {"end", options.end}}, {}},
      where);
}

Expected<std::unique_ptr<Module>> Tracer::Finish(const Values& results) {
  TraceBody& body = *state_->current;
  if (body.is_eager) {
    RETURN_IF_ERROR(TakeErrors());
    return MakeError("an eager program has no graph: its ops have run");
  }
  NameOtherReads(*state_);
  std::vector<NodeId> identities;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].body() && state_->errors.empty()) {
      state_->errors.push_back(llvm::formatv("result {0} is a Value that was never made", i).str());
    }
    if (!results[i].ok()) continue;
    const SourceLocation where = LineOf(results[i]);
    Operand operands[] = {Operand(results[i], where)};
    Value identity = MakeOp(*state_, {"Identity", operands, {}, {}}, where);
    if (identity.ok()) identities.push_back(identity.port().node);
  }
  FinishVariables(*state_);
  if (!state_->variables || !state_->variables->is_model) AddAutomaticControls(body, identities);
  for (const auto& traced : state_->bodies) {
    for (const Problem& problem : traced->shapes.problems()) {
      llvm::StringRef name = problem.where;
      if (traced->function && name.consume_front(traced->function->name())) name.consume_front("/");
      Node node = traced->graph->Find(name);
      std::string line;
      if (node && traced->LineOf(node.id()).is_known())
        line = TextOf(traced->LineOf(node.id())) + ": ";
      state_->errors.push_back(line + "node '" + problem.where + "': " + problem.text);
    }
  }
  Module& module = *state_->module;
  if (state_->errors.empty()) {
    for (const Problem& problem : VerifyModule(module)) {
      if (problem.severity == Severity::kError) state_->errors.push_back(problem.ToString());
    }
  }
  if (!state_->errors.empty()) {
    std::string before = state_->name.empty() ? "" : state_->name + ": ";
    return MakeError("{0}{1}", before, llvm::join(state_->errors, "\n" + before));
  }
  if (!state_->is_imported) module.versions = VersionsOf(!module.functions.empty());
  SetDebugInfo(&module, DebugInfoOf(*state_, ImportedDebugInfo(module)));
  return std::move(state_->module);
}

Expected<std::unique_ptr<Module>> TraceFunction(
    llvm::StringRef name, llvm::ArrayRef<TensorSpec> inputs,
    llvm::function_ref<Values(Tracer&, llvm::ArrayRef<Value>)> fn, SourceLocation where) {
  Tracer tracer;
  TraceState& state = *tracer.state_;
  state.name = name.str();
  Values args;
  for (const TensorSpec& input : inputs) {
    if (!IsValidName(input.name, /*in_scope=*/false)) {
      return MakeError("{0}: {1}: '{2}' is not an input name", TextOf(where), name, input.name);
    }
    TraceBody& body = *state.current;
    args.push_back(body.ValueOf(
        body.AddPlaceholder(input.dtype, input.shape, input.name, /*keep_name=*/true, where)));
  }
  Values results;
  CallUser(state, "the function", where, [&] { results = fn(tracer, args); });
  return tracer.Finish(results);
}

}  // namespace grapnel
