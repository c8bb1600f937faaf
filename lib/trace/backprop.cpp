// Follows TensorFlow's tape (tensorflow/c/eager/tape.h) step by step, because the order in which it
// visits ops determines the order of the new nodes. An op enters a queue when all its readers have
// been visited. The gradients of a tensor are collected in a list and added up when the op that
// made the tensor is visited.
#include "lib/trace/backprop.h"

#include <deque>

#include "lib/ir/node_types.h"
#include "lib/trace/eager_runner.h"
#include "lib/trace/function_gradient.h"
#include "llvm/ADT/ScopeExit.h"

namespace grapnel {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
// Gradients of one tensor are added up immediately if there are more than kManyGradients and they
// take more than kManyBytes.
constexpr size_t kManyGradients = 4;
constexpr int64_t kManyBytes = 128 << 20;

// The state of an output tensor during the backward pass.
struct Slot {
  uint32_t uses = 0;  // reads by unvisited nodes
  bool is_source = false;
  llvm::SmallVector<Gradient, 1> gradients;
};

class Backpropagation {
 public:
  Backpropagation(TraceState& state, const BackpropRequest& request)
      : state_(state),
        request_(request),
        body_(*request.forward),
        graph_(*body_.graph),
        end_(std::min(request.end, graph_.end_id())),
        marks_(body_.gradient_marks ? std::move(body_.gradient_marks)
                                    : std::make_unique<TraceBody::GradientMarks>()),
        recorded_(marks_->recorded),
        pending_(marks_->pending),
        slot_of_(marks_->slot_of),
        missing_(marks_->missing) {
    recorded_.resize(graph_.end_id(), false);
    pending_.resize(graph_.end_id(), false);
    slot_of_.resize(graph_.end_id(), kNone);
    missing_.resize(graph_.end_id(), 0);
    for (Port stop : request.stops) stops_.insert({stop.node, stop.index});
  }
  ~Backpropagation() {
    for (NodeId id : all_recorded_) recorded_[id] = false;
    for (NodeId id : order_) pending_[id] = false;
    for (NodeId id : with_slots_) {
      slot_of_[id] = kNone;
      missing_[id] = 0;
    }
    body_.gradient_marks = std::move(marks_);
  }
  Backpropagation(const Backpropagation&) = delete;

  std::vector<Gradient> Run() {
    for (Port source : request_.sources) SlotOf(source).is_source = true;
    Record();
    Prepare();
    Seed();
    Visit();
    return Collect();
  }

 private:
  Slot& SlotOf(Port port) {
    uint32_t& first = slot_of_[port.node];
    if (first == kNone) {
      first = static_cast<uint32_t>(slots_.size());
      with_slots_.push_back(port.node);
      slots_.resize(slots_.size() + std::max(1, NumOutputs(port.node)));
    }
    return slots_[first + port.index];
  }
  bool HasSlot(Port port) const { return slot_of_[port.node] != kNone; }
  // Counts again if there are very many outputs, because shape inference limits the count for nodes
  // that were read from a file.
  int NumOutputs(NodeId id) const {
    constexpr int kMany = 1 << 14;
    int count = std::max(1, body_.shapes.NumOutputs(id));
    return count < kMany ? count : std::max(count, grapnel::NumOutputs(graph_.node(id)));
  }
  bool IsStopped(Port port) const {
    return !stops_.empty() && stops_.contains({port.node, port.index});
  }

  // --- Forward: find the nodes that depend on watched tensors.

  void Record() {
    for (const Watched& watched : request_.watched) {
      tracked_.insert({watched.port.node, watched.port.index});
      RecordReaders(watched.port.node, watched.port.index, watched.since);
    }
    while (!stack_.empty()) {
      NodeId id = stack_.back();
      stack_.pop_back();
      RecordReaders(id, kAllPorts, 0);
    }
  }

  static constexpr int32_t kAllPorts = -2;
  void RecordReaders(NodeId id, int32_t port, NodeId since) {
    for (const Use& use : graph_.node(id).uses()) {
      if (use.node >= end_ || use.node < std::max(since, request_.begin)) continue;
      if (recorded_[use.node]) continue;
      Node reader = graph_.node(use.node);
      if (use.slot >= static_cast<uint32_t>(reader.num_inputs())) continue;
      Port read = reader.input(static_cast<int>(use.slot));
      if ((port != kAllPorts && read.index != port) || IsStopped(read)) continue;
      if (!IsTrainable(body_.shapes.TypeOf(read)) || reader.op() == "StopGradient") continue;
      recorded_[use.node] = true;
      all_recorded_.push_back(use.node);
      stack_.push_back(use.node);
    }
  }

  bool IsRecorded(Port port) const { return recorded_[port.node] && !IsStopped(port); }
  // True if the gradient of the tensor at `port` is needed.
  bool IsTracked(Port port) const {
    return IsRecorded(port) || tracked_.contains({port.node, port.index}) ||
           (HasSlot(port) && slots_[slot_of_[port.node] + port.index].is_source);
  }

  // --- Backward, without gradients: count how often each tensor is read by nodes that will be
  // visited.

  void Prepare() {
    std::vector<Port> tensors(request_.targets);
    while (!tensors.empty()) {
      Port tensor = tensors.back();
      tensors.pop_back();
      if (!IsRecorded(tensor) || pending_[tensor.node]) continue;
      pending_[tensor.node] = true;
      order_.push_back(tensor.node);
      Node node = graph_.node(tensor.node);
      for (int i = 0, count = node.num_inputs(); i < count; ++i) {
        Port read = node.input(i);
        if (!IsTracked(read)) continue;
        Slot& slot = SlotOf(read);
        if (slot.uses++ != 0) continue;
        if (IsRecorded(read)) ++missing_[read.node];
        if (!slot.is_source) tensors.push_back(read);
      }
    }
  }

  void Seed() {
    for (size_t i = 0; i < request_.targets.size(); ++i) {
      Port port = request_.targets[i];
      bool has_seed = i < request_.seeds.size() && request_.seeds[i].exists();
      if (has_seed) {
        SlotOf(port).gradients.push_back(request_.seeds[i]);
      } else if (IsTracked(port)) {
        Gradient ones = OnesFor(body_.At(port));
        if (ones.exists()) SlotOf(port).gradients.push_back(ones);
      }
    }
  }

  // --- Backward.

  void Visit() {
    // With several targets, TensorFlow visits first the one that comes first in its hash table;
    // here the last target comes first.
    for (NodeId id : order_) {
      if (missing_[id] == 0) ready_.push_back(id);
    }
    while (!ready_.empty()) {
      NodeId id = ready_.front();
      ready_.pop_front();
      if (!pending_[id]) continue;
      pending_[id] = false;
      VisitNode(graph_.node(id));
    }
  }

  void VisitNode(const Node& node) {
    const GradientEntry* rule = nullptr;
    const int count = node.num_inputs();  // a rule may add inputs to the node
    std::vector<Gradient> outputs = TakeOutputs(node, &rule);
    InputGradients inputs;
    if (!outputs.empty()) inputs = CallRule(node, rule, std::move(outputs));
    for (int i = 0; i < count; ++i) {
      Port read = node.input(i);
      if (!IsTracked(read)) continue;
      Slot& slot = SlotOf(read);
      if (static_cast<size_t>(i) < inputs.size() && inputs[i].exists()) {
        slot.gradients.push_back(inputs[i]);
        AddUpIfMany(slot);
      }
      if (slot.uses == 0 || --slot.uses != 0) continue;
      if (IsRecorded(read) && --missing_[read.node] == 0) ready_.push_back(read.node);
    }
  }

  // Returns the summed gradients of the node's outputs, with zeros where the rule needs a gradient
  // and there is none; empty if no output has a gradient.
  std::vector<Gradient> TakeOutputs(const Node& node, const GradientEntry** rule) {
    int count = NumOutputs(node.id());
    std::vector<Gradient> outputs(count);
    bool has_any = false;
    for (int i = 0; i < count; ++i) {
      Port port{node.id(), i};
      if (!HasSlot(port)) break;
      Slot& slot = SlotOf(port);
      if (slot.gradients.empty()) continue;
      has_any = true;
      outputs[i] = AddUp(slot.gradients);
      slot.gradients.clear();
      if (slot.is_source) slot.gradients.push_back(outputs[i]);
    }
    if (!has_any) return {};
    *rule = RuleOf(node);
    uint64_t optional = *rule ? (*rule)->optional_outputs : 0;
    for (int i = 0; i < count; ++i) {
      bool may_miss = i < 64 && (optional >> i & 1) != 0;
      if (outputs[i].exists() || may_miss || !NeedsZeros(*rule)) continue;
      AtLine line(state_, body_.LineOf(node.id()));
      outputs[i] = ZerosFor(state_, body_.At(port(node, i)));
    }
    return outputs;
  }

  static Port port(const Node& node, int i) { return {node.id(), i}; }
  static bool NeedsZeros(const GradientEntry* rule) { return rule && rule->fn; }

  const GradientEntry* RuleOf(const Node& node) {
    auto [it, added] = rules_.try_emplace(node.op_id(), nullptr);
    if (added) it->second = FindGradient(node.op());
    if (added && !it->second && state_.module->FindFunction(node.op()))
      it->second = FindGradient("(function)");
    return it->second;
  }

  InputGradients CallRule(const Node& node, const GradientEntry* rule,
                          std::vector<Gradient> outputs) {
    AtLine line(state_, body_.LineOf(node.id()));
    auto custom = state_.custom_gradients.find({&body_, node.id()});
    if (custom != state_.custom_gradients.end()) return CallCustom(node, custom->second, outputs);
    if (rule && !rule->fn && !rule->refusal) return {};
    uint64_t unneeded = 0;
    for (int i = 0, count = std::min(64, node.num_inputs()); i < count; ++i) {
      if (!IsTracked(node.input(i))) unneeded |= uint64_t{1} << i;
    }
    GradientContext context(state_, body_, node, std::move(outputs), unneeded);
    if (const FunctionGradient* call = RecordedCall(node))
      return state_.eager->GradientOfCall(context, *call);
    if (rule && rule->refusal) return context.Fail(rule->refusal);
    if (!rule || IsPythonGradient(node)) return FailWithoutRule(context, node);
    std::string scope = body_.CallScope(node.id());
    InScope in_scope(*state_.current, scope.empty() ? "gradient_tape" : "gradient_tape/" + scope);
    return rule->fn(context);
  }

  // Returns the gradient of a call that an eager program made while a tape recorded, so that the
  // call already returned the tensors that its gradient needs; null for other nodes.
  const FunctionGradient* RecordedCall(const Node& node) const {
    return body_.recording ? body_.recording->calls.lookup(node.id()) : nullptr;
  }

  static bool IsPythonGradient(const Node& node) {
    auto type = node.FindAttr("_gradient_op_type");
    return type && type->AsString() && type->AsString()->take_front(14) == "CustomGradient";
  }

  InputGradients FailWithoutRule(GradientContext& context, const Node& node) {
    if (IsPythonGradient(node))
      return context.Fail("its gradient is a Python function, which a graph cannot contain");
    return context.Fail(FindOp(node.op())
                            ? "it has no gradient; apply StopGradient() to its inputs to treat its "
                              "outputs as constants"
                            : "grapnel has no gradient for this op");
  }

  InputGradients CallCustom(const Node& node, const TraceState::CustomGradient& custom,
                            llvm::ArrayRef<Gradient> outputs) {
    Values dys;
    const int results = custom.num_results;
    for (int i = 0; i < results; ++i) {
      dys.push_back(outputs[i].exists() ? ToDense(state_, outputs[i])
                                        : ZerosFor(state_, body_.At(port(node, i))).values);
    }
    Values made = custom.fn(dys);
    InputGradients inputs(results);
    if (static_cast<int>(made.size()) != node.num_inputs() - results) {
      state_.Report(
          body_.LineOf(node.id()),
          llvm::formatv("custom gradient: the function returned {0} gradients for {1} inputs",
                        made.size(), node.num_inputs() - results)
              .str());
      return {};
    }
    for (const Value& value : made) inputs.push_back(value.body() ? Gradient(value) : Gradient());
    return inputs;
  }

  // --- Sums.

  void AddUpIfMany(Slot& slot) {
    if (slot.gradients.size() <= kManyGradients) return;
    const Value& first = slot.gradients[0].values;
    int64_t elements = first.shape().NumElements().value_or(0);
    if (elements * static_cast<int64_t>(slot.gradients.size()) * 4 <= kManyBytes) return;
    Gradient sum = AddUp(slot.gradients);
    slot.gradients.assign(1, sum);
  }

  Gradient AddUp(llvm::ArrayRef<Gradient> gradients) {
    if (gradients.size() == 1) return gradients[0];
    bool all_slices = llvm::all_of(gradients, [](const Gradient& g) { return g.is_slices(); });
    return all_slices ? JoinSlices(gradients) : AddDense(gradients);
  }

  Gradient AddDense(llvm::ArrayRef<Gradient> gradients) {
    ScopeGuard scope(state_.current, "AddN");
    Values values;
    for (size_t i = 0; i < gradients.size(); ++i) {
      values.push_back(ToDense(state_, gradients[i], "inputs_" + std::to_string(i)));
      if (!values.back().ok()) return values.back();
    }
    Operand operands[] = {Operand(values)};
    return MakeOp(state_, {"AddN", operands, {}, {}, /*exact=*/true}, SourceLocation());
  }

  Gradient JoinSlices(llvm::ArrayRef<Gradient> gradients) {
    GradientContext g(state_, body_, Node(), {}, 0);
    auto is_narrow = [](const Gradient& gradient) {
      return gradient.indices.dtype() == proto::DT_INT32;
    };
    bool mixed = !llvm::all_of(gradients, is_narrow) && llvm::any_of(gradients, is_narrow);
    std::vector<Operand> values, indices;
    for (const Gradient& gradient : gradients) {
      values.push_back(gradient.values);
      indices.push_back(mixed ? Cast(gradient.indices, proto::DT_INT64) : gradient.indices);
    }
    Value all_values = g.Concat(values, 0);
    Value all_indices = g.Concat(indices, 0);
    return Gradient(all_values, all_indices, gradients[0].dense_shape);
  }

  std::vector<Gradient> Collect() {
    std::vector<Gradient> results;
    for (Port source : request_.sources) {
      Slot& slot = SlotOf(source);
      if (slot.gradients.size() > 1) {
        Gradient sum = AddUp(slot.gradients);
        slot.gradients.assign(1, sum);
      }
      results.push_back(slot.gradients.empty() ? Gradient() : slot.gradients[0]);
    }
    return results;
  }

  Gradient OnesFor(const Value& value) {
    if (value.dtype() == proto::DT_STRING) return {};
    GradientContext g(state_, body_, Node(), {}, 0);
    Shape shape = value.shape();
    if (shape.IsFullyKnown()) return g.Ones(shape.dims(), value.dtype());
    return g.OnesLike(value);
  }

  // While an object of this class lives, new nodes have the source line `where`.
  class AtLine {
   public:
    AtLine(TraceState& state, const SourceLocation& where) : state_(state), before_(state.line) {
      state.line = where;
    }
    ~AtLine() { state_.line = before_; }
    AtLine(const AtLine&) = delete;

   private:
    TraceState& state_;
    std::optional<SourceLocation> before_;
  };

  // While an object of this class lives, `scope` is the open name scope; it is not appended to the
  // scope that was open.
  class InScope {
   public:
    InScope(TraceBody& body, std::string scope) : body_(body), before_(std::move(body.scope)) {
      body.scope = std::move(scope);
    }
    ~InScope() { body_.scope = std::move(before_); }
    InScope(const InScope&) = delete;

   private:
    TraceBody& body_;
    std::string before_;
  };

  TraceState& state_;
  const BackpropRequest& request_;
  TraceBody& body_;
  Graph& graph_;
  const NodeId end_;
  std::unique_ptr<TraceBody::GradientMarks> marks_;
  std::vector<bool>& recorded_;  // the marks, by node
  std::vector<bool>& pending_;
  std::vector<uint32_t>& slot_of_;
  std::vector<uint32_t>& missing_;
  std::vector<NodeId> all_recorded_, with_slots_;  // nodes whose marks are set
  std::vector<Slot> slots_;
  std::vector<NodeId> order_;  // nodes to visit, in the order found from the targets
  std::vector<NodeId> stack_;  // for the forward walk
  std::deque<NodeId> ready_;   // for the backward walk
  llvm::DenseSet<std::pair<NodeId, int32_t>> tracked_, stops_;
  llvm::DenseMap<StringId, const GradientEntry*> rules_;
};

}  // namespace

bool IsTrainable(DataType dtype) {
  switch (BaseType(dtype)) {
    case proto::DT_HALF:
    case proto::DT_BFLOAT16:
    case proto::DT_FLOAT:
    case proto::DT_DOUBLE:
    case proto::DT_COMPLEX64:
    case proto::DT_COMPLEX128:
    case proto::DT_RESOURCE:
    case proto::DT_VARIANT:
      return true;
    default:
      return false;
  }
}

Gradient ZerosFor(TraceState& state, const Value& value) {
  DataType dtype = value.dtype();
  if (dtype == proto::DT_STRING || dtype == proto::DT_RESOURCE) return {};
  GradientContext g(state, *value.body(), Node(), {}, 0);
  Shape shape = value.shape();
  if (shape.IsFullyKnown() && dtype != proto::DT_VARIANT) return g.Zeros(shape.dims(), dtype);
  return g.ZerosLike(value);
}

Gradient ZerosOfVariable(TraceState& state, const Value& handle) {
  Node variable = NodeOf(handle);
  if (!variable || variable.op() != "VarHandleOp") return {};
  DataType dtype = variable.GetType("dtype");
  GradientContext g(state, *handle.body(), Node(), {}, 0);
  Shape shape = ContentOf(handle);
  if (shape.IsFullyKnown()) return g.Zeros(shape.dims(), dtype, "zeros_like");
  return g.Zeros(g.Op("VariableShape", {handle}), dtype);
}

std::vector<Gradient> Backprop(TraceState& state, const BackpropRequest& request) {
  if (state.gradient_depth++ == 0) ++state.gradient_calls;
  auto leave = llvm::make_scope_exit([&] { --state.gradient_depth; });
  return Backpropagation(state, request).Run();
}

}  // namespace grapnel
