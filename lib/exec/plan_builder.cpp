// Builds the plan as a whole: the needed nodes, and the edges between them.
#include "lib/exec/plan_builder.h"

#include <algorithm>

#include "lib/exec/ordering_hook.h"
#include "lib/exec/plan_fusion.h"
#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsPlaceholder(const Node& node) {
  return node.op() == "Placeholder" || node.op() == "PlaceholderV2" ||
         node.op() == "PlaceholderWithDefault" || IsArgument(node);
}

// Adds the control inputs of a fetched function result to `targets`: the result node itself does
// not run, but the nodes that it waits for must.
void AddWaitsOfResult(const Graph& graph, llvm::StringRef fetch,
                      llvm::SmallVectorImpl<NodeId>* targets) {
  Node node = graph.node(llvm::cantFail(FindEnd(graph, fetch)).node);
  for (int i = 0; IsResult(node) && i < node.num_controls(); ++i)
    targets->push_back(node.control(i).id());
}

// True if the op outputs a reference to a variable (VariableV2, RefEnter, ...).
bool PutsReferences(const Node& node) {
  const OpInfo* info = DefinitionOf(node);
  if (!info) return false;
  auto types = TypesOf(node, *info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return false;
  }
  return llvm::any_of(types->outputs, IsRefType);
}

// True if a kernel's outputs may depend on earlier executions of nodes. False for TensorArray ops,
// which are ordered by the flow value that one passes to the next.
bool HasState(const PlanNode& plan) {
  if (plan.node.op().starts_with("TensorArray")) return false;
  const OpInfo* info = DefinitionOf(plan.node);
  if (!info || info->is_stateful || plan.puts_references) return true;
  auto types = TypesOf(plan.node, *info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return true;
  }
  return llvm::any_of(types->inputs,
                      [](DataType type) { return IsRefType(type) || type == proto::DT_RESOURCE; });
}

}  // namespace

PlanBuilder::PlanBuilder(const Graph& graph, const ExecutorOptions& options)
    : graph_(graph), plan_(std::make_unique<ExecutionPlan>()) {
  plan_->graph = &graph;
  plan_->options = options;
  plan_->allocator =
      MakePoolAllocator(HeapAllocator(), options.profiler ? &options.profiler->memory : nullptr);
  if (options.session) return;
  plan_->own_session = std::make_unique<Session>();
  plan_->options.session = plan_->own_session.get();
}

Expected<std::unique_ptr<ExecutionPlan>> PlanBuilder::OfPartition(const Graph& graph,
                                                                  const ExecutorOptions& options) {
  llvm::SmallVector<Port, 4> feeds, fetches;
  llvm::SmallVector<NodeId, 4> targets;
  for (const std::string& feed : options.feeds) {
    auto port = FindTensor(graph, feed);
    if (!port) return Annotate("feed", port.takeError());
    feeds.push_back(*port);
  }
  for (const std::string& fetch : options.fetches) {
    auto port = FindFetch(graph, fetch);
    if (!port) return Annotate("fetch", port.takeError());
    fetches.push_back(*port);
    AddWaitsOfResult(graph, fetch, &targets);
  }
  return PlanBuilder(graph, options).Build(feeds, fetches, targets);
}

Expected<std::unique_ptr<const ExecutionPlan>> PlanBuilder::OfGraph(
    const Graph& graph, const ExecutorOptions& options) {
  ASSIGN_OR_RETURN(auto plan, OfPartition(graph, options));
  if (plan->frames) RETURN_IF_ERROR(LinkTransfers(plan.get()));
  return plan;
}

Expected<std::unique_ptr<const ExecutionPlan>> PlanBuilder::OfFunction(
    const Function& function, const ExecutorOptions& options) {
  llvm::SmallVector<Port, 4> feeds, fetches;
  llvm::SmallVector<NodeId, 4> targets;
  llvm::SmallVector<DataType, 4> types;
  for (NodeId arg : function.args) feeds.push_back({arg, 0});
  for (const OpArg& arg : function.info.inputs) types.push_back(arg.type);
  for (const Function::Result& result : function.results) {
    Node node = function.body.node(result.node);
    if (node.num_inputs() == 0 || node.input(0).node == kNoNode) {
      return MakeError("function '{0}': result '{1}' has no value", function.name(), result.name);
    }
    fetches.push_back(node.input(0));
  }
  for (const auto& [name, id] : function.control_results) targets.push_back(id);
  if (options.hook) options.hook->AddNeeded(function.body, &targets);
  auto plan = PlanBuilder(function.body, options).Build(feeds, fetches, targets, types);
  Error error = plan ? Error::success() : plan.takeError();
  if (!error && (*plan)->frames) error = LinkTransfers(plan->get());
  if (error) return Annotate("function '" + function.name() + "'", std::move(error));
  return std::move(*plan);
}

Expected<std::unique_ptr<ExecutionPlan>> PlanBuilder::Build(llvm::ArrayRef<Port> feeds,
                                                            llvm::ArrayRef<Port> fetches,
                                                            llvm::ArrayRef<NodeId> targets,
                                                            llvm::ArrayRef<DataType> types) {
  for (Port feed : feeds) {
    RETURN_IF_ERROR(CheckCanFeed(graph_.node(feed.node)));
    fed_.insert(Key(feed));
    fed_nodes_.push_back(feed.node);
  }
  RETURN_IF_ERROR(FindNeeded(fetches, targets));
  for (size_t i = 0; i < feeds.size(); ++i)
    AddFeed(feeds[i], i < types.size() ? types[i] : TypeOfPort(graph_, feeds[i]));
  FindTraits();
  RETURN_IF_ERROR(OpenLanes());
  may_keep_ = !plan_->options.hook && !has_flow_ && plan_->lanes.empty();
  for (NodeId id : TopologicalOrder(graph_)) {
    if (!needed_[id]) continue;
    RETURN_IF_ERROR(AddNode(graph_.node(id)));
    KeepOrder(graph_.node(id));
  }
  for (Port fetch : fetches) RETURN_IF_ERROR(AddFetch(fetch));
  if (!missing_.empty()) return Missing();
  maker_.resize(plan_->slots.size(), -1);
  if (has_flow_) {
    RETURN_IF_ERROR(LinkFrames());
  } else {
    Fuse();
    LinkReaders();
    FindOrder();
  }
  LinkInputs();
  LeaveToKernels();
  LendServices();
  plan_->stats = std::make_unique<PlanStats>(plan_->nodes.size());
  for (size_t id = 0; id < plan_->nodes.size(); ++id)
    plan_->nodes[id].stats = &plan_->stats->nodes[id];
  return std::move(plan_);
}

// Walks from the fetches and targets to all nodes that they read or wait for, up to the feeds.
// Includes the _Send of each _Recv that it reaches, though no edge connects them.
Error PlanBuilder::FindNeeded(llvm::ArrayRef<Port> fetches, llvm::ArrayRef<NodeId> targets) {
  needed_.assign(graph_.end_id(), false);
  llvm::SmallVector<NodeId, 32> todo;
  auto need = [&](NodeId id) {
    if (!needed_[id]) {
      needed_[id] = true;
      todo.push_back(id);
    }
  };
  for (Port fetch : fetches) {
    if (!fed_.contains(Key(fetch)) && !IsFedPlaceholder(fetch)) need(fetch.node);
  }
  for (NodeId target : targets) need(target);
  const auto senders = SendersIn(graph_);
  while (!todo.empty()) {
    NodeId id = todo.pop_back_val();
    if (auto sender = senders.find(id); sender != senders.end()) need(sender->second);
    for (Port port : graph_.node(id).inputs()) {
      if (port.node == kNoNode)
        return MakeError("node '{0}': one of its inputs is not a node of the graph",
                         graph_.node(id).name());
      if (!fed_.contains(Key(port)) && !IsFedPlaceholder(port)) need(port.node);
    }
  }
  return Error::success();
}

// True for a control edge from a fed placeholder or argument. Such an edge has no effect: the value
// exists before the run.
bool PlanBuilder::IsFedPlaceholder(Port port) const {
  return port.IsControl() && IsPlaceholder(graph_.node(port.node)) &&
         fed_.contains(Key({port.node, 0}));
}

void PlanBuilder::FindTraits() {
  for (Node node : graph_.nodes()) {
    FlowKind flow = needed_[node.id()] ? FlowKindOf(node.op()) : FlowKind::kKernel;
    has_flow_ |= flow != FlowKind::kKernel && flow != FlowKind::kTrigger;
  }
  has_flow_ |= plan_->options.is_partition;
  for (Node node : graph_.nodes())
    has_references_ |= has_flow_ && needed_[node.id()] && PutsReferences(node);
}

Error PlanBuilder::OpenLanes() {
  Device* device = plan_->options.device;
  if (IsHost(device)) return Error::success();
  if (has_flow_) {
    bool is_control_flow = false;
    for (Node node : graph_.nodes()) {
      FlowKind flow = needed_[node.id()] ? FlowKindOf(node.op()) : FlowKind::kKernel;
      is_control_flow |= flow > FlowKind::kKernel && flow < FlowKind::kTrigger;
    }
    plan_->spread.note =
        is_control_flow
            ? "a graph with Switch, Merge or loops of single nodes runs on the CPU (optimizing it "
              "keeps them functions, whose bodies run on the device)"
            : "a graph that sends, receives or takes part in collectives runs on the CPU";
    return Error::success();
  }
  ASSIGN_OR_RETURN(auto lane, DeviceLane::Open(*device));
  plan_->lanes.push_back(std::move(lane));
  return Error::success();
}

Error PlanBuilder::AddFetch(Port fetch) {
  Node node = graph_.node(fetch.node);
  auto found = slot_of_.find(Key(fetch));
  if (found != slot_of_.end()) {
    RETURN_IF_ERROR(Align(found->second));
    ASSIGN_OR_RETURN(Slot slot,
                     InMemoryOf(nullptr, found->second, TypeOfPort(graph_, fetch), node));
    plan_->fetch_slots.push_back(slot);
    return Error::success();
  }
  int outputs = NumOutputs(node);
  if (outputs == 0 || fetch.IsControl())
    plan_->fetch_slots.push_back(kNoSlot);
  else if (missing_.empty())
    return MakeError("fetch '{0}:{1}': the node has only {2} outputs", node.name(), fetch.index,
                     outputs);
  return Error::success();
}

// Records the nodes that `node`, or if the plan omits it its readers, must wait for beside its
// inputs. If an edge comes from a node that the plan omits (a constant, or a node already
// computed), `node` waits for the nodes that the omitted node would wait for.
void PlanBuilder::KeepOrder(const Node& node) {
  llvm::SmallVector<uint32_t, 4> waits;
  auto inherit = [&](NodeId from) {
    auto handed = handed_on_.find(from);
    if (handed != handed_on_.end()) waits.append(handed->second.begin(), handed->second.end());
  };
  auto mine = plan_of_.find(node.id());
  bool is_plan_node = mine != plan_of_.end() && plan_->nodes[mine->second].node.id() == node.id();
  for (int i = 0; i < node.num_inputs(); ++i) inherit(node.input(i).node);
  for (int i = 0; i < node.num_controls(); ++i) {
    auto before = plan_of_.find(node.control(i).id());
    if (before == plan_of_.end())
      inherit(node.control(i).id());
    else if (!is_plan_node)
      waits.push_back(before->second);
  }
  if (waits.empty()) return;
  llvm::sort(waits);
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  (is_plan_node ? waits_too_ : handed_on_)[node.id()] = std::move(waits);
}

void PlanBuilder::Fuse() {
  if (!plan_->lanes.empty()) return;
  FusionFacts facts;
  facts.maker = maker_;
  facts.is_waited_for.resize(plan_->nodes.size(), false);
  facts.waits.resize(plan_->nodes.size(), false);
  auto waits_for = [&](uint32_t step, uint32_t before) {
    facts.waits[step] = true;
    facts.is_waited_for[before] = true;
  };
  for (uint32_t step = 0; step < plan_->nodes.size(); ++step) {
    const Node& node = plan_->nodes[step].node;
    for (int i = 0; i < node.num_controls(); ++i) {
      auto before = plan_of_.find(node.control(i).id());
      if (before != plan_of_.end()) waits_for(step, before->second);
    }
    auto too = waits_too_.find(node.id());
    if (too == waits_too_.end()) continue;
    for (uint32_t before : too->second) waits_for(step, before);
  }
  std::vector<uint32_t> number = FuseSteps(*plan_, facts);
  if (number.empty()) return;
  for (int64_t& maker : maker_) maker = maker < 0 ? maker : number[maker];
  maker_.resize(plan_->slots.size(), -1);
  for (auto& [node, step] : plan_of_) step = number[step];
  for (auto& [node, before] : waits_too_) {
    for (uint32_t& step : before) step = number[step];
  }
}

void PlanBuilder::AddEdge(uint32_t from, uint32_t to) {
  plan_->nodes[from].readers.push_back(to);
  ++plan_->nodes[to].waits_for;
}

void PlanBuilder::LinkReaders() {
  for (uint32_t id = 0; id < plan_->nodes.size(); ++id) {
    PlanNode& plan = plan_->nodes[id];
    for (Slot slot : plan.inputs) {
      if (maker_[slot] >= 0) AddEdge(maker_[slot], id);
    }
    for (int i = 0; i < plan.node.num_controls(); ++i) {
      auto before = plan_of_.find(plan.node.control(i).id());
      if (before != plan_of_.end()) AddEdge(before->second, id);
    }
    auto too = waits_too_.find(plan.node.id());
    if (too == waits_too_.end()) continue;
    for (uint32_t before : too->second) AddEdge(before, id);
  }
}

// Determines the order in which one thread runs the nodes. The node that became ready last runs
// first: its inputs are still in the caches, and their memory is freed soonest. An OrderingHook may
// choose another order.
void PlanBuilder::FindOrder() {
  const std::vector<PlanNode>& nodes = plan_->nodes;
  const auto* hook = dynamic_cast<const OrderingHook*>(plan_->options.hook);
  std::vector<uint32_t> waits_for;
  for (uint32_t id = 0; id < nodes.size(); ++id) {
    waits_for.push_back(nodes[id].waits_for);
    if (waits_for[id] == 0) plan_->roots.push_back(id);
  }
  std::vector<uint32_t> ready(plan_->roots.rbegin(), plan_->roots.rend());
  std::vector<int64_t> ranks;
  for (const PlanNode& node : nodes) {
    if (hook) ranks.push_back(hook->Rank(node.node));
  }
  auto goes_later = [&](uint32_t a, uint32_t b) {
    return std::pair(ranks[a], a) > std::pair(ranks[b], b);
  };
  if (hook) std::make_heap(ready.begin(), ready.end(), goes_later);
  while (!ready.empty()) {
    if (hook) std::pop_heap(ready.begin(), ready.end(), goes_later);
    uint32_t id = ready.back();
    ready.pop_back();
    plan_->order.push_back(id);
    for (uint32_t reader : llvm::reverse(nodes[id].readers)) {
      if (--waits_for[reader] > 0) continue;
      ready.push_back(reader);
      if (hook) std::push_heap(ready.begin(), ready.end(), goes_later);
    }
  }
}

// Finds the readers of each node in a graph with frames, where a node may run any number of times.
Error PlanBuilder::LinkFrames() {
  std::vector<FlowNode> flow;
  for (uint32_t id = 0; id < plan_->nodes.size(); ++id) {
    ASSIGN_OR_RETURN(FlowNode node, FlowNodeOf(id));
    flow.push_back(std::move(node));
  }
  auto frames = FramePlan::Make(flow);
  if (!frames) {
    // A loop that a feed interrupts seems to have nodes outside of it.
    for (NodeId fed : fed_nodes_) {
      Error error = FeedInLoop(graph_.node(fed));
      if (!error) continue;
      llvm::consumeError(frames.takeError());
      return error;
    }
    return frames.takeError();
  }
  plan_->frames = std::move(*frames);
  return Error::success();
}

Expected<FlowNode> PlanBuilder::FlowNodeOf(uint32_t id) {
  PlanNode& plan = plan_->nodes[id];
  FlowNode flow;
  flow.node = plan.node;
  flow.kind = plan.flow;
  if (plan.flow == FlowKind::kConstant) flow.constant = flow_values_.lookup(plan.node.id());
  flow.num_outputs = static_cast<int>(plan.output_types.size());
  flow.is_watched = plan.hooked;
  flow.has_state = HasState(plan);
  flow.may_offload = plan.cost == KernelCost::kElements && !flow.has_state;
  plan.inputs.clear();
  for (int i = 0; i < plan.node.num_inputs(); ++i) {
    Port port = plan.node.input(i);
    auto slot = slot_of_.find(Key(port));
    if (slot == slot_of_.end()) {
      return MakeError("node '{0}': input {1} reads output {2} of '{3}', which it does not have",
                       plan.node.name(), i, port.index, graph_.node(port.node).name());
    }
    plan.inputs.push_back(slot->second);
    int64_t maker = maker_[slot->second];
    flow.inputs.push_back({maker, maker < 0 ? 0 : port.index});
  }
  for (int i = 0; i < plan.node.num_controls(); ++i) {
    auto before = plan_of_.find(plan.node.control(i).id());
    if (before != plan_of_.end()) flow.controls.push_back(before->second);
  }
  return flow;
}

// Assigns adjacent positions in RunState::inputs_ to each node's inputs, then to the fetches, and
// finds the positions that receive each slot's value. In a graph with frames, inputs are stored in
// cells of the iterations instead (FramePlan).
void PlanBuilder::LinkInputs() {
  ExecutionPlan& plan = *plan_;
  std::vector<std::vector<uint32_t>> readers(plan.slots.size());
  auto add = [&](Slot slot) {
    bool is_constant = slot != kNoSlot && plan.slots[slot].constant;
    if (slot != kNoSlot && !is_constant) readers[slot].push_back(plan.input_constants.size());
    plan.input_constants.push_back(is_constant ? slot : kNoSlot);
  };
  for (PlanNode& node : plan.nodes) {
    node.first_input = plan.input_constants.size();
    if (plan.frames) continue;
    for (Slot slot : node.inputs) add(slot);
  }
  plan.first_fetch = plan.input_constants.size();
  for (Slot slot : plan.fetch_slots) add(slot);
  for (size_t slot = 0; slot < plan.slots.size(); ++slot) {
    plan.slots[slot].first_target = plan.targets.size();
    plan.targets.insert(plan.targets.end(), readers[slot].begin(), readers[slot].end());
    plan.slots[slot].end_target = plan.targets.size();
  }
  plan.has_references = has_references_ || llvm::any_of(plan.slots, [](const SlotInfo& slot) {
                          return slot.is_reference;
                        });
}

// Gives up constants that are read only by kernels that keep them (KernelDef::keeps): the plan
// retains their dtype and dims but no elements. Constants without readers (a fusion multiplied them
// into others) are released too.
void PlanBuilder::LeaveToKernels() {
  if (!may_keep_) return;
  enum Reader : char { kNone, kKept, kOther };
  std::vector<Reader> reader(plan_->slots.size(), kNone);
  for (const PlanNode& node : plan_->nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Reader& known = reader[node.inputs[i]];
      known = std::max(known, node.Keeps(i) ? kKept : kOther);
    }
  }
  for (Slot slot : plan_->fetch_slots) {
    if (slot != kNoSlot) reader[slot] = kOther;
  }
  for (const Borrowed& borrowed : borrowed_) {
    if (reader[borrowed.slot] == kOther || !plan_->options.take_value) continue;
    Tensor::GiveOwner(borrowed.value, plan_->options.take_value(graph_.node(borrowed.node)));
  }
  borrowed_.clear();
  for (Slot slot = 0; slot < plan_->slots.size(); ++slot) {
    Tensor& constant = plan_->slots[slot].constant;
    if (constant && reader[slot] == kKept) constant = constant.WithoutElements();
  }
}

void PlanBuilder::LendServices() {
  const ExecutorOptions& options = plan_->options;
  plan_->hook_sees_inputs = options.hook && options.hook->SeesInputs();
  plan_->hook_edits_outputs = options.hook && options.hook->EditsOutputs();
  plan_->services.emplace(RunServices{*plan_->allocator, *options.pool, options.print, options.hook,
                                      options.session, options.profiler});
  plan_->services->prefers = options.device;
  plan_->services->cancel = options.cancel;
  plan_->services->winograd = options.winograd;
  plan_->services->onednn = options.onednn;
  plan_->services->is_xla = options.is_xla;
}

Error PlanBuilder::Missing() const {
  std::string text;
  size_t shown = std::min<size_t>(missing_.size(), 8);
  for (size_t i = 0; i < shown; ++i) text += (i ? "; " : "") + missing_[i];
  if (missing_.size() > shown)
    text += llvm::formatv("; and {0} more", missing_.size() - shown).str();
  return MakeError("cannot run: {0}", text);
}

}  // namespace grapnel
