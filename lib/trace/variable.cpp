#include "lib/trace/variable.h"

#include <cmath>
#include <random>

#include "lib/exec/tensor.h"
#include "lib/ir/attr.h"
#include "lib/ir/node_types.h"
#include "lib/support/suggest.h"
#include "lib/trace/body.h"
#include "lib/trace/traced_variables.h"

namespace grapnel {
namespace {

// Returns a text such as "float[2,3]".
std::string TextOfType(DataType dtype, const Shape& shape) {
  return (DataTypeName(dtype) + (shape.known_rank() && shape.rank() == 0 ? "" : shape.ToString()))
      .str();
}

// While an object of this class lives, new nodes belong to the main graph, outside any scope,
// device or program order.
class MainGuard {
 public:
  explicit MainGuard(TraceState& state) : state_(state), current_(state.current) {
    TraceBody& main = *state.bodies[0];
    state.current = &main;
    std::swap(scope_, main.scope);
    std::swap(controllers_, main.controllers);
    std::swap(placing_, main.placing);
    std::swap(colocated_with_, main.colocated_with);
  }
  ~MainGuard() {
    TraceBody& main = *state_.bodies[0];
    std::swap(scope_, main.scope);
    std::swap(controllers_, main.controllers);
    std::swap(placing_, main.placing);
    std::swap(colocated_with_, main.colocated_with);
    state_.current = current_;
  }
  MainGuard(const MainGuard&) = delete;

 private:
  TraceState& state_;
  TraceBody* current_;
  std::string scope_, colocated_with_;
  std::vector<TraceBody::Controller> controllers_;
  TraceBody::Placing placing_;
};

std::string VariableKey(llvm::StringRef name, llvm::StringRef container) {
  return (llvm::Twine(container) + llvm::Twine('\0') + name).str();
}

// In eager mode: assigns the initial value, unless the session already has a value for the
// variable.
bool Initialize(TraceState& state, const TracedVariable& variable) {
  const SourceLocation& where = variable.info.where;
  Operand handle(variable.eager_handle, where);
  Value there = MakeOp(state, {"VarIsInitializedOp", {handle}, {}, {}}, where);
  if (!there.ok()) return false;
  Expected<Tensor> is_there = there.tensor();
  if (!is_there) {
    llvm::consumeError(is_there.takeError());  // already reported
    return false;
  }
  if (*is_there->data<bool>()) return true;
  return MakeOp(state,
                {"AssignVariableOp", {handle, Operand(variable.info.initial, where)}, {}, {}},
                where)
      .ok();
}

// Makes the VarHandleOp, which has the variable's name unless another node has that name.
bool MakeHandle(TraceState& state, TracedVariable* variable) {
  MainGuard guard(state);
  VariableInfo& info = variable->info;
  std::optional<SourceLocation> line = state.line;
  state.line = info.where;
  Operation made = MakeOp(state,
                          {"VarHandleOp",
                           {},
                           {{"dtype", info.dtype},
                            {"shape", info.shape},
                            {"shared_name", llvm::StringRef(info.name)},
                            {"container", llvm::StringRef(info.container)}},
                           info.name},
                          info.where);
  state.line = line;
  if (!made.ok()) return false;
  if (state.current->is_eager) {
    variable->eager_handle = made.output();
    info.node = info.name;
    return Initialize(state, *variable);
  }
  variable->handle = made.node();
  info.node = made.name();
  return true;
}

// True if a value of `shape` is compatible with `wanted`.
bool Fits(const Shape& shape, const Shape& wanted) {
  if (!shape.known_rank() || !wanted.known_rank()) return true;
  if (shape.rank() != wanted.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape.IsKnown(i) && wanted.IsKnown(i) && shape.dim(i) != wanted.dim(i)) return false;
  }
  return true;
}

const VariableInfo* Refuse(TraceState& state, const VariableInfo& info, const std::string& why) {
  state.Report(info.where, "variable '" + info.name + "': " + why);
  return nullptr;
}

// Returns the variable that another function of the model declared; the declarations must agree.
const VariableInfo* Share(TraceState& state, TracedVariable& known, const VariableInfo& info) {
  const VariableInfo& other = known.info;
  // An eager program may declare its variables again in each step.
  if (known.epoch == state.variables->epoch && !known.eager_handle.ok())
    return Refuse(state, info,
                  "another variable already has that name, made at " + TextOf(other.where));
  bool same_type = other.dtype == info.dtype && other.shape == info.shape;
  if (!same_type || other.trainable != info.trainable || !other.initial.SameValue(info.initial))
    return Refuse(state, info,
                  "it is " + TextOfType(info.dtype, info.shape) + " here, and " +
                      TextOfType(other.dtype, other.shape) + " at " + TextOf(other.where) +
                      (same_type ? ", with another initial value or other options" : "") +
                      ": functions of a model share the variables of one name");
  known.epoch = state.variables->epoch;
  return &known.info;
}

const VariableInfo* MakeVariable(TraceState& state, VariableInfo info, const Operand& initial) {
  if (initial.kind != Operand::kLiteral && initial.kind != Operand::kNumbers)
    return Refuse(state, info,
                  "its initial value is computed in the graph, a Literal or numbers were expected");
  if (!Fits(Shape(initial.literal.dims()), info.shape))
    return Refuse(state, info,
                  "its shape is " + info.shape.ToString() + ", its initial value is " +
                      TextOfType(info.dtype, Shape(initial.literal.dims())));
  if (TracedVariable* known = state.variables->Find(info.name, info.container))
    return Share(state, *known, info);
  auto variable = std::make_unique<TracedVariable>();
  variable->info = std::move(info);
  variable->epoch = state.variables->epoch;
  if (!MakeHandle(state, variable.get())) return nullptr;
  state.variables->Add(std::move(variable));
  return &state.variables->all.back()->info;
}

}  // namespace

void TracedVariables::Add(std::unique_ptr<TracedVariable> variable) {
  by_name.try_emplace(VariableKey(variable->info.name, variable->info.container), variable.get());
  all.push_back(std::move(variable));
}

TracedVariable* TracedVariables::Find(llvm::StringRef name, llvm::StringRef container) const {
  return by_name.lookup(VariableKey(name, container));
}

void PendingReads::Add(PendingRead read) {
  places_.try_emplace({read.body, read.node}, reads_.size());
  reads_.push_back(std::move(read));
}

std::optional<PendingRead> PendingReads::Take(TraceBody* body, NodeId node) {
  auto at = places_.find({body, node});
  if (at == places_.end()) return std::nullopt;
  PendingRead read = std::move(reads_[at->second]);
  reads_[at->second].body = nullptr;
  places_.erase(at);
  if (places_.empty()) reads_.clear();
  return read;
}

std::vector<PendingRead> PendingReads::TakeAll() {
  places_.clear();
  std::vector<PendingRead> reads = std::exchange(reads_, {});
  llvm::erase_if(reads, [](const PendingRead& read) { return !read.body; });
  return reads;
}

Variable::Variable(Tracer& t, llvm::StringRef name, const Operand& initial,
                   const VariableOptions& options, SourceLocation where)
    : tracer_(&t) {
  TraceState& state = t.state();
  if (!state.variables) state.variables = std::make_shared<TracedVariables>();
  const std::string& scope = state.current->scope;
  info_ =
      MakeVariable(state,
                   {scope.empty() ? name.str() : (scope + "/" + name).str(), "", options.container,
                    initial.literal.dtype(), options.shape.value_or(Shape(initial.literal.dims())),
                    initial.literal, options.trainable, where},
                   initial);
}

Variable Variable::Find(Tracer& t, llvm::StringRef name, SourceLocation where) {
  TraceState& state = t.state();
  if (!state.variables) state.variables = std::make_shared<TracedVariables>();
  if (TracedVariable* known = state.variables->Find(name, "")) return Variable(&t, &known->info);
  std::vector<std::string> names;
  for (Node node : state.module->main.nodes()) {
    if (node.op() != "VarHandleOp") continue;
    std::string shared = node.GetString("shared_name");
    if (shared.empty()) shared = node.name().str();
    names.push_back(shared);
    if (shared != name && node.name() != name) continue;
    auto variable = std::make_unique<TracedVariable>();
    std::optional<AttrView> shape = node.Attr("shape");
    variable->info = {shared,
                      node.name().str(),
                      node.GetString("container"),
                      node.GetType("dtype"),
                      shape ? shape->AsShape().value_or(Shape::Unknown()) : Shape::Unknown(),
                      Literal(),
                      true,
                      where};
    variable->handle = node.id();
    variable->epoch = state.variables->epoch;
    state.variables->Add(std::move(variable));
    return Variable(&t, &state.variables->all.back()->info);
  }
  state.Report(where, ("there is no variable '" + name + "'" + DidYouMean(name, names)).str());
  return Variable();
}

Value Variable::handle() const {
  if (!ok()) return tracer_ ? Value(state().current, {}) : Value();
  TracedVariable* known = state().variables->Find(info_->name, info_->container);
  if (known->eager_handle.ok()) return known->eager_handle;
  return state().bodies[0]->ValueOf(known->handle);
}

Value Variable::ReadHere(const SourceLocation& where) const {
  if (!ok()) return handle();
  Operand operands[] = {Operand(handle(), where)};
  return MakeOp(state(), {"ReadVariableOp", operands, {{"dtype", info_->dtype}}, {}}, where);
}

Value Variable::Read(SourceLocation where) const {
  if (!ok()) return handle();
  Value value;
  {
    ScopeGuard scope(state().current, "Read");
    value = ReadHere(where);
  }
  Operand operands[] = {Operand(value, where)};
  return MakeOp(state(), {"Identity", operands, {}, {}}, where);
}

Variable::operator Value() const {
  if (!ok() || state().current->is_eager) return ReadHere(info_ ? info_->where : SourceLocation());
  // The node is named later, after the op that takes the value: see NamePendingReads.
  TraceBody& body = *state().current;
  std::string scope = body.scope;
  body.scope = "_read";
  Value value = ReadHere(info_->where);
  body.scope = scope;
  if (value.ok()) state().variables->pending.Add({&body, value.port().node, scope});
  return value;
}

static void NameRead(const PendingRead& read, const std::string& scope) {
  TraceBody& body = *read.body;
  std::string before = body.scope;
  body.scope = scope;
  body.graph->Rename(read.node, body.UniqueName("ReadVariableOp"));
  body.scope = before;
}

void NamePendingReads(TraceState& state, llvm::ArrayRef<Value> inputs,
                      const SourceLocation& where) {
  if (!state.variables || state.variables->pending.empty()) return;
  for (const Value& input : inputs) {
    auto read = state.variables->pending.Take(input.body(), input.port().node);
    if (!read) continue;
    read->body->lines[read->node] = state.line.value_or(where);
    NameRead(*read, state.current == read->body ? read->body->scope : read->scope);
  }
}

Operation Variable::Update(llvm::StringRef op, const Operand& value) const {
  if (!ok()) return Operation(tracer_ ? state().current : nullptr, kNoNode);
  Operand operand = value;
  if (operand.kind == Operand::kNumbers) {
    if (std::optional<Literal> literal = ConvertNumbers(operand.literal, info_->dtype)) {
      operand.literal = *literal;
      operand.kind = Operand::kLiteral;
    }
  }
  const bool is_value = operand.kind == Operand::kValue;
  if (operand.kind != Operand::kList && !(is_value && !operand.values[0].ok())) {
    DataType dtype = is_value ? operand.values[0].dtype() : operand.literal.dtype();
    Shape shape = is_value ? operand.values[0].shape() : Shape(operand.literal.dims());
    if (dtype != info_->dtype || !Fits(shape, info_->shape)) {
      state().Report(value.where, "op '" + op.str() + "': variable '" + info_->name + "' is " +
                                      TextOfType(info_->dtype, info_->shape) + " (" +
                                      TextOf(info_->where) + "), the value given is " +
                                      TextOfType(dtype, shape));
      return Operation(state().current, kNoNode);
    }
  }
  std::vector<OpAttribute> attributes;
  if (op == "AssignVariableOp") attributes = {{"validate_shape", info_->shape.IsFullyKnown()}};
  // A constant is made just before the op, as by tf.convert_to_tensor.
  if (!is_value && operand.kind == Operand::kLiteral)
    operand = Operand(MakeConstant(*state().current, operand.literal,
                                   state().current->UniqueName("Const"), value.where),
                      value.where);
  Operand operands[] = {Operand(handle(), value.where), operand};
  return MakeOp(state(), {op, operands, attributes, {}}, value.where);
}

Operation Variable::Scatter(llvm::StringRef op, const Operand& indices,
                            const Operand& updates) const {
  if (!ok()) return Operation(tracer_ ? state().current : nullptr, kNoNode);
  Operand given = updates;
  if (given.kind == Operand::kNumbers) {
    if (std::optional<Literal> literal = ConvertNumbers(given.literal, info_->dtype)) {
      given.literal = *literal;
      given.kind = Operand::kLiteral;
    }
  }
  DataType dtype = given.kind == Operand::kValue ? given.values[0].dtype() : given.literal.dtype();
  if (given.kind == Operand::kList || (dtype != info_->dtype && dtype != proto::DT_INVALID)) {
    state().Report(updates.where, "op '" + op.str() + "': variable '" + info_->name + "' is " +
                                      TextOfType(info_->dtype, info_->shape) + " (" +
                                      TextOf(info_->where) + "), the updates are " +
                                      DataTypeName(dtype).str());
    return Operation(state().current, kNoNode);
  }
  Operand operands[] = {Operand(handle(), indices.where), indices, given};
  return MakeOp(state(), {op, operands, {}, {}}, updates.where);
}

Value Variable::Gather(const Operand& indices, llvm::StringRef name) const {
  if (!ok()) return handle();
  Operand operands[] = {Operand(handle(), indices.where), indices};
  return MakeOp(
      state(),
      {"ResourceGather", operands, {{"dtype", info_->dtype}}, name.empty() ? "Gather" : name},
      indices.where);
}

Value Variable::GatherNd(const Operand& indices, llvm::StringRef name) const {
  if (!ok()) return handle();
  Operand operands[] = {Operand(handle(), indices.where), indices};
  return MakeOp(
      state(),
      {"ResourceGatherNd", operands, {{"dtype", info_->dtype}}, name.empty() ? "GatherNd" : name},
      indices.where);
}

std::vector<Variable> VariablesOf(Tracer& t) {
  std::vector<Variable> variables;
  if (!t.state().variables) return variables;
  for (const auto& variable : t.state().variables->all)
    variables.push_back(Variable(&t, &variable->info));
  return variables;
}

std::vector<Variable> Trainable(Tracer& t) {
  std::vector<Variable> variables = VariablesOf(t);
  llvm::erase_if(variables, [](const Variable& v) { return !v.trainable(); });
  return variables;
}

std::vector<VariableInfo> VariableInfosOf(Tracer& t) {
  std::vector<VariableInfo> infos;
  if (!t.state().variables) return infos;
  for (const auto& variable : t.state().variables->all) infos.push_back(variable->info);
  return infos;
}

static Values HandlesOf(const std::vector<Variable>& xs) {
  Values handles;
  for (const Variable& x : xs) handles.push_back(x.handle());
  return handles;
}

Values Gradients(Tracer& t, llvm::ArrayRef<Value> ys, const std::vector<Variable>& xs,
                 const GradientOptions& options, SourceLocation where) {
  return Gradients(t, ys, llvm::ArrayRef<Value>(HandlesOf(xs)), options, where);
}

std::vector<Gradient> SparseGradients(Tracer& t, llvm::ArrayRef<Value> ys,
                                      const std::vector<Variable>& xs,
                                      const GradientOptions& options, SourceLocation where) {
  return SparseGradients(t, ys, llvm::ArrayRef<Value>(HandlesOf(xs)), options, where);
}

void CaptureVariables(Tracer& t) {
  if (!t.state().variables) t.state().variables = std::make_shared<TracedVariables>();
  t.state().variables->captures = true;
}

void NameOtherReads(TraceState& state) {
  if (!state.variables) return;
  for (const PendingRead& read : state.variables->pending.TakeAll()) NameRead(read, read.scope);
}

void NameReadHere(TraceState& state, const Value& value) {
  if (!state.variables) return;
  if (auto read = state.variables->pending.Take(value.body(), value.port().node))
    NameRead(*read, read->scope);
}

namespace {

// TensorFlow's name for the placeholder of a captured tensor: the name of the argument of the first
// op that takes it, with its number in a list.
std::string CaptureName(const Node& reader, int input) {
  const OpInfo* info = DefinitionOf(reader);
  for (size_t i = 0; info && i < info->inputs.size(); ++i) {
    const OpArg& arg = info->inputs[i];
    bool is_list = !arg.number_attr.empty() || !arg.type_list_attr.empty();
    if (is_list) return arg.name + "_" + std::to_string(input - static_cast<int>(i));
    if (static_cast<int>(i) == input) return arg.name;
  }
  return "resource";
}

void CaptureHandle(Graph& main, const TracedVariable& variable) {
  std::string scope, name = "resource";
  std::pair<NodeId, uint32_t> first = {kNoNode, 0};
  for (const Use& use : main.node(variable.handle).uses()) {
    bool reads = use.slot < static_cast<uint32_t>(main.node(use.node).num_inputs());
    if (reads) first = std::min(first, {use.node, use.slot});
  }
  if (first.first != kNoNode) {
    scope = main.node(first.first).name().str();
    name = CaptureName(main.node(first.first), static_cast<int>(first.second));
  }
  const NodeId id = variable.handle;
  for (auto [key, value] : main.node(id).Attrs()) main.RemoveAttr(id, key.str());
  main.SetOp(id, "Placeholder");
  main.SetAttr(id, "dtype", attr::Type(proto::DT_RESOURCE));
  main.SetAttr(id, "shape", attr::ShapeOf(Shape::Scalar()));
  main.SetAttr(id, "_user_specified_name", attr::String(name));
  if (!scope.empty()) main.Rename(id, main.UniqueName(scope + "/" + name));
}

}  // namespace

void FinishVariables(TraceState& state) {
  if (!state.variables || !state.variables->captures) return;
  for (const auto& variable : state.variables->all) CaptureHandle(state.module->main, *variable);
}

namespace initial {

Literal Fill(llvm::ArrayRef<int64_t> dims, double value, DataType dtype) {
  return Literal::Make(dtype, dims, Literal::Scalar(dtype, value).bytes());
}

Literal Uniform(llvm::ArrayRef<int64_t> dims, double low, double high, uint64_t seed,
                DataType dtype) {
  // The C++ standard specifies the numbers of the engine, but not those of its distributions, which
  // are not used here.
  std::mt19937_64 engine(seed);
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::string bytes;
  bytes.reserve(count * DataTypeSize(dtype));
  for (int64_t i = 0; i < count; ++i) {
    double unit = static_cast<double>(engine() >> 11) * 0x1p-53;
    bytes += Literal::Scalar(dtype, low + (high - low) * unit).bytes();
  }
  return Literal::Make(dtype, dims, bytes);
}

Literal Glorot(llvm::ArrayRef<int64_t> dims, uint64_t seed, DataType dtype) {
  double field = 1;
  for (size_t i = 0; i + 2 < dims.size(); ++i) field *= static_cast<double>(dims[i]);
  size_t rank = dims.size();
  double inputs = rank == 0 ? 1 : field * static_cast<double>(dims[rank < 2 ? 0 : rank - 2]);
  double outputs = rank == 0 ? 1 : field * static_cast<double>(dims[rank - 1]);
  double limit = std::sqrt(6 / (inputs + outputs));
  return Uniform(dims, -limit, limit, seed, dtype);
}

}  // namespace initial
}  // namespace grapnel
