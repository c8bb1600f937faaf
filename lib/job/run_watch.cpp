#include "lib/job/run_watch.h"

#include "lib/check/cause_reason.h"
#include "lib/ir/module.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"

namespace grapnel {
namespace {

constexpr int kMostElements = 100;  // at most this many elements of a value are shown

void Set(llvm::DenseMap<const Graph*, llvm::BitVector>& bits, const Node& node) {
  llvm::BitVector& of = bits[&node.graph()];
  if (of.size() <= node.id()) of.resize(node.graph().end_id());
  of.set(node.id());
}

// Returns the node with that name or, for "call/name", a node inlined from a call, the node of the
// called function.
Node FindWatched(const Graph& graph, llvm::StringRef name) {
  if (Node node = graph.Find(name)) return node;
  for (size_t end = name.find('/'); end != llvm::StringRef::npos; end = name.find('/', end + 1)) {
    Node call = graph.Find(name.take_front(end));
    if (!call) continue;
    for (llvm::StringRef called : CalledFunctions(call)) {
      const Function* function = graph.module().FindFunction(called);
      if (!function || &function->body == &graph) continue;
      if (Node node = FindWatched(function->body, name.drop_front(end + 1))) return node;
    }
  }
  return Node();
}

std::string NameOfFunction(const Graph& graph) {
  const Function* function = FunctionOf(graph);
  return function ? function->name().str() : "";
}

}  // namespace

RunWatch::RunWatch(const Graph& main, TapFilter filter, std::optional<TapMode> mode)
    : Tap(std::move(filter), mode.value_or(TapMode::kNoTensor)),
      main_(main),
      taps_(mode.has_value()) {}

bool RunWatch::TellsBad() const {
  return taps_ && mode() != TapMode::kNoTensor && mode() != TapMode::kShape;
}

// Wants every node, since Stop() must end the run at the next node, whichever that is.
bool RunWatch::Wants(const Node& node) {
  const Module& module = main_.module();
  Node watched = node;
  if (&node.graph().module() != &module) {
    std::string name = NameOfFunction(node.graph());
    const Function* function = name.empty() ? nullptr : module.FindFunction(name);
    watched = name.empty() ? FindWatched(main_, node.name())
              : function   ? FindWatched(function->body, node.name())
                           : Node();
    if (watched && watched.op() != node.op()) watched = Node();
  }
  if (!watched) return true;
  bool taps = taps_ && Tap::Wants(watched);
  std::lock_guard lock(mutex_);
  if (watched != node) watched_[{&node.graph(), node.id()}] = watched;
  if (taps) Set(tapped_, watched);
  if (watched.op() != "Const") Set(planned_, watched);
  return true;
}

Node RunWatch::Watched(const Node& node) const {
  if (&node.graph().module() == &main_.module()) return node;
  std::lock_guard lock(mutex_);
  return watched_.lookup({&node.graph(), node.id()});
}

bool RunWatch::IsTapped(const Node& node) const {
  if (!node) return false;
  std::lock_guard lock(mutex_);
  auto found = tapped_.find(&node.graph());
  return found != tapped_.end() && node.id() < found->second.size() &&
         found->second.test(node.id());
}

// Checks the inputs that were not recorded when they were computed, such as arguments of functions.
// Does so before the node runs, because it may overwrite them.
Error RunWatch::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  if (is_stopped_) return MakeError("stopped");
  Node watched = Watched(node);
  if (!TellsBad() || !IsTapped(watched)) return Error::success();
  int count = std::min(watched.num_inputs(), static_cast<int>(inputs.size()));
  for (int slot = 0; slot < count; ++slot) {
    Port from = watched.input(slot);
    WatchedPort port{&watched.graph(), from.node, from.index};
    if (!inputs[slot] || from.node == kNoNode || IsKnown(port)) continue;
    RecordedTensor record =
        Record(inputs[slot].dtype(), inputs[slot].dims(), HealthOf(inputs[slot]));
    std::lock_guard lock(mutex_);
    unseen_[port] = record;
  }
  return Error::success();
}

bool RunWatch::IsKnown(const WatchedPort& port) const {
  std::lock_guard lock(mutex_);
  return history_.count(port) > 0;
}

Error RunWatch::Pass(const Node& node) {
  if (is_stopped_) return MakeError("stopped");
  ++nodes_run_;
  if (Node watched = Watched(node)) {
    std::lock_guard lock(mutex_);
    Set(ran_, watched);
  }
  return Error::success();
}

Error RunWatch::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  RETURN_IF_ERROR(Pass(node));
  return IsTapped(Watched(node)) ? Tap::AfterNode(node, outputs) : Error::success();
}

Error RunWatch::AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  RETURN_IF_ERROR(Pass(node));
  return IsTapped(Watched(node)) ? Tap::AfterNodeOn(stream, node, outputs) : Error::success();
}

Error RunWatch::OnConstant(const Node& node, const Tensor& value, bool is_first) {
  if (is_stopped_) return MakeError("stopped");
  return is_first && IsTapped(Watched(node)) ? Tap::OnConstant(node, value, is_first)
                                             : Error::success();
}

void RunWatch::AddFeed(Port port, const Tensor& value) {
  if (!TellsBad()) return;
  fed_.insert({&main_, port.node, port.index});
  TapEvent event;
  event.node = main_.node(port.node);
  event.output = port.index;
  event.dtype = value.dtype();
  event.dims.assign(value.dims().begin(), value.dims().end());
  event.health = HealthOf(value);
  if (value.HoldsObjects())
    event.text = value.ToString();
  else
    event.value = value;
  Emit(std::move(event));
}

RecordedTensor RunWatch::Record(DataType dtype, llvm::ArrayRef<int64_t> dims,
                                const Health& health) const {
  RecordedTensor record;
  if (mode() == TapMode::kNoTensor) return record;
  record.dtype = dtype;
  record.rank = static_cast<int>(dims.size());
  record.dims = dims.vec();
  record.health = health;
  record.bad = health.IsBad();
  record.what = mode() == TapMode::kCurtHealth || mode() == TapMode::kThreeSlots ? Recorded::kBad
                : mode() == TapMode::kConciseHealth ? Recorded::kBadCounts
                : mode() == TapMode::kShape         ? Recorded::kShape
                                                    : Recorded::kCounts;
  if (record.what == Recorded::kShape) {
    record.health.elements = 1;
    for (int64_t dim : dims) record.health.elements *= dim;
  }
  return record;
}

void RunWatch::Emit(TapEvent&& event) {
  Node node = Watched(event.node);
  WatchedPort port{&node.graph(), node.id(), event.output};
  if (mode() == TapMode::kFullTensor && event.value) event.health = HealthOf(event.value);
  WatchedTensor made{port, Record(event.dtype, event.dims, event.health), std::move(event.text)};
  if (mode() == TapMode::kFullTensor && event.value)
    made.value = event.value.ToLiteral().ToString(kMostElements);
  std::lock_guard lock(mutex_);
  if (made.tensor.bad && !first_bad_) {
    first_bad_ = CauseOf(node, port.output, made.tensor);
    first_bad_port_ = port;
  }
  PortHistory& history = history_[port];
  history.last = made.tensor;
  ++history.times;
  if (made.tensor.bad) {
    history.worst = made.tensor;
    ++history.bad_times;
    ++num_bad_;
  }
  ++num_tensors_;
  if (tensors_.size() < kMostTensors) tensors_.push_back(std::move(made));
}

// Must be called with mutex_ locked, before the tensor is added to history_.
Cause RunWatch::CauseOf(const Node& node, int output, const RecordedTensor& tensor) const {
  Cause cause;
  cause.alert.output = output;
  cause.node = node.name().str();
  cause.op_type = node.op().str();
  cause.function = NameOfFunction(node.graph());
  cause.place = cause.function;
  cause.value = tensor;
  for (int slot = 0; slot < node.num_inputs(); ++slot) {
    Port from = node.input(slot);
    CauseInput input;
    if (from.node != kNoNode) {
      input.tensor = OutputName(node.graph().node(from.node).name(), from.index);
      input.made_by = input.tensor;
      input.made_in = cause.function;
      WatchedPort port{&node.graph(), from.node, from.index};
      auto known = history_.find(port);
      auto unseen = unseen_.find(port);
      if (known != history_.end()) {
        input.value = known->second.last;
      } else if (unseen != unseen_.end()) {
        input.value = unseen->second;
      }
    }
    cause.inputs.push_back(std::move(input));
  }
  bool was_fed = fed_.count({&node.graph(), node.id(), output}) > 0;
  cause.reason = was_fed ? "as the value fed for it" : CauseReason(cause);
  return cause;
}

size_t RunWatch::main_nodes_run() const {
  std::lock_guard lock(mutex_);
  auto found = ran_.find(&main_);
  return found == ran_.end() ? 0 : found->second.count();
}

size_t RunWatch::main_nodes_planned() const {
  std::lock_guard lock(mutex_);
  auto found = planned_.find(&main_);
  return found == planned_.end() ? 0 : found->second.count();
}

size_t RunWatch::num_tensors() const {
  std::lock_guard lock(mutex_);
  return num_tensors_;
}

size_t RunWatch::num_bad() const {
  std::lock_guard lock(mutex_);
  return num_bad_;
}

std::vector<WatchedTensor> RunWatch::Tensors(size_t from, size_t limit) const {
  std::lock_guard lock(mutex_);
  size_t begin = std::min(from, tensors_.size());
  size_t end = std::min(begin + limit, tensors_.size());
  return {tensors_.begin() + begin, tensors_.begin() + end};
}

std::optional<Cause> RunWatch::first_bad() const {
  std::lock_guard lock(mutex_);
  return first_bad_;
}

WatchedPort RunWatch::first_bad_port() const {
  std::lock_guard lock(mutex_);
  return first_bad_port_;
}

std::map<WatchedPort, PortHistory> RunWatch::History() const {
  std::lock_guard lock(mutex_);
  return history_;
}

std::vector<std::pair<int, PortHistory>> RunWatch::HistoryOf(const Graph& graph,
                                                             NodeId node) const {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<int, PortHistory>> outputs;
  for (auto it = history_.lower_bound({&graph, node, 0});
       it != history_.end() && it->first.graph == &graph && it->first.node == node; ++it)
    outputs.push_back({it->first.output, it->second});
  return outputs;
}

llvm::BitVector RunWatch::Ran(const Graph& graph) const {
  std::lock_guard lock(mutex_);
  return ran_.lookup(&graph);
}

}  // namespace grapnel
