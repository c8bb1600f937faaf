#include "lib/debugger/debugger.h"

#include <limits>

#include "lib/debugger/graph_target.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

using Go = DebugOrder::Go;
using Phase = DebugStop::Phase;
using Why = DebugStop::Why;

namespace {

Error CheckMaker(const Node& node, llvm::StringRef name) {
  constexpr llvm::StringLiteral kHandingOn[] = {
      "_Arg",     "Switch",    "Merge",    "Enter",    "Exit",    "NextIteration",
      "LoopCond", "RefSwitch", "RefMerge", "RefEnter", "RefExit", "RefNextIteration"};
  if (!llvm::is_contained(kHandingOn, node.op())) return Error::success();
  return MakeError(
      "'{0}' ({1}) forwards another node's output: set that output, or the outputs of its readers",
      name, node.op());
}

}  // namespace

int64_t DebugStop::iteration() const {
  for (const StopFrame& frame : llvm::reverse(frames)) {
    if (frame.iteration >= 0) return frame.iteration;
  }
  return -1;
}

Debugger::Debugger(const OpenedGraph& opened, const RunRequest& request, int64_t budget)
    : Debugger(std::make_unique<GraphTarget>(opened, request), budget) {}

Debugger::Debugger(std::unique_ptr<DebugTarget> target, int64_t budget)
    : target_(std::move(target)), history_(budget) {
  target_->Attach(this, [this] { return replay_.has_value(); });
}

Debugger::~Debugger() = default;

// Returns the values of the feeds of the next run.
std::vector<Tensor> Debugger::FeedValues() const {
  std::vector<Tensor> values = target_->feed_values();
  for (size_t i = 0; i < values.size(); ++i) {
    auto changed = fed_.find(target_->feeds()[i]);
    if (changed != fed_.end()) values[i] = changed->second;
  }
  return values;
}

Debugger::NamedPort Debugger::NameOf(const WatchedPort& port) {
  const Function* function = FunctionOf(*port.graph);
  return {function ? function->name().str() : "", port.graph->node(port.node).name().str(),
          port.output};
}

void Debugger::BeginRun(llvm::ArrayRef<Tensor> values) {
  history_.Clear();
  running_.clear();
  failed_.reset();
  called_ = nullptr;
  last_loop_.clear();
  is_finished_ = false;
  given_ = values.vec();
  if (!grows()) return KeepFeeds();
  // The nodes seen so far belong to the last run's graph, which is deleted now.
  stop_.node = stop_.failed = Node();
  occurrences_.clear();
  planned_.clear();
}

// Adds to the history the values of those feeds whose nodes exist already.
void Debugger::KeepFeeds() {
  for (size_t i = 0; i < given_.size(); ++i) {
    auto port = FindTensorIfThere(module().main, feeds()[i]);
    if (port) Keep({&module().main, port->node, port->index}, given_[i], 0, -1, /*is_free=*/true);
  }
  given_.clear();
}

Error Debugger::Run(const AtStop& at_stop) {
  at_stop_ = at_stop;
  for (;;) {
    // When restarting from the first run, variables have their initial values again.
    if (std::exchange(begins_, false)) RETURN_IF_ERROR(target_->Begin());
    std::vector<Tensor> values = FeedValues();
    BeginRun(values);
    auto outputs = target_->Run(std::move(values));
    if (is_ending_) {
      if (!outputs) llvm::consumeError(outputs.takeError());
      if (order_.go == Go::kQuit) return Error::success();
      Restart();
    } else if (!ReportEnd(std::move(outputs))) {
      return Error::success();
    }
  }
}

// Handles the end of a run; returns false if no run follows.
bool Debugger::ReportEnd(Expected<std::vector<Tensor>> outputs) {
  bool failed = !outputs;
  bool goes_unseen = replay_ && run_ < replay_->run;
  bool goes_on = !replay_ && left_ > 1 && (order_.go == Go::kContinue || order_.go == Go::kNextRun);
  if (!failed && (goes_unseen || goes_on)) {
    ++run_;
    if (goes_on) --left_;
    return true;
  }
  replay_.reset();
  DebugStop stop;
  stop.why = failed ? Why::kFailed : Why::kEnded;
  stop.run = run_;
  stop.step = step_;
  if (failed) {
    stop.error = TextOf(outputs.takeError());
    if (!failed_ && !running_.empty()) failed_ = running_.back();
    if (failed_) {
      stop.node = failed_->node;
      stop.step = failed_->step;
      stop.frames = failed_->frames;
      stop.inputs = failed_->inputs;
    }
  } else {
    stop.fetched = std::move(*outputs);
  }
  is_finished_ = true;
  stop_ = std::move(stop);
  Take(WaitForOrder());
  if (order_.go == Go::kQuit) return false;
  if (order_.go == Go::kBack) {
    Restart();
  } else {
    ++run_;
  }
  return true;
}

void Debugger::Take(DebugOrder order) {
  order_ = order;
  left_ = order.count;
  from_ = stop_.frames;
  depth_ = llvm::count_if(from_, [](const StopFrame& f) { return f.function != nullptr; });
  is_ending_ = order.go == Go::kQuit || order.go == Go::kBack;
  if (is_ending_ && !is_finished_) target_->End();
}

DebugOrder Debugger::WaitForOrder() {
  llvm::erase_if(breakpoints_, [](const Breakpoint& b) { return b.number == kTemporary; });
  // Forgets earlier interrupts: only one that arrives from here on stops the run that follows.
  is_interrupted_ = false;
  return at_stop_(stop_);
}

void Debugger::Restart() {
  begins_ = true;
  replay_ = Replay{order_.step, order_.phase, stop_.run};
  run_ = 1;
  step_ = 0;
  occurrences_.clear();
  is_ending_ = false;
}

Error Debugger::AddBreakpoint(llvm::StringRef text, bool is_temporary) {
  Breakpoint::StackLookup stack_to_come;
  if (grows()) stack_to_come = [this](const Node& node) { return StackOf(node); };
  ASSIGN_OR_RETURN(Breakpoint made,
                   Breakpoint::Parse(text, module(), lines(), std::move(stack_to_come), finder()));
  made.number = is_temporary ? kTemporary : ++last_number_;
  breakpoints_.push_back(std::move(made));
  return Error::success();
}

Breakpoint::NodeFinder Debugger::finder() const {
  return [this](llvm::StringRef name) { return target_->FindNodes(name); };
}

const std::vector<std::string>& Debugger::feeds() const { return target_->feeds(); }
const std::vector<std::string>& Debugger::fetches() const { return target_->fetches(); }
const std::vector<std::string>& Debugger::fetch_names() const { return target_->fetch_names(); }

const Graph& Debugger::here() const { return stop_.node ? stop_.node.graph() : module().main; }

Expected<Port> Debugger::FindPort(llvm::StringRef name, const Graph** graph) const {
  *graph = &here();
  if (auto port = FindTensorIfThere(**graph, name)) return *port;
  *graph = &module().main;
  if (auto port = FindTensorIfThere(**graph, name)) return *port;
  for (const auto& function : module().functions) {
    llvm::StringRef rest = name;
    if (!rest.consume_front(function->name()) || !rest.consume_front("/")) continue;
    *graph = &function->body;
    return FindTensor(function->body, rest);
  }
  // If the node exists but the output does not, reports the error about the output.
  if (auto node = FindNode(here(), name)) {
    *graph = &here();
    return FindTensor(here(), name);
  } else {
    llvm::consumeError(node.takeError());
  }
  // A node name that is in only one function needs no function prefix.
  std::optional<Port> only;
  int functions = 0;
  for (const auto& function : module().functions) {
    auto port = FindTensorIfThere(function->body, name);
    if (!port) continue;
    ++functions;
    only = port;
    *graph = &function->body;
  }
  if (functions == 1) return *only;
  ASSIGN_OR_RETURN(NodeSelection named, target_->FindNodes(name));
  if (named.nodes().size() == 1) {
    Node node = named.nodes().front();
    *graph = &node.graph();
    return FindTensor(**graph, OutputName(node.name(), ReadTensorName(name).index));
  }
  // The error suggests similar names; those in the body where the run has stopped have no function
  // prefix.
  auto names = [&](NameSink take) {
    for (const Node& node : here().nodes()) take(node.name());
    VisitNodeNames(module(), take);
  };
  return NotFound("tensor", name, names, grows() && !is_finished_ ? " so far" : "");
}

bool Debugger::IsPlanned(const Graph& graph, NodeId node) const {
  return planned_.count({&graph, node}) > 0;
}

Expected<const KeptValue*> Debugger::Value(llvm::StringRef name, int64_t number) const {
  const Graph* graph = nullptr;
  ASSIGN_OR_RETURN(Port port, FindPort(name, &graph));
  WatchedPort watched{graph, port.node, port.index};
  if (const KeptValue* value = history_.Find(watched, number)) return value;
  int64_t count = history_.Count(watched);
  if (number >= count && count > 0)
    return MakeError("'{0}' has only {1} so far, numbered from 0", name, Plural(count, "value"));
  if (count > 0) {
    return MakeError(
        "'{0}' was dropped: only the newest values, {1} in all, are kept (--keep); go `back` to "
        "its node to see it",
        name, HumanBytes(history_.budget()));
  }
  Node node = graph->node(port.node);
  if (port.index == kControlPort || NumOutputs(node) == 0)
    return MakeError("'{0}' has no outputs", node.name());
  if (graph == &module().main && !IsPlanned(*graph, port.node))
    return MakeError("'{0}' is not computed: no fetch depends on it", name);
  if (node.op() == "_Arg" && !is_finished_)
    return MakeError("'{0}' is an argument that no node has read yet", name);
  if (is_finished_) return MakeError("'{0}' was not computed in this run", name);
  return MakeError("'{0}' has not been computed yet", name);
}

Expected<std::optional<DebugOrder>> Debugger::Set(llvm::StringRef name, Tensor value) {
  const Graph* graph = nullptr;
  ASSIGN_OR_RETURN(Port port, FindPort(name, &graph));
  WatchedPort watched{graph, port.node, port.index};
  Node node = graph->node(port.node);
  // If the run has stopped right after this node, no node has read the output yet: replaces the
  // value without a rerun.
  if (!editable_.empty() && stop_.node == node) {
    edits_.push_back({NameOf(watched), run_, Occurrences(watched) - 1, value});
    editable_[port.index] = value;
    stop_.outputs[port.index] = value;
    history_.ReplaceLast(watched, value);
    return std::nullopt;
  }
  bool is_main = graph == &module().main;
  for (const std::string& feed : feeds()) {
    auto fed = FindTensorIfThere(module().main, feed);
    if (!is_main || !fed || *fed != port) continue;
    fed_[feed] = std::move(value);
    return std::optional(Again());
  }
  if (node.op() == "Const") {
    constants_[NameOf(watched)] = std::move(value);
    return std::optional(Again());
  }
  if (grows() && node.op() == "Placeholder")
    return MakeError(
        "'{0}' is a value that the program passes: set the output of an op that reads it", name);
  RETURN_IF_ERROR(CheckMaker(node, name));
  edits_.push_back({NameOf(watched), run_, Occurrences(watched) - 1, std::move(value)});
  return std::optional(Again());
}

bool Debugger::IsToCome(llvm::StringRef name) const {
  const Graph* graph = nullptr;
  auto port = FindPort(name, &graph);
  if (!port) {
    llvm::consumeError(port.takeError());
    return false;
  }
  bool may_run = graph != &module().main || IsPlanned(*graph, port->node);
  return may_run && !is_finished_ && port->index != kControlPort &&
         NumOutputs(graph->node(port->node)) != 0 &&
         history_.Count({graph, port->node, port->index}) == 0;
}

Error Debugger::SetToCome(llvm::StringRef name, llvm::StringRef slice, Tensor value) {
  const Graph* graph = nullptr;
  ASSIGN_OR_RETURN(Port port, FindPort(name, &graph));
  RETURN_IF_ERROR(CheckMaker(graph->node(port.node), name));
  WatchedPort watched{graph, port.node, port.index};
  edits_.push_back({NameOf(watched), run_, Occurrences(watched), std::move(value), slice.str()});
  return Error::success();
}

int64_t Debugger::Occurrences(const WatchedPort& port) const {
  auto found = occurrences_.find({port.graph, port.node});
  return found == occurrences_.end() ? 0 : found->second;
}

std::optional<DebugOrder> Debugger::Unset() {
  if (edits_.empty() && constants_.empty() && fed_.empty()) return std::nullopt;
  edits_.clear();
  constants_.clear();
  fed_.clear();
  return Again();
}

// Returns the order that restarts the run and continues silently to the present stop.
DebugOrder Debugger::Again() const {
  DebugOrder again;
  again.go = Go::kBack;
  again.step = stop_.why == Why::kEnded ? std::numeric_limits<int64_t>::max() : stop_.step;
  again.phase = stop_.why == Why::kFailed ? Phase::kBefore : stop_.phase;
  return again;
}

Expected<DebugOrder> Debugger::Back(int64_t steps) const {
  DebugOrder order;
  order.go = Go::kBack;
  // After a node, and at the end of the run, one step back leads to the stop before the last node.
  bool is_inside = stop_.why != Why::kEnded && stop_.why != Why::kFailed;
  int64_t from = stop_.step + (is_inside && stop_.phase == Phase::kBefore ? 0 : 1);
  if (steps < 1 || from - steps < 1)
    return MakeError("there are only {0} to go back", Plural(from - 1, "step"));
  order.step = from - steps;
  return order;
}

}  // namespace grapnel
