#include "lib/job/run_watch.h"

#include "lib/check/cause_reason.h"
#include "lib/ir/module.h"
#include "lib/ir/tensor_name.h"

namespace grapnel {
namespace {

constexpr int kMostElements = 100;  // of a value as text

void Set(llvm::DenseMap<const Graph*, llvm::BitVector>& bits, const Node& node) {
  llvm::BitVector& of = bits[&node.graph()];
  if (of.size() <= node.id()) of.resize(node.graph().end_id());
  of.set(node.id());
}

std::string FunctionOf(const Graph& graph) {
  for (const auto& function : graph.module().functions) {
    if (&function->body == &graph) return function->name().str();
  }
  return "";
}

}  // namespace

RunWatch::RunWatch(const Graph& main, std::vector<std::string> globs, std::optional<TapMode> mode)
    : Tap(std::move(globs), mode.value_or(TapMode::kNoTensor), nullptr),
      main_(main),
      taps_(mode.has_value()) {}

bool RunWatch::TellsBad() const {
  return taps_ && mode() != TapMode::kNoTensor && mode() != TapMode::kShape;
}

// Every node: whichever is next must stop the run.
bool RunWatch::Wants(const Node& node) {
  if (taps_ && Tap::Wants(node)) {
    std::lock_guard lock(mutex_);
    Set(tapped_, node);
  }
  return true;
}

bool RunWatch::IsTapped(const Node& node) const {
  std::lock_guard lock(mutex_);
  auto found = tapped_.find(&node.graph());
  return found != tapped_.end() && node.id() < found->second.size() &&
         found->second.test(node.id());
}

// What no tap sees, arguments of functions and branches that were taken among it, is looked at
// where it is read: later the node may have written over it.
Error RunWatch::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  if (is_stopped_) return MakeError("stopped");
  if (!TellsBad() || !IsTapped(node)) return Error::success();
  int count = std::min(node.num_inputs(), static_cast<int>(inputs.size()));
  for (int slot = 0; slot < count; ++slot) {
    Port from = node.input(slot);
    WatchedPort port{&node.graph(), from.node, from.index};
    if (!inputs[slot] || from.node == kNoNode || IsKnown(port)) continue;
    RecordedTensor record = Record(inputs[slot], HealthOf(inputs[slot]));
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
  std::lock_guard lock(mutex_);
  Set(ran_, node);
  return Error::success();
}

Error RunWatch::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  RETURN_IF_ERROR(Pass(node));
  return IsTapped(node) ? Tap::AfterNode(node, outputs) : Error::success();
}

Error RunWatch::AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  RETURN_IF_ERROR(Pass(node));
  return IsTapped(node) ? Tap::AfterNodeOn(stream, node, outputs) : Error::success();
}

Error RunWatch::OnConstant(const Node& node, const Tensor& value, bool is_first) {
  if (is_stopped_) return MakeError("stopped");
  return is_first && IsTapped(node) ? Tap::OnConstant(node, value, is_first) : Error::success();
}

void RunWatch::AddFeed(Port port, const Tensor& value) {
  if (!TellsBad()) return;
  fed_.insert({&main_, port.node, port.index});
  SayOne(main_.node(port.node), port.index, value, HealthOf(value));
}

RecordedTensor RunWatch::Record(const Tensor& tensor, Health health) const {
  RecordedTensor record;
  if (mode() == TapMode::kNoTensor) return record;
  if (mode() == TapMode::kFullTensor) health = HealthOf(tensor);
  record.dtype = tensor.dtype();
  record.rank = tensor.rank();
  record.dims = tensor.dims().vec();
  record.health = health;
  record.bad = health.IsBad();
  record.what = mode() == TapMode::kCurtHealth      ? Recorded::kBad
                : mode() == TapMode::kConciseHealth ? Recorded::kBadCounts
                : mode() == TapMode::kShape         ? Recorded::kShape
                                                    : Recorded::kCounts;
  if (record.what == Recorded::kShape) record.health.elements = tensor.num_elements();
  return record;
}

void RunWatch::SayOne(const Node& node, size_t output, const Tensor& tensor, const Health& health) {
  WatchedPort port{&node.graph(), node.id(), static_cast<int>(output)};
  WatchedTensor made{port, Record(tensor, health), ""};
  if (mode() == TapMode::kFullTensor)
    made.value =
        tensor.HoldsObjects() ? tensor.ToString() : tensor.ToLiteral().ToString(kMostElements);
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

// Under the lock, before the tensor itself is in the history.
Cause RunWatch::CauseOf(const Node& node, int output, const RecordedTensor& tensor) const {
  Cause cause;
  cause.alert.output = output;
  cause.node = node.name().str();
  cause.op_type = node.op().str();
  cause.function = FunctionOf(node.graph());
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
  cause.reason = was_fed ? "as the value that was given for it" : CauseReason(cause);
  return cause;
}

size_t RunWatch::main_nodes_run() const {
  std::lock_guard lock(mutex_);
  auto found = ran_.find(&main_);
  return found == ran_.end() ? 0 : found->second.count();
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
