#include "lib/trace/body.h"

#include "lib/exec/tensor_list.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/wire_map.h"
#include "lib/proto/versions.pb.h"
#include "lib/trace/eager_runner.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

static void AppendAttr(std::string* out, llvm::StringRef key, llvm::StringRef value) {
  constexpr uint32_t kNodeDefAttr = 5;
  // Size of the entry if each of its lengths takes one byte, as it does for short keys and values.
  size_t size = 4 + key.size() + value.size();
  if (size >= 0x80) return AppendMapEntry(out, kNodeDefAttr, key, value);
  const char head[] = {0x2A, static_cast<char>(size), 0x0A, static_cast<char>(key.size())};
  const char middle[] = {0x12, static_cast<char>(value.size())};
  out->append(head, sizeof(head)).append(key.data(), key.size());
  out->append(middle, sizeof(middle)).append(value.data(), value.size());
}

DataType Value::dtype() const {
  if (!ok()) return proto::DT_INVALID;
  if (const EagerTensor* eager = EagerOf(*this)) return eager->tensor.dtype();
  return BaseType(body()->shapes.TypeOf(port_));
}

Shape Value::shape() const {
  if (!ok()) return Shape::Unknown();
  if (const EagerTensor* eager = EagerOf(*this)) return Shape(eager->tensor.dims());
  return body()->shapes.OfPort(port_);
}

std::string Value::name() const {
  if (!ok()) return {};
  Node node = NodeOf(*this);
  if (home_.object()) return node ? node.op().str() : "constant";
  return OutputName(node.name(), port_.index);
}

int Operation::num_outputs() const {
  if (!ok()) return 0;
  const EagerObject* eager = home_.object();
  if (!eager) {
    int known = node_ >= body()->first_traced ? body()->shapes.NumOutputs(node_) : 0;
    if (known > 0) return known;
    return std::max(0, NumOutputs(body()->graph->node(node_)));
  }
  if (!eager->is_operation) return 1;
  return static_cast<int>(static_cast<const EagerOperation*>(eager)->outputs.size());
}

Value Operation::output(int i) const {
  const EagerObject* eager = home_.object();
  bool has_it = i >= 0 && i < num_outputs();
  if (!eager) return Value(body(), {has_it ? node_ : kNoNode, i});
  if (has_it && eager->is_operation) return static_cast<const EagerOperation*>(eager)->outputs[i];
  if (has_it) return Value(home_, {0, 0});
  return eager->is_operation || ok() ? Value(body(), {kNoNode, i}) : Value(home_, {kNoNode, i});
}

std::string Operation::name() const {
  if (!ok()) return {};
  const EagerObject* eager = home_.object();
  if (!eager) return body()->graph->node(node_).name().str();
  if (!eager->is_operation) return Value(home_, {0, 0}).name();
  return static_cast<const EagerOperation*>(eager)->made_by.op().str();
}

Node NodeOf(const Value& value) {
  if (const EagerTensor* eager = EagerOf(value)) return eager->made_by;
  return value.body()->graph->node(value.port().node);
}

SourceLocation LineOf(const Value& value) {
  if (const EagerTensor* eager = EagerOf(value)) return eager->where;
  return value.body()->LineOf(value.port().node);
}

Shape ContentOf(const Value& value) {
  const EagerTensor* eager = EagerOf(value);
  if (!eager) return value.body()->shapes.OfContent(value.port());
  if (!eager->tensor.HoldsObjects() || eager->tensor.num_elements() != 1) return Shape::Unknown();
  const Object* object = eager->tensor.data<ObjectRef>()->get();
  if (auto* variable = dynamic_cast<const StoredVariable*>(object)) return variable->shape();
  if (auto* list = dynamic_cast<const TensorList*>(object)) return list->element_shape;
  return Shape::Unknown();
}

std::optional<std::vector<int64_t>> IntegersOf(const Value& value) {
  if (!value.ok()) return std::nullopt;
  const EagerTensor* eager = EagerOf(value);
  if (!eager) {
    auto integers = value.body()->shapes.IntegersOf(value.port());
    return integers ? std::optional(integers->vec()) : std::nullopt;
  }
  const Tensor& tensor = eager->tensor;
  bool is_small = tensor.num_elements() <= ShapeMap::kMaxElements;
  if (!is_small || (tensor.dtype() != proto::DT_INT32 && tensor.dtype() != proto::DT_INT64 &&
                    tensor.dtype() != proto::DT_BOOL))
    return std::nullopt;
  std::vector<int64_t> integers(tensor.num_elements());
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = tensor.IntAt(static_cast<int64_t>(i));
  return integers;
}

std::string ForeignText(const Value& value, const TraceState& state) {
  const TraceState& other = *value.body()->state;
  if (&other == &state) return {};
  std::string text =
      " ('" + value.name() + "', made at " + TextOf(LineOf(value)) + ") belongs to another Tracer";
  if (state.current->is_eager == (EagerOf(value) != nullptr)) return text;
  return text + (EagerOf(value) ? ", which is eager, while this one traces"
                                : ", which traces, while this one is eager");
}

std::string TextOf(const SourceLocation& where) {
  return llvm::formatv("{0}:{1}", where.file, where.line).str();
}

std::string VersionsOf(bool has_functions) {
  proto::VersionDef versions;
  versions.set_producer(kProducerVersion);
  if (has_functions) versions.set_min_consumer(kMinConsumerVersion);
  return versions.SerializeAsString();
}

TraceBody::TraceBody(TraceState* state, TraceBody* outer, Graph* graph, Function* function)
    : state(state),
      outer(outer),
      graph(graph),
      function(function),
      first_traced(graph->end_id()),
      first_line(first_traced),
      shapes(grapnel::InferShapes(*graph, {.beside = outer ? &outer->shapes : nullptr})) {
  for (Node node : graph->nodes()) {
    // For a node "a/b", the name of the scope "a" is taken, too.
    std::string name = node.name().lower();
    for (size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1))
      names_in_use_.try_emplace(llvm::StringRef(name).take_front(end), NameUse{1, 0});
    names_in_use_.try_emplace(name, NameUse{1, 0});
  }
  if (!outer) return;
  scope = outer->scope;
  placing = outer->placing;
}

Value TraceBody::At(Port port) {
  if (!recording) return Value(this, port);
  auto found = recording->values.find({port.node, port.index});
  if (found == recording->values.end()) return Value(this, {});
  const EagerTensor& kept = *EagerOf(found->second);
  if (kept.frame == 0) return found->second;
  // A branch or loop body made this value, so it is visible only in there: makes a copy that the
  // gradient outside may read.
  auto* seen = new EagerTensor(kept.body, kept.tensor, kept.where);
  seen->made_by = kept.made_by;
  seen->recording = kept.recording;
  seen->recorded = kept.recorded;
  return Value(seen, {0, 0});
}

std::string TraceBody::UniqueName(llvm::StringRef name) {
  if (is_eager) return state->eager->UniqueName(name, scope);
  std::string full = scope.empty() ? name.str() : (scope + "/" + name).str();
  std::string key = llvm::StringRef(full).lower();
  NameUse& use = names_in_use_[key];  // the reference stays valid: the map holds pointers
  if (use.count++ == 0) return full;
  // Names are never released, so numbers that were found taken stay taken: continues after them.
  int number = std::max(use.count - 1, use.free_from);
  key += '_';
  const size_t base = key.size();
  do {
    key.resize(base);
    key += std::to_string(number++);
  } while (!names_in_use_.try_emplace(key, NameUse{1, 0}).second);
  use.free_from = number;
  return full.append(key, base - 1);
}

void TraceBody::OpenScope(llvm::StringRef name) {
  if (name.empty()) return;
  scope = name.back() == '/' ? name.drop_back().str() : UniqueName(name);
}

void TraceBody::AddControls(NodeId id, llvm::ArrayRef<Port> inputs) {
  llvm::SmallDenseSet<NodeId, 8> known;  // inputs of the node
  for (Port port : inputs) known.insert(port.node);
  for (const Controller& controller : controllers) {
    // `controller.made` has the nodes made in its C++ scope so far, which wait for
    // `controller.inputs`. A node that reads one of them waits for these inputs already.
    if (llvm::any_of(inputs, [&](Port port) { return controller.made.contains(port.node); }))
      continue;
    for (NodeId from : controller.inputs) {
      if (known.insert(from).second) graph->AppendControl(id, from);
    }
  }
  for (Controller& controller : controllers) controller.made.insert(id);
}

NodeId TraceBody::AddNode(llvm::StringRef op, llvm::StringRef name, llvm::ArrayRef<Port> inputs,
                          const SourceLocation& at) {
  const SourceLocation where = state->line.value_or(at);
  NodeId id = graph->AddNode(name, op);
  for (Port port : inputs) graph->AddInput(id, port);
  if (!placing.device.IsOpen()) graph->SetDevice(id, placing.device.ToString());
  if (!placing.colocation.empty()) graph->SetAttr(id, "_class", placing.colocation);
  if (!controllers.empty()) AddControls(id, inputs);
  if (!colocated_with.empty())
    graph->SetAttr(id, "_class", attr::Strings({"loc:@" + colocated_with}));
  if (lines.size() < first_traced) lines.resize(first_traced, imported_at);
  lines.resize(id, where);
  lines.push_back(where);
  calls.resize(id, state->call);
  calls.push_back(state->call);
  ++state->uid;
  return id;
}

void TraceBody::SetAttrs(NodeId id, llvm::ArrayRef<Attribute> attrs) {
  if (graph->AttrBytes(id) != llvm::StringRef()) {  // AddNode set _class
    for (const auto& [key, value] : attrs) graph->SetAttr(id, key, value);
  } else {
    ReplaceAttrs(id, attrs);
  }
}

void TraceBody::ReplaceAttrs(NodeId id, llvm::ArrayRef<Attribute> attrs) {
  std::string& bytes = state->attrs;
  bytes.clear();
  for (const auto& [key, value] : attrs) AppendAttr(&bytes, key, value);
  graph->ShareAttrs(id, state->KeepAttrs(bytes));
}

void TraceBody::MarkControl(NodeId id) {
  constexpr const char* kMark = "_has_manual_control_dependencies";
  std::optional<llvm::StringRef> given = graph->AttrBytes(id);
  if (!given || graph->HasAttrsOfSource(id)) return graph->SetAttr(id, kMark, attr::Bool(true));
  if (graph->node(id).FindAttr(kMark)) return;
  state->attrs = given->str();
  AppendAttr(&state->attrs, kMark, attr::Bool(true));
  graph->ShareAttrs(id, state->KeepAttrs(state->attrs));
}

NodeId TraceBody::AddPlaceholder(DataType dtype, const Shape& shape, llvm::StringRef name,
                                 bool keep_name, const SourceLocation& where) {
  // Arguments exist before any node runs, so they get no control inputs and no device.
  std::vector<Controller> none;
  Placing nowhere;
  controllers.swap(none);
  std::swap(placing, nowhere);
  NodeId id = AddNode("Placeholder", UniqueName(name), {}, where);
  controllers.swap(none);
  std::swap(placing, nowhere);
  std::string dtype_bytes = attr::Type(dtype), shape_bytes = attr::ShapeOf(shape), name_bytes;
  llvm::SmallVector<Attribute, 3> attrs = {{"dtype", dtype_bytes}, {"shape", shape_bytes}};
  if (keep_name) {
    name_bytes = attr::String(name);
    attrs.push_back({"_user_specified_name", name_bytes});
  }
  SetAttrs(id, attrs);
  InferShapes(id);
  return id;
}

static std::pair<const void*, std::pair<NodeId, int32_t>> CaptureKey(const Value& value) {
  const EagerObject* eager = value.home().object();
  if (eager) return {eager, {0, 0}};
  return {value.body(), {value.port().node, value.port().index}};
}

NodeId TraceBody::CaptureOf(const Value& value) const {
  auto found = captured_.find(CaptureKey(value));
  return found == captured_.end() ? kNoNode : found->second;
}

Port TraceBody::AddCapture(const Value& value, NodeId placeholder) {
  captures.push_back({value, placeholder});
  captured_.try_emplace(CaptureKey(value), placeholder);
  return {placeholder, 0};
}

Port TraceBody::Capture(const Value& value, const SourceLocation& where) {
  if (value.body() == this) return value.port();
  if (NodeId known = CaptureOf(value); known != kNoNode) return {known, 0};
  if (value.home().object()) {
    return AddCapture(value, AddPlaceholder(value.dtype(), value.shape(), "captured",
                                            /*keep_name=*/true, where));
  }
  Node source = value.body()->graph->node(value.port().node);
  if (copies_constants && source.op() == "Const") {
    auto [it, added] = constants_.try_emplace({value.body(), source.id()}, kNoNode);
    if (added) {
      it->second = AddNode("Const", UniqueName(source.name()), {}, where);
      graph->CopyAttrs(it->second, source);
      InferShapes(it->second);
    }
    return {it->second, 0};
  }
  llvm::StringRef name = source.name();
  NodeId id = AddPlaceholder(value.dtype(), value.shape(), name, /*keep_name=*/true, where);
  CopyContent(id, value);
  return AddCapture(value, id);
}

// Gives a captured resource the content shape that its variable has outside. A Placeholder has no
// attribute for that shape, but a VarHandleOp has, so the node is a VarHandleOp while its shapes
// are inferred.
void TraceBody::CopyContent(NodeId id, const Value& value) {
  if (value.dtype() != proto::DT_RESOURCE) return;
  Shape content = value.body()->shapes.OfContent(value.port());
  if (!content.known_rank()) return;
  std::string shape = graph->node(id).FindAttr("shape")->bytes().str();
  graph->SetOp(id, "VarHandleOp");
  graph->SetAttr(id, "shape", attr::ShapeOf(content));
  InferShapes(id);
  graph->SetOp(id, "Placeholder");
  graph->SetAttr(id, "shape", shape);
}

bool TraceBody::IsInside(const TraceBody* other) const {
  for (const TraceBody* body = this; body; body = body->outer) {
    if (body == other) return true;
  }
  return false;
}

bool TraceBody::HasStatefulNodes() const {
  for (Node node : graph->nodes()) {
    const OpInfo* info = DefinitionOf(node);
    if (info && info->is_stateful) return true;
  }
  return false;
}

void TraceBody::SetCallScope(NodeId id, llvm::StringRef path) {
  call_scopes_.resize(id, kNoString);
  call_scopes_.push_back(graph->module().strings.Intern(path));
}

namespace {

// True if the Python function for the node's op opens a name scope, judging by the node's name.
bool OpensScope(const Node& node) {
  llvm::StringRef name = node.name().rsplit('/').second;
  if (name.empty()) name = node.name();
  bool by_operator = llvm::isLower(name.front());  // x + y makes "add"
  return llvm::StringSwitch<bool>(node.op())
      .Cases("MatMul", "BatchMatMulV2", "BatchMatMulV3", "Cast", "Sigmoid", "Abs", "BiasAdd", true)
      .Cases("AddV2", "Pow", "Cumsum", "Cumprod", "Transpose", "ConjugateTranspose", "Conj", true)
      .Cases("Real", "Imag", "Complex", "Round", "DepthwiseConv2dNative", true)
      .Cases("Sub", "Mul", "RealDiv", "FloorDiv", "FloorMod", "LogicalAnd", "LogicalOr",
             by_operator)
      .Default(false);
}

}  // namespace

std::string TraceBody::CallScope(NodeId id) const {
  if (id < call_scopes_.size() && call_scopes_[id] != kNoString)
    return graph->module().strings.Get(call_scopes_[id]).str();
  Node node = graph->node(id);
  if (OpensScope(node)) return node.name().str();
  return node.name().contains('/') ? node.name().rsplit('/').first.str() : std::string();
}

TraceState::TraceState() : module(std::make_unique<Module>()) {
  // Set first, because shape inference depends on the GraphDef version.
  module->versions = VersionsOf(/*has_functions=*/false);
  bodies.push_back(std::make_unique<TraceBody>(this, nullptr, &module->main, nullptr));
  current = bodies.back().get();
}

TraceState::TraceState(std::unique_ptr<Module> imported, const SourceLocation& where)
    : module(std::move(imported)), is_imported(true) {
  proto::VersionDef versions;
  producer = versions.ParseFromString(module->versions) ? versions.producer() : 0;
  bodies.push_back(std::make_unique<TraceBody>(this, nullptr, &module->main, nullptr));
  current = bodies.back().get();
  current->imported_at = where;
  if (!where.is_known()) line = where;
}

TraceState::~TraceState() = default;

llvm::StringRef TraceState::KeepAttrs(llvm::StringRef bytes) {
  constexpr size_t kLongestShared = 256;
  if (bytes.size() > kLongestShared) return module->Keep(bytes);
  auto known = kept_attrs.find(bytes);
  return known != kept_attrs.end() ? *known : *kept_attrs.insert(module->Keep(bytes)).first;
}

TraceBody* TraceState::EnterExisting(Function* function) {
  bodies.push_back(std::make_unique<TraceBody>(this, current, &function->body, function));
  current = bodies.back().get();
  current->imported_at = current->outer->imported_at;
  body_of[current->graph] = current;
  return current;
}

TraceBody* TraceState::Enter(llvm::StringRef name) {
  Function* function = module->AddFunction(name);
  bodies.push_back(std::make_unique<TraceBody>(this, current, &function->body, function));
  current = bodies.back().get();
  body_of[current->graph] = current;
  return current;
}

std::string TraceState::FunctionName(llvm::StringRef scope, llvm::StringRef role) {
  std::string name = (scope + "_" + role + "_" + llvm::Twine(uid++)).str();
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

void TraceState::Report(const SourceLocation& where, const std::string& text) {
  const SourceLocation& at = line ? *line : where;
  errors.push_back((at.is_known() ? TextOf(at) + ": " : "") + text);
}

}  // namespace grapnel
