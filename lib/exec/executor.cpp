// Plan, builder and scheduler in one file: all three work on PlanNode and Slot, which nobody else
// is to see.
#include "lib/exec/executor.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "lib/exec/frames.h"
#include "lib/exec/session.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using Slot = uint32_t;  // one output of one node
constexpr Slot kNoSlot = ~Slot{0};

struct PlanNode {
  Node node;
  KernelFn kernel;
  KernelCost cost = KernelCost::kCheap;
  llvm::SmallVector<Slot, 4> inputs;
  llvm::SmallVector<DataType, 4> input_types;  // DT_INVALID: whatever comes, also a reference
  llvm::SmallVector<DataType, 2> output_types;
  Slot first_output = 0;
  llvm::SmallVector<uint32_t, 4> readers;  // plan nodes that wait for this one, once for each edge
  uint32_t waits_for = 0;
  bool hooked = false;
  bool puts_references = false;
  int64_t last_time =
      0;  // nanoseconds in the last run: decides whether another thread is worth waking
};

struct SlotInfo {
  int readers = 0;  // data inputs and fetches
  Tensor constant;  // set: the same in every run
  bool is_reference = false;
};

}  // namespace

struct Executor::Impl {
  const Graph* graph = nullptr;
  ExecutorOptions options;
  std::unique_ptr<Session> own_session;
  std::unique_ptr<Allocator> allocator = MakePoolAllocator();
  std::vector<PlanNode> nodes;
  std::vector<SlotInfo> slots;
  std::vector<uint32_t> roots;  // wait for nothing
  std::vector<Slot> feed_slots;
  std::vector<Node> feed_nodes;
  std::vector<DataType> feed_types;
  std::vector<Slot> fetch_slots;  // kNoSlot: a node without outputs
  std::vector<std::pair<Node, Slot>> hooked_constants;

  // --- The state of one run.
  std::unique_ptr<Tensor[]> values;
  std::unique_ptr<std::atomic<int>[]> readers_left;
  std::unique_ptr<std::atomic<uint32_t>[]> waiting;
  std::unique_ptr<FrameRunner> frames;  // of a graph with Switch, Merge or loops; else none
  std::vector<bool> is_fetched;         // by slot

  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds);
  Expected<std::vector<Tensor>> RunPlan();
  Error RunNode(PlanNode& plan);
  Error RunKernel(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                  llvm::MutableArrayRef<Tensor> outputs);
  Error RunFrames();
  Tensor Take(Slot slot);
  Error CheckFeeds(llvm::ArrayRef<Tensor> feeds) const;
  std::string NameOfFetch(size_t i) const {
    return i < options.fetches.size() ? options.fetches[i] : "result " + std::to_string(i);
  }
};

namespace {

// The value behind a reference: what VariableV2 and its like put out, and whoever passes it on.
Expected<Tensor> Dereferenced(const Tensor& reference) {
  auto* variable = dynamic_cast<Variable*>(reference.data<ObjectRef>()->get());
  if (!variable) return reference;
  return variable->Read();
}

// Worth a wake-up of another thread, which costs some ten microseconds.
constexpr int64_t kWorthAnotherThread = 40000;

// Runs the nodes of one plan. The calling thread takes large primitives, which use every core by
// themselves, and all small work; nodes that took long on one thread in the last run, and are ready
// beside other work, go to a helper.
class Scheduler {
 public:
  Scheduler(std::vector<PlanNode>& nodes, std::atomic<uint32_t>* waiting, int threads,
            std::function<Error(PlanNode&)> run)
      : nodes_(nodes), waiting_(waiting), threads_(threads), run_(std::move(run)) {}

  Error Run(const std::vector<uint32_t>& roots) {
    FlushDenormals flush;
    total_ = nodes_.size();
    local_.assign(roots.rbegin(), roots.rend());
    std::vector<std::thread> helpers;
    bool may_share =
        threads_ > 1 && llvm::any_of(nodes_, [](const PlanNode& n) { return Shareable(n); });
    if (may_share) {
      for (int i = 1; i < threads_; ++i) helpers.emplace_back([this] { Help(); });
    }
    Lead(may_share);
    {
      std::lock_guard lock(mutex_);
      finished_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers) helper.join();
    return std::move(error_);
  }

 private:
  static bool Shareable(const PlanNode& node) {
    return node.cost == KernelCost::kElements && node.last_time > kWorthAnotherThread;
  }

  void Lead(bool may_share) {
    for (;;) {
      if (may_share) ShareOut();
      uint32_t id;
      if (!local_.empty()) {
        id = local_.back();
        local_.pop_back();
      } else {
        std::unique_lock lock(mutex_);
        if (failed_ || done_ == total_) break;
        if (ready_.empty() && returned_.empty()) {
          if (busy_ == 0) break;  // what is left waits for what failed
          wake_.wait(lock, [&] { return !ready_.empty() || !returned_.empty() || busy_ == 0; });
        }
        local_.append(returned_.begin(), returned_.end());
        returned_.clear();
        if (local_.empty() && !ready_.empty()) {
          local_.push_back(ready_.front());
          ready_.pop_front();
        }
        continue;
      }
      if (!RunOne(id, &local_)) break;
    }
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return busy_ == 0; });
  }

  // Gives away what is worth it, if there is other work for this thread.
  void ShareOut() {
    if (local_.size() < 2) return;
    bool given = false;
    for (size_t i = 0; i < local_.size() && local_.size() > 1;) {
      if (!Shareable(nodes_[local_[i]])) {
        ++i;
        continue;
      }
      std::lock_guard lock(mutex_);
      ready_.push_back(local_[i]);
      local_.erase(local_.begin() + i);
      given = true;
    }
    if (given) wake_.notify_one();
  }

  void Help() {
    FlushDenormals flush;
    llvm::SmallVector<uint32_t, 8> freed;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return finished_ || !ready_.empty(); });
      if (finished_) return;
      uint32_t id = ready_.front();
      ready_.pop_front();
      ++busy_;
      lock.unlock();
      freed.clear();
      RunOne(id, &freed);
      lock.lock();
      --busy_;
      returned_.append(freed.begin(), freed.end());
      wake_.notify_all();
    }
  }

  // False when the run has failed.
  bool RunOne(uint32_t id, llvm::SmallVectorImpl<uint32_t>* freed) {
    PlanNode& node = nodes_[id];
    if (Error error = run_(node)) {
      std::lock_guard lock(mutex_);
      if (!failed_)
        error_ = std::move(error);
      else
        llvm::consumeError(std::move(error));
      failed_ = true;
      return false;
    }
    for (uint32_t reader : llvm::reverse(node.readers)) {
      if (waiting_[reader].fetch_sub(1, std::memory_order_acq_rel) == 1) freed->push_back(reader);
    }
    done_.fetch_add(1, std::memory_order_relaxed);
    return !failed_;
  }

  std::vector<PlanNode>& nodes_;
  std::atomic<uint32_t>* waiting_;
  int threads_;
  std::function<Error(PlanNode&)> run_;
  llvm::SmallVector<uint32_t, 32> local_;  // ready, for the leading thread; the last goes first
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<uint32_t> ready_;               // for whoever is free
  llvm::SmallVector<uint32_t, 8> returned_;  // freed by helpers, for the leading thread
  int busy_ = 0;
  size_t total_ = 0;
  std::atomic<size_t> done_{0};
  std::atomic<bool> failed_{false};
  bool finished_ = false;
  Error error_ = Error::success();
};

}  // namespace

// Makes a plan out of a graph, feeds and fetches.
class PlanBuilder {
 public:
  PlanBuilder(const Graph& graph, const ExecutorOptions& options)
      : graph_(graph), impl_(new Executor::Impl) {
    impl_->graph = &graph;
    impl_->options = options;
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
    while (!todo.empty()) {
      NodeId id = todo.pop_back_val();
      for (Port port : graph_.node(id).inputs()) {
        if (port.node == kNoNode)
          return MakeError("node '{0}': an input is missing in the file", graph_.node(id).name());
        if (!fed_.contains(Key(port)) && !IsFedPlaceholder(port)) need(port.node);
      }
    }
    for (Port feed : feeds) {
      Slot slot = NewSlot();
      slot_of_[Key(feed)] = slot;
      impl_->feed_slots.push_back(slot);
      impl_->feed_nodes.push_back(graph_.node(feed.node));
      DataType type = TypeOfPort(graph_, feed);
      if (graph_.node(feed.node).op() == "_Arg")
        type = proto::DT_INVALID;  // the caller has checked
      impl_->feed_types.push_back(BaseType(type));
    }
    for (Node node : graph_.nodes()) {
      FlowKind kind = needed_[node.id()] ? FlowKindOf(node) : FlowKind::kKernel;
      has_flow_ |= kind != FlowKind::kKernel && kind != FlowKind::kTrigger;
    }
    for (NodeId id : TopologicalOrder(graph_)) {
      if (needed_[id]) RETURN_IF_ERROR(AddNode(graph_.node(id)));
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
      impl_->fetch_slots.push_back(it->second);
      ++impl_->slots[it->second].readers;
    }
    if (!missing_.empty()) return Missing();
    if (has_flow_) {
      RETURN_IF_ERROR(LinkFrames());
    } else {
      Link();
    }
    impl_->values = std::make_unique<Tensor[]>(impl_->slots.size());
    impl_->readers_left = std::make_unique<std::atomic<int>[]>(impl_->slots.size());
    impl_->waiting = std::make_unique<std::atomic<uint32_t>[]>(impl_->nodes.size());
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
        plan.hooked = hooked;
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
    if (flow != FlowKind::kKernel && flow != FlowKind::kTrigger) {
      AddPlan(std::move(plan));  // inputs: Link
      return Error::success();
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
    if (all_constant && !hooked && info && !info->is_stateful && ComputeOnce(plan))
      return Error::success();
    AddPlan(std::move(plan));
    return Error::success();
  }

  void AddPlan(PlanNode plan) {
    NodeId id = plan.node.id();
    plan.first_output = impl_->slots.size();
    for (size_t i = 0; i < plan.output_types.size(); ++i) {
      Slot slot = NewSlot();
      slot_of_[Key({id, static_cast<int32_t>(i)})] = slot;
      impl_->slots[slot].is_reference = plan.puts_references;
    }
    maker_.resize(impl_->slots.size(), -1);
    for (size_t i = 0; i < plan.output_types.size(); ++i)
      maker_[plan.first_output + i] = impl_->nodes.size();
    plan_of_[id] = impl_->nodes.size();
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
        ++impl_->slots[slot].readers;
        if (maker_[slot] >= 0) AddEdge(maker_[slot], id);
      }
      for (int i = 0; i < plan.node.num_controls(); ++i) {
        auto it = plan_of_.find(plan.node.control(i).id());
        if (it != plan_of_.end()) AddEdge(it->second, id);
      }
    }
    for (uint32_t id = 0; id < nodes.size(); ++id) {
      if (nodes[id].waits_for == 0) impl_->roots.push_back(id);
    }
  }

  // The same where nodes run as often as they are reached.
  Error LinkFrames() {
    maker_.resize(impl_->slots.size(), -1);
    std::vector<FlowNode> flow(impl_->nodes.size());
    for (uint32_t id = 0; id < flow.size(); ++id) {
      PlanNode& plan = impl_->nodes[id];
      flow[id].node = plan.node;
      flow[id].kind = FlowKindOf(plan.node);
      flow[id].num_outputs = static_cast<int>(plan.output_types.size());
      plan.inputs.clear();
      for (int i = 0; i < plan.node.num_inputs(); ++i) {
        Port port = plan.node.input(i);
        auto it = slot_of_.find(Key(port));
        if (it == slot_of_.end()) {
          return MakeError("node '{0}': input {1} reads output {2} of '{3}', which it has not",
                           plan.node.name(), i, port.index, graph_.node(port.node).name());
        }
        plan.inputs.push_back(it->second);
        ++impl_->slots[it->second].readers;
        int64_t maker = maker_[it->second];
        flow[id].inputs.push_back({maker, maker < 0 ? 0 : port.index});
      }
      for (int i = 0; i < plan.node.num_controls(); ++i) {
        auto it = plan_of_.find(plan.node.control(i).id());
        if (it != plan_of_.end()) flow[id].controls.push_back(it->second);
      }
    }
    impl_->is_fetched.resize(impl_->slots.size());
    for (Slot slot : impl_->fetch_slots) {
      if (slot != kNoSlot) impl_->is_fetched[slot] = true;
    }
    impl_->frames = std::make_unique<FrameRunner>(std::move(flow));
    return Error::success();
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
  bool has_flow_ = false;  // Switch, Merge or a loop
  llvm::DenseMap<uint64_t, Slot> slot_of_;
  llvm::DenseMap<NodeId, uint32_t> plan_of_;
  std::vector<int64_t> maker_;  // plan node that makes a slot; -1: a feed or constant
  std::vector<std::string> missing_;
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;
int Executor::num_nodes() const { return static_cast<int>(impl_->nodes.size()); }

Expected<Port> FindTensor(const Graph& graph, llvm::StringRef tensor) {
  auto [name, number] = tensor.rsplit(':');
  int32_t index = 0;
  Node node;
  if (!number.empty() && !number.getAsInteger(10, index)) node = graph.Find(name);
  if (!node) {
    index = 0;
    node = graph.Find(tensor);
  }
  if (!node || index < 0) return MakeError("'{0}': there is no such tensor in the graph", tensor);
  int outputs = NumOutputs(node);
  if (outputs > 0 && index >= outputs)
    return MakeError("'{0}': node '{1}' has {2} outputs", tensor, node.name(), outputs);
  return Port{node.id(), index};
}

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

Expected<std::vector<Tensor>> Executor::Run(std::vector<Tensor> feeds) {
  return impl_->Run(std::move(feeds));
}

Error Executor::Impl::CheckFeeds(llvm::ArrayRef<Tensor> feeds) const {
  if (feeds.size() != feed_slots.size())
    return MakeError("{0} values are fed, {1} were expected", feeds.size(), feed_slots.size());
  for (size_t i = 0; i < feeds.size(); ++i) {
    llvm::StringRef name = feed_nodes[i].name();
    if (feed_types[i] != proto::DT_INVALID && feeds[i].dtype() != feed_types[i]) {
      return MakeError("feed '{0}' is {1}, the graph has {2}", name, DataTypeName(feeds[i].dtype()),
                       DataTypeName(feed_types[i]));
    }
    std::optional<AttrView> attr = feed_nodes[i].FindAttr("shape");
    std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
    // A shape of no dimensions is how old graphs say 'unknown'.
    if (feed_nodes[i].op() != "Placeholder" || !shape || !shape->known_rank() || shape->rank() == 0)
      continue;
    bool fits = shape->rank() == feeds[i].rank();
    for (int d = 0; fits && d < shape->rank(); ++d)
      fits = !shape->IsKnown(d) || shape->dim(d) == feeds[i].dim(d);
    if (!fits)
      return MakeError("feed '{0}' has shape {1}, the graph expects {2}", name,
                       DimsText(feeds[i].dims()), shape->ToString());
  }
  return Error::success();
}

// The tensor for one reader; the last reader gets it for itself, and may write in its memory.
Tensor Executor::Impl::Take(Slot slot) {
  if (slots[slot].constant) return slots[slot].constant;
  if (readers_left[slot].load(std::memory_order_acquire) == 1) return std::move(values[slot]);
  Tensor copy = values[slot];
  if (readers_left[slot].fetch_sub(1, std::memory_order_acq_rel) == 1) values[slot] = Tensor();
  return copy;
}

Error Executor::Impl::RunNode(PlanNode& plan) {
  llvm::SmallVector<Tensor, 4> inputs;
  for (Slot slot : plan.inputs) inputs.push_back(Take(slot));
  llvm::SmallVector<Tensor, 2> outputs(plan.output_types.size());
  RETURN_IF_ERROR(RunKernel(plan, inputs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    Slot slot = plan.first_output + i;
    if (slots[slot].readers > 0) values[slot] = std::move(outputs[i]);
  }
  return Error::success();
}

Error Executor::Impl::RunKernel(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                                llvm::MutableArrayRef<Tensor> outputs) {
  RunServices services{*allocator, *options.pool, options.print, options.hook, options.session};
  KernelContext context(inputs, outputs, plan.output_types, services);
  for (size_t i = 0; i < inputs.size(); ++i) {
    DataType wanted = plan.input_types[i];
    if (inputs[i].dtype() != proto::DT_RESOURCE || wanted == proto::DT_RESOURCE ||
        wanted == proto::DT_INVALID || inputs[i].num_elements() != 1)
      continue;
    auto value = Dereferenced(inputs[i]);
    if (!value) return Annotate("node '" + plan.node.name() + "'", value.takeError());
    inputs[i] = std::move(*value);
  }
  if (plan.hooked) options.hook->BeforeNode(plan.node, inputs);
  auto began = std::chrono::steady_clock::now();
  if (Error error = plan.kernel(context)) {
    return Annotate("node '" + plan.node.name() + "' (" + plan.node.op() + ")", std::move(error));
  }
  plan.last_time = (std::chrono::steady_clock::now() - began).count();
  if (plan.hooked) RETURN_IF_ERROR(options.hook->AfterNode(plan.node, outputs));
  return Error::success();
}

Error Executor::Impl::RunFrames() {
  RETURN_IF_ERROR(frames->Run(
      [this](uint32_t node, int input) {
        Slot slot = nodes[node].inputs[input];
        return slots[slot].constant ? slots[slot].constant : values[slot];
      },
      [this](uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
             llvm::MutableArrayRef<Tensor> outputs) -> Error {
        PlanNode& plan = nodes[node];
        if (plan.kernel) return RunKernel(plan, inputs, outputs);
        bool all_alive = llvm::all_of(outputs, [](const Tensor& t) { return t.operator bool(); });
        if (!plan.hooked || !all_alive) return Error::success();
        options.hook->BeforeNode(plan.node, inputs);
        return options.hook->AfterNode(plan.node, outputs);
      },
      [this](uint32_t node, int port, const Tensor& value) {
        Slot slot = nodes[node].first_output + port;
        if (is_fetched[slot]) values[slot] = value;
      }));
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    Slot slot = fetch_slots[i];
    if (slot == kNoSlot || values[slot] || slots[slot].constant) continue;
    return MakeError("fetch '{0}' has no value: it is in a branch that was not taken",
                     NameOfFetch(i));
  }
  return Error::success();
}

Expected<std::vector<Tensor>> Executor::Impl::Run(std::vector<Tensor> feeds) {
  RETURN_IF_ERROR(CheckFeeds(feeds));
  for (size_t i = 0; i < slots.size(); ++i)
    readers_left[i].store(slots[i].readers, std::memory_order_relaxed);
  for (size_t i = 0; i < nodes.size(); ++i)
    waiting[i].store(nodes[i].waits_for, std::memory_order_relaxed);
  for (size_t i = 0; i < feeds.size(); ++i) values[feed_slots[i]] = std::move(feeds[i]);
  auto results = RunPlan();
  // Also what nobody read, or an error left.
  for (size_t i = 0; i < slots.size(); ++i) values[i] = Tensor();
  return results;
}

Expected<std::vector<Tensor>> Executor::Impl::RunPlan() {
  for (const auto& [node, slot] : hooked_constants)
    RETURN_IF_ERROR(options.hook->AfterNode(node, slots[slot].constant));
  if (frames) {
    RETURN_IF_ERROR(RunFrames());
  } else {
    Scheduler scheduler(nodes, waiting.get(), options.pool->num_threads(),
                        [this](PlanNode& plan) { return RunNode(plan); });
    RETURN_IF_ERROR(scheduler.Run(roots));
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    Slot slot = fetch_slots[i];
    Tensor result;
    if (slot != kNoSlot && frames)
      result = slots[slot].constant ? slots[slot].constant : values[slot];
    else if (slot != kNoSlot)
      result = Take(slot);
    if (result.dtype() == proto::DT_RESOURCE && slots[slot].is_reference) {
      auto value = Dereferenced(result);
      if (!value) return Annotate("fetch '" + NameOfFetch(i) + "'", value.takeError());
      result = std::move(*value);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace grapnel
