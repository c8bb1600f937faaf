// From a graph, feeds and fetches to a plan.
#include <map>

#include "lib/exec/executor_impl.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

// Makes a plan out of a graph, feeds and fetches.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const ExecutorOptions& options)
      : graph_(graph), impl_(new Executor::Impl) {
    impl_->graph = &graph;
    impl_->options = options;
    impl_->allocator =
        MakePoolAllocator(HeapAllocator(), options.profiler ? &options.profiler->memory : nullptr);
    if (options.session) return;
    impl_->own_session = std::make_unique<Session>();
    impl_->options.session = impl_->own_session.get();
  }

  Expected<std::unique_ptr<Executor>> Build(llvm::ArrayRef<Port> feeds,
                                            llvm::ArrayRef<Port> fetches,
                                            llvm::ArrayRef<NodeId> targets) {
    for (Port feed : feeds) fed_.insert(Key(feed));
    needed_.assign(graph_.end_id(), false);
    llvm::SmallVector<NodeId, 32> todo;
    auto need = [&](NodeId id) {
      if (!needed_[id]) {
        needed_[id] = true;
        todo.push_back(id);
      }
    };
    for (Port fetch : fetches) {
      if (!fed_.contains(Key(fetch))) need(fetch.node);
    }
    for (NodeId target : targets) need(target);
    const auto senders = Executor::Impl::SendersIn(graph_);
    while (!todo.empty()) {
      NodeId id = todo.pop_back_val();
      if (auto sender = senders.find(id); sender != senders.end()) need(sender->second);
      for (Port port : graph_.node(id).inputs()) {
        if (port.node == kNoNode)
          return MakeError("node '{0}': an input is missing in the file", graph_.node(id).name());
        if (!fed_.contains(Key(port)) && !IsFedPlaceholder(port)) need(port.node);
      }
    }
    for (Port feed : feeds) {
      Slot slot = NewSlot();
      slot_of_[Key(feed)] = slot;
      Node node = graph_.node(feed.node);
      DataType type = node.op() == "_Arg" ? proto::DT_INVALID : TypeOfPort(graph_, feed);
      impl_->feeds.push_back({slot, node, BaseType(type), ExpectedShape(node)});
    }
    for (Node node : graph_.nodes()) {
      FlowKind kind = needed_[node.id()] ? FlowKindOf(node) : FlowKind::kKernel;
      has_flow_ |= kind != FlowKind::kKernel && kind != FlowKind::kTrigger;
    }
    has_flow_ |= impl_->options.is_part;
    for (Node node : graph_.nodes())
      has_references_ |= has_flow_ && needed_[node.id()] && PutsReferences(node);
    impl_->has_references = has_references_;
    RETURN_IF_ERROR(OpenLanes());
    for (NodeId id : TopologicalOrder(graph_)) {
      if (!needed_[id]) continue;
      RETURN_IF_ERROR(AddNode(graph_.node(id)));
      KeepOrder(graph_.node(id));
    }
    for (Port fetch : fetches) {
      auto it = slot_of_.find(Key(fetch));
      if (it == slot_of_.end()) {
        int outputs = NumOutputs(graph_.node(fetch.node));
        if (outputs == 0) {
          impl_->fetch_slots.push_back(kNoSlot);
          continue;
        }
        if (missing_.empty()) {
          return MakeError("fetch '{0}:{1}': the node has {2} outputs",
                           graph_.node(fetch.node).name(), fetch.index, outputs);
        }
        continue;
      }
      ASSIGN_OR_RETURN(Slot slot, InMemoryOf(nullptr, it->second, TypeOfPort(graph_, fetch),
                                             graph_.node(fetch.node)));
      impl_->fetch_slots.push_back(slot);
    }
    if (!missing_.empty()) return Missing();
    if (has_flow_) {
      RETURN_IF_ERROR(LinkFrames());
    } else {
      Link();
    }
    impl_->LinkArrivals();
    impl_->values = std::make_unique<Tensor[]>(impl_->slots.size());
    LendServices();
    return std::unique_ptr<Executor>(new Executor(std::move(impl_)));
  }

 private:
  static uint64_t Key(Port port) {
    return static_cast<uint64_t>(port.node) << 32 | static_cast<uint32_t>(port.index);
  }

  static bool IsPlaceholder(const Node& node) {
    return node.op() == "Placeholder" || node.op() == "PlaceholderV2" ||
           node.op() == "PlaceholderWithDefault" || node.op() == "_Arg";
  }
  // Who waits for a placeholder that is fed waits for nothing.
  bool IsFedPlaceholder(Port port) const {
    return port.IsControl() && IsPlaceholder(graph_.node(port.node)) &&
           fed_.contains(Key({port.node, 0}));
  }

  static bool IsIdentity(const Node& node) {
    return llvm::StringSwitch<bool>(node.op())
               .Cases("Identity", "StopGradient", "PreventGradient", "Snapshot", true)
               .Default(false) &&
           node.num_inputs() == 1;
  }
  static bool PassesItsInput(const Node& node) {
    return IsIdentity(node) && node.num_controls() == 0;
  }
  // Whether it puts out a variable that stands for its value (VariableV2, RefEnter, ...).
  static bool PutsReferences(const Node& node) {
    const OpInfo* info = DefinitionOf(node);
    if (!info) return false;
    auto types = TypesOf(node, *info);
    if (!types) {
      llvm::consumeError(types.takeError());
      return false;
    }
    return llvm::any_of(types->outputs, IsRefType);
  }

  static std::optional<Shape> ExpectedShape(const Node& node) {
    if (node.op() != "Placeholder") return std::nullopt;
    std::optional<AttrView> attr = node.FindAttr("shape");
    std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
    // A shape of no dimensions is how old graphs say 'unknown'.
    if (shape && (!shape->known_rank() || shape->rank() == 0)) return std::nullopt;
    return shape;
  }

  Slot NewSlot() {
    impl_->slots.emplace_back();
    return impl_->slots.size() - 1;
  }

  Error AddNode(const Node& node) {
    bool hooked = impl_->options.hook && impl_->options.hook->Wants(node);
    llvm::StringRef op = node.op();
    if (op == "Const" || op == "HostConst") {
      ASSIGN_OR_RETURN(Literal literal, Literal::FromConst(node));
      auto tensor = Tensor::FromLiteral(literal);
      if (!tensor) return Annotate("node '" + node.name() + "'", tensor.takeError());
      // In a branch or loop that does not run a constant is dead like any other node.
      if (has_flow_ && node.num_controls() > 0) {
        PlanNode plan;
        plan.node = node;
        if (!hooked) {
          plan.flow = FlowKind::kConstant;
          plan.constant = std::move(*tensor);
          plan.output_types.push_back(plan.constant.dtype());
          AddPlan(std::move(plan));
          return Error::success();
        }
        plan.hooked = hooked;
        plan.is_constant = true;
        plan.output_types.push_back(tensor->dtype());
        plan.kernel = [value = std::move(*tensor)](KernelContext& context) {
          context.SetOutput(0, value);
          return Error::success();
        };
        AddPlan(std::move(plan));
        return Error::success();
      }
      AddConstant(node, std::move(*tensor), hooked);
      return Error::success();
    }
    if (op == "Placeholder" || op == "PlaceholderV2" || op == "_Arg") {
      missing_.push_back(("'" + node.name() + "' (" + op + ") needs a value: feed it").str());
      return Error::success();
    }
    PlanNode plan;
    plan.node = node;
    plan.hooked = hooked;
    const OpInfo* info = DefinitionOf(node);
    llvm::SmallVector<DataType, 4> input_types;
    if (info) {
      auto types = TypesOf(node, *info);
      if (!types) return Annotate("node '" + node.name() + "'", types.takeError());
      for (DataType type : types->outputs) {
        plan.output_types.push_back(BaseType(type));
        plan.puts_references |= IsRefType(type);
      }
      input_types = types->inputs;
    }
    FlowKind flow = has_flow_ ? FlowKindOf(node) : FlowKind::kKernel;
    if (flow == FlowKind::kKernel && has_flow_ && !hooked && !has_references_ && IsIdentity(node))
      flow = FlowKind::kPass;
    plan.flow = flow;
    if (flow != FlowKind::kKernel && flow != FlowKind::kTrigger && flow != FlowKind::kCollective) {
      AddPlan(std::move(plan));  // inputs: Link
      return Error::success();
    }
    if (!hooked && !has_flow_ && PassesItsInput(node)) {
      // Its readers read the input instead, and who waits for it waits for the input's maker.
      Port input = node.input(0);
      auto it = slot_of_.find(Key(input));
      if (it != slot_of_.end() && !impl_->slots[it->second].is_reference) {
        Slot slot = it->second;
        slot_of_[Key({node.id(), 0})] = slot;
        auto maker = plan_of_.find(input.node);
        if (maker != plan_of_.end()) plan_of_[node.id()] = maker->second;
        return Error::success();
      }
    }
    llvm::SmallVector<const Tensor*, 4> constants;
    bool all_constant = node.num_inputs() > 0 && node.num_controls() == 0;
    for (int i = 0; i < node.num_inputs(); ++i) {
      auto it = slot_of_.find(Key(node.input(i)));
      if (it == slot_of_.end()) {
        // Its maker has no kernel: that is what the error will say. Or it has no such output.
        Node maker = graph_.node(node.input(i).node);
        if (missing_.empty()) {
          return MakeError("node '{0}': input {1} reads output {2} of '{3}', which it has not",
                           node.name(), i, node.input(i).index, maker.name());
        }
        return CheckKernel(node);
      }
      plan.inputs.push_back(it->second);
      const Tensor& constant = impl_->slots[it->second].constant;
      constants.push_back(constant ? &constant : nullptr);
      all_constant &= constant.operator bool();
    }
    input_types.resize(node.num_inputs(), proto::DT_INVALID);
    for (DataType type : input_types)
      plan.input_types.push_back(IsRefType(type) ? proto::DT_INVALID : type);
    bool once = all_constant && !hooked && info && !info->is_stateful;
    if (!once && flow == FlowKind::kKernel) {
      ASSIGN_OR_RETURN(bool placed, PlaceOnDevice(plan, input_types, constants));
      if (placed) return Error::success();
    }
    auto def = KernelRegistry::Get().Find(node, "CPU");
    if (!def) {
      missing_.push_back(("'" + node.name() + "': " + TextOf(def.takeError())).str());
      return Error::success();
    }
    KernelSetup setup(node, input_types, plan.output_types, constants);
    auto kernel = (*def)->factory(setup);
    if (!kernel) return Annotate("node '" + node.name() + "' (" + op + ")", kernel.takeError());
    plan.kernel = std::move(*kernel);
    plan.cost = (*def)->cost;
    if (once && ComputeOnce(plan)) return Error::success();
    RETURN_IF_ERROR(BringInputs(plan, nullptr));
    ++impl_->spread.on_host;
    AddPlan(std::move(plan));
    return Error::success();
  }

  Error OpenLanes() {
    Device* device = impl_->options.device;
    if (IsHost(device)) return Error::success();
    if (has_flow_) {
      impl_->spread.note =
          "a graph with Switch, Merge or loops of single nodes runs on the CPU (optimising it "
          "keeps them functions, whose bodies run on the device)";
      return Error::success();
    }
    ASSIGN_OR_RETURN(auto lane, DeviceLane::Open(*device));
    impl_->lanes.push_back(std::move(lane));
    return Error::success();
  }

  // Adds the node with a kernel of the device, if it has one for these dtypes and attributes: a
  // kernel's factory may say no, and the CPU takes the node.
  Expected<bool> PlaceOnDevice(PlanNode& plan, llvm::ArrayRef<DataType> input_types,
                               llvm::ArrayRef<const Tensor*> constants) {
    for (const auto& lane : impl_->lanes) {
      if (!AllowsDevice(plan.node, *lane->device)) continue;
      auto def = KernelRegistry::Get().Find(plan.node, lane->device->kind());
      if (!def) {
        llvm::consumeError(def.takeError());
        continue;
      }
      KernelSetup setup(plan.node, input_types, plan.output_types, constants, lane->device);
      auto kernel = (*def)->factory(setup);
      if (!kernel) {
        llvm::consumeError(kernel.takeError());
        continue;
      }
      plan.kernel = std::move(*kernel);
      plan.cost = (*def)->cost;
      plan.lane = lane.get();
      plan.host_outputs.assign((*def)->host_outputs.begin(), (*def)->host_outputs.end());
      RETURN_IF_ERROR(BringInputs(plan, *def));
      ++impl_->spread.on_device;
      AddPlan(std::move(plan));
      return true;
    }
    return false;
  }

  // The inputs of a node, in the memory that its kernel reads: `def` says which if it is not the
  // CPU's.
  Error BringInputs(PlanNode& plan, const KernelDef* def) {
    if (impl_->lanes.empty()) return Error::success();
    int count = static_cast<int>(plan.inputs.size());
    for (int i = 0; i < count; ++i) {
      DeviceLane* wanted = def && !def->IsHostInput(i, count) ? plan.lane : nullptr;
      Node maker = graph_.node(plan.node.input(i).node);
      ASSIGN_OR_RETURN(plan.inputs[i],
                       InMemoryOf(wanted, plan.inputs[i], plan.input_types[i], maker));
    }
    return Error::success();
  }

  // The slot itself if it is in the memory of `to` (null: the host's), else a copy of it: one for
  // all readers there, made once and for all of a constant.
  Expected<Slot> InMemoryOf(DeviceLane* to, Slot slot, DataType type, const Node& maker) {
    DeviceLane* from = impl_->slots[slot].lane;
    if (from == to) return slot;
    if (from && to) {
      ASSIGN_OR_RETURN(slot, InMemoryOf(nullptr, slot, type, maker));
      from = nullptr;
    }
    auto [it, is_new] = copies_.try_emplace({slot, to}, impl_->slots.size());
    if (!is_new) return it->second;
    Slot copy = it->second;
    if (const Tensor& constant = impl_->slots[slot].constant) {
      auto copied = CopyTensor(constant, to->device, *to->stream, *to->allocator);
      if (!copied) return Annotate("node '" + maker.name() + "'", copied.takeError());
      impl_->spread.constant_bytes += copied->byte_size();
      NewSlot();
      impl_->slots[copy].constant = std::move(*copied);
    } else {
      PlanNode plan;
      plan.node = maker;
      plan.inputs.push_back(slot);
      plan.input_types.push_back(type);
      plan.output_types.push_back(type);
      ASSIGN_OR_RETURN(plan.kernel, MakeCopyKernel(from, to));
      ++impl_->spread.copies;
      AddToPlan(std::move(plan));
    }
    impl_->slots[copy].lane = to;
    return copy;
  }

  // A node that is no plan node (a constant, or computed already) may stand between two that are:
  // who reads it waits for what it waits for.
  void KeepOrder(const Node& node) {
    llvm::SmallVector<uint32_t, 4> waits;
    auto inherit = [&](NodeId from) {
      auto it = passed_on_.find(from);
      if (it != passed_on_.end()) waits.append(it->second.begin(), it->second.end());
    };
    auto mine = plan_of_.find(node.id());
    bool is_plan = mine != plan_of_.end() && impl_->nodes[mine->second].node.id() == node.id();
    for (int i = 0; i < node.num_inputs(); ++i) inherit(node.input(i).node);
    for (int i = 0; i < node.num_controls(); ++i) {
      auto it = plan_of_.find(node.control(i).id());
      if (it == plan_of_.end())
        inherit(node.control(i).id());
      else if (!is_plan)
        waits.push_back(it->second);
    }
    if (waits.empty()) return;
    llvm::sort(waits);
    waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    (is_plan ? waits_too_ : passed_on_)[node.id()] = std::move(waits);
  }

  void AddPlan(PlanNode plan) {
    NodeId id = plan.node.id();
    Slot first = impl_->slots.size();
    for (size_t i = 0; i < plan.output_types.size(); ++i)
      slot_of_[Key({id, static_cast<int32_t>(i)})] = first + i;
    plan_of_[id] = impl_->nodes.size();
    AddToPlan(std::move(plan));
  }

  void AddToPlan(PlanNode plan) {
    plan.first_output = impl_->slots.size();
    int count = static_cast<int>(plan.output_types.size());
    for (int i = 0; i < count; ++i) {
      SlotInfo& info = impl_->slots[NewSlot()];
      info.is_reference = plan.puts_references;
      if (!KernelDef::Holds(plan.host_outputs, i, count)) info.lane = plan.lane;
    }
    maker_.resize(impl_->slots.size(), -1);
    for (int i = 0; i < count; ++i) maker_[plan.first_output + i] = impl_->nodes.size();
    impl_->nodes.push_back(std::move(plan));
  }

  // So that every op without a kernel is listed, not only those whose inputs could be made.
  Error CheckKernel(const Node& node) {
    auto def = KernelRegistry::Get().Find(node, "CPU");
    if (!def) missing_.push_back(("'" + node.name() + "': " + TextOf(def.takeError())).str());
    return Error::success();
  }

  void AddConstant(const Node& node, Tensor tensor, bool hooked) {
    Slot slot = NewSlot();
    slot_of_[Key({node.id(), 0})] = slot;
    if (hooked) impl_->hooked_constants.emplace_back(node, slot);
    impl_->slots[slot].constant = std::move(tensor);
  }

  // What depends on constants alone (a weight behind an Identity, a folded batch norm) is computed
  // now: kernels after it then see a constant and can pack it. Not if it fails: the run will say
  // so.
  bool ComputeOnce(PlanNode& plan) {
    FlushDenormals flush;
    llvm::SmallVector<Tensor, 4> inputs, outputs(plan.output_types.size());
    for (Slot slot : plan.inputs) inputs.push_back(impl_->slots[slot].constant);
    MessageSink silent;
    RunServices services{HeapAllocator(), *impl_->options.pool, silent};
    KernelContext context(inputs, outputs, plan.output_types, services);
    if (Error error = plan.kernel(context)) {
      llvm::consumeError(std::move(error));
      return false;
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      Slot slot = NewSlot();
      slot_of_[Key({plan.node.id(), static_cast<int32_t>(i)})] = slot;
      impl_->slots[slot].constant = std::move(outputs[i]);
    }
    return true;
  }

  // Who waits for whom.
  void Link() {
    auto& nodes = impl_->nodes;
    maker_.resize(impl_->slots.size(), -1);
    for (uint32_t id = 0; id < nodes.size(); ++id) {
      PlanNode& plan = nodes[id];
      for (Slot slot : plan.inputs) {
        if (maker_[slot] >= 0) AddEdge(maker_[slot], id);
      }
      for (int i = 0; i < plan.node.num_controls(); ++i) {
        auto it = plan_of_.find(plan.node.control(i).id());
        if (it != plan_of_.end()) AddEdge(it->second, id);
      }
      auto it = waits_too_.find(plan.node.id());
      if (it == waits_too_.end()) continue;
      for (uint32_t before : it->second) AddEdge(before, id);
    }
    impl_->scheduler = std::make_unique<Scheduler>(
        nodes, impl_->options.pool->num_threads(), impl_->options.session->helpers(),
        [impl = impl_.get()](PlanNode& plan) { return impl->RunNode(plan); });
  }

  // Whether what a kernel gives may depend on what ran before it. A TensorArray's ops say their
  // order themselves, by the flow value that one hands to the next.
  static bool HasState(const PlanNode& plan) {
    if (plan.node.op().starts_with("TensorArray")) return false;
    const OpInfo* info = DefinitionOf(plan.node);
    if (!info || info->is_stateful || plan.puts_references) return true;
    auto types = TypesOf(plan.node, *info);
    if (!types) {
      llvm::consumeError(types.takeError());
      return true;
    }
    return llvm::any_of(
        types->inputs, [](DataType type) { return IsRefType(type) || type == proto::DT_RESOURCE; });
  }

  void LendServices() {
    const ExecutorOptions& options = impl_->options;
    impl_->services.emplace(RunServices{*impl_->allocator, *options.pool, options.print,
                                        options.hook, options.session, options.profiler});
    impl_->services->prefers = options.device;
  }

  // The same where nodes run as often as they are reached.
  Error LinkFrames() {
    maker_.resize(impl_->slots.size(), -1);
    std::vector<FlowNode> flow(impl_->nodes.size());
    for (uint32_t id = 0; id < flow.size(); ++id) {
      PlanNode& plan = impl_->nodes[id];
      flow[id].node = plan.node;
      flow[id].kind = plan.flow;
      flow[id].constant = std::move(plan.constant);
      flow[id].num_outputs = static_cast<int>(plan.output_types.size());
      flow[id].is_watched = plan.hooked;
      flow[id].has_state = HasState(plan);
      flow[id].may_leave = plan.cost == KernelCost::kElements && !flow[id].has_state;
      plan.inputs.clear();
      for (int i = 0; i < plan.node.num_inputs(); ++i) {
        Port port = plan.node.input(i);
        auto it = slot_of_.find(Key(port));
        if (it == slot_of_.end()) {
          return MakeError("node '{0}': input {1} reads output {2} of '{3}', which it has not",
                           plan.node.name(), i, port.index, graph_.node(port.node).name());
        }
        plan.inputs.push_back(it->second);
        int64_t maker = maker_[it->second];
        flow[id].inputs.push_back({maker, maker < 0 ? 0 : port.index});
      }
      for (int i = 0; i < plan.node.num_controls(); ++i) {
        auto it = plan_of_.find(plan.node.control(i).id());
        if (it != plan_of_.end()) flow[id].controls.push_back(it->second);
      }
    }
    // Who watches a loop sees it in an order that is always the same.
    int threads = impl_->options.hook ? 1 : impl_->options.pool->num_threads();
    impl_->frames =
        std::make_unique<FrameRunner>(flow, *impl_, impl_->options.session->helpers(), threads);
    if (impl_->options.is_part) return Error::success();
    impl_->own_collectives = std::make_unique<Collectives>();
    impl_->collectives = impl_->own_collectives.get();
    return Executor::Impl::LinkTransfers(impl_.get());
  }

  void AddEdge(uint32_t from, uint32_t to) {
    impl_->nodes[from].readers.push_back(to);
    ++impl_->nodes[to].waits_for;
  }

  Error Missing() {
    std::string text;
    size_t shown = std::min<size_t>(missing_.size(), 8);
    for (size_t i = 0; i < shown; ++i) text += (i ? "; " : "") + missing_[i];
    if (missing_.size() > shown)
      text += llvm::formatv("; and {0} more", missing_.size() - shown).str();
    return MakeError("cannot run: {0}", text);
  }

  const Graph& graph_;
  std::unique_ptr<Executor::Impl> impl_;
  llvm::DenseSet<uint64_t> fed_;
  std::vector<bool> needed_;
  bool has_flow_ = false;        // Switch, Merge or a loop
  bool has_references_ = false;  // and variables that stand for their values
  llvm::DenseMap<uint64_t, Slot> slot_of_;
  llvm::DenseMap<NodeId, uint32_t> plan_of_;
  // Plan nodes to wait for: of a node that is none itself, and of a plan node beside its own edges.
  llvm::DenseMap<NodeId, llvm::SmallVector<uint32_t, 4>> passed_on_, waits_too_;
  std::vector<int64_t> maker_;  // plan node that makes a slot; -1: a feed or constant
  std::map<std::pair<Slot, DeviceLane*>, Slot> copies_;
  std::vector<std::string> missing_;
};

Expected<std::unique_ptr<Executor>> Executor::Compile(const Graph& graph,
                                                      const ExecutorOptions& options) {
  llvm::SmallVector<Port, 4> feeds, fetches;
  for (const std::string& feed : options.feeds) {
    auto port = FindTensor(graph, feed);
    if (!port) return Annotate("feed", port.takeError());
    feeds.push_back(*port);
  }
  for (const std::string& fetch : options.fetches) {
    auto port = FindTensor(graph, fetch);
    if (!port) return Annotate("fetch", port.takeError());
    fetches.push_back(*port);
  }
  return PlanBuilder(graph, options).Build(feeds, fetches, {});
}

Expected<std::unique_ptr<Executor>> Executor::CompileFunction(const Function& function,
                                                              const ExecutorOptions& options) {
  llvm::SmallVector<Port, 4> feeds, fetches;
  llvm::SmallVector<NodeId, 4> targets;
  for (NodeId arg : function.args) feeds.push_back({arg, 0});
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    if (node.num_inputs() == 0 || node.input(0).node == kNoNode) {
      return MakeError("function '{0}': result '{1}' has no value", function.name(), result.name);
    }
    fetches.push_back(node.input(0));
  }
  for (const auto& [name, id] : function.control_results) targets.push_back(id);
  auto executor = PlanBuilder(function.body, options).Build(feeds, fetches, targets);
  if (!executor) return Annotate("function '" + function.name() + "'", executor.takeError());
  return executor;
}

}  // namespace grapnel
