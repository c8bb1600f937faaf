// The debugger's hook, called while nodes run.
#include "lib/debugger/debugger.h"
#include "lib/ir/tensor_name.h"
#include "lib/watch/tensor_slice.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

using Go = DebugOrder::Go;
using Phase = DebugStop::Phase;
using Why = DebugStop::Why;

namespace {

// The executor stops when the hook returns an error; the text of this error is never shown.
Error StoppedError() { return MakeError("the debugger stopped this run"); }

std::vector<StopFrame> CurrentFrames() {
  std::vector<StopFrame> frames;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) {
    frames.push_back({call->function, call->caller ? call->caller->name().str() : "",
                      call->loop.str(), call->iteration});
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

size_t CallsIn(llvm::ArrayRef<StopFrame> frames) {
  return llvm::count_if(frames, [](const StopFrame& f) { return f.function != nullptr; });
}

int64_t IterationOf(llvm::ArrayRef<StopFrame> frames) {
  for (const StopFrame& frame : llvm::reverse(frames)) {
    if (frame.iteration >= 0) return frame.iteration;
  }
  return -1;
}

bool IsSameLoop(const StopFrame& a, const StopFrame& b) {
  return a.function == b.function && a.caller == b.caller && a.loop == b.loop;
}

}  // namespace

bool Debugger::Wants(const Node& node) {
  std::lock_guard lock(mutex_);
  planned_.insert({&node.graph(), node.id()});
  return true;
}

Tensor Debugger::ReplaceConstant(const Node& node, const Tensor& value) {
  if (constants_.empty()) return value;
  auto found = constants_.find(NameOf({&node.graph(), node.id(), 0}));
  return found == constants_.end() ? value : found->second;
}

void Debugger::OnCall(const CallFrame& call) {
  std::lock_guard lock(mutex_);
  called_ = call.function;
}

void Debugger::Keep(const WatchedPort& port, const Tensor& value, int64_t step, int64_t iteration,
                    bool is_free) {
  KeptValue kept;
  kept.port = port;
  kept.step = step;
  kept.iteration = iteration;
  kept.value = value;
  history_.Add(std::move(kept), is_free);
}

Error Debugger::OnConstant(const Node& node, const Tensor& value, bool /*is_first*/) {
  std::lock_guard lock(mutex_);
  if (is_ending_) return StoppedError();
  WatchedPort port{&node.graph(), node.id(), 0};
  const KeptValue* last = history_.Find(port);
  if (!last || last->value.buffer() != value.buffer()) Keep(port, value, 0, -1, /*is_free=*/true);
  return Error::success();
}

Breakpoint::Begins Debugger::WhatBegins(const Running& running) {
  bool is_call = running.step == 1;
  if (called_) {
    auto innermost =
        llvm::find_if(llvm::reverse(running.frames), [](const StopFrame& f) { return f.function; });
    is_call |= innermost != running.frames.rend() && innermost->function == called_;
    called_ = nullptr;
  }
  if (is_call) last_loop_.clear();  // the call's loops are other ones, of whatever name
  bool is_iteration = false;
  if (!running.frames.empty() && !running.frames.back().function) {
    const StopFrame& loop = running.frames.back();
    is_iteration = loop.loop != last_loop_ || loop.iteration != last_iteration_;
    last_loop_ = loop.loop;
    last_iteration_ = loop.iteration;
  }
  if (is_call) return Breakpoint::Begins::kCall;
  return is_iteration ? Breakpoint::Begins::kIteration : Breakpoint::Begins::kNothing;
}

Error Debugger::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  std::lock_guard lock(mutex_);
  if (is_ending_) return StoppedError();
  if (node.op() == "Const") return Error::success();
  if (!given_.empty()) KeepFeeds();
  Running begun{node, ++step_, inputs.vec(), CurrentFrames()};
  bool has_failed = grows() && ForgetFailed(begun);
  running_.push_back(std::move(begun));
  const Running& running = running_.back();
  KeepGiven(running);
  Breakpoint::Begins begins = WhatBegins(running);
  if (replay_) {
    if (!Arrives(running.step, Phase::kBefore)) return Error::success();
    return StopAt(Why::kBack, Phase::kBefore, {});
  }
  std::vector<int> hits = HitBefore(running, begins);
  if (!hits.empty()) return StopAt(Why::kBreakpoint, Phase::kBefore, std::move(hits));
  if (StepEndsBefore(running) || has_failed) return StopAt(Why::kStep, Phase::kBefore, {});
  return Error::success();
}

// Values that no node produces (arguments, and placeholders of a program) are recorded when they
// are first read.
void Debugger::KeepGiven(const Running& running) {
  const Graph& graph = running.node.graph();
  int64_t iteration = IterationOf(running.frames);
  int count = std::min(running.node.num_inputs(), static_cast<int>(running.inputs.size()));
  for (int i = 0; i < count; ++i) {
    Port from = running.node.input(i);
    const Tensor& value = running.inputs[i];
    if (from.node == kNoNode || !value) continue;
    llvm::StringRef op = graph.node(from.node).op();
    bool is_program = grows() && op == "Placeholder";
    if (op != "_Arg" && !is_program) continue;
    WatchedPort port{&graph, from.node, from.index};
    const KeptValue* last = history_.Find(port);
    // If another iteration of a loop reads a program's placeholder, its value has not changed and
    // is not recorded again.
    bool is_new = !last || last->value.buffer() != value.buffer() ||
                  (last->iteration != iteration && !is_program);
    if (is_new) Keep(port, value, running.step, is_program ? -1 : iteration, /*is_free=*/false);
  }
}

// A program in eager mode may continue after an op failed, and the hook does not see the failed op
// end. If the last op failed, notes it in `stop_`, clears `running_` and returns true.
bool Debugger::ForgetFailed(const Running& next) {
  if (running_.empty() || CallsIn(next.frames) > 0) return false;
  stop_.failed = running_.back().node;
  stop_.failed_step = running_.back().step;
  if (!failed_) failed_ = std::move(running_.back());
  running_.clear();
  return true;
}

bool Debugger::Arrives(int64_t step, Phase phase) const {
  return step > replay_->step || (step == replay_->step && phase == replay_->phase);
}

bool Debugger::StepEndsBefore(const Running& running) {
  if (!has_begun_ || is_interrupted_) return true;
  size_t depth = CallsIn(running.frames);
  if (order_.go == Go::kStep) return --left_ <= 0;
  if (order_.go == Go::kNext) return depth <= depth_ && --left_ <= 0;
  if (order_.go != Go::kIteration) return false;
  // kIteration: stops at the next iteration of the innermost loop around the last stop, or after
  // that loop.
  size_t loop = from_.size();
  while (loop > 0 && from_[loop - 1].iteration < 0) --loop;
  bool is_in = running.frames.size() >= loop && loop > 0;
  for (size_t i = 0; is_in && i < loop; ++i)
    is_in = IsSameLoop(running.frames[i], from_[i]) &&
            (i + 1 == loop || running.frames[i].iteration == from_[i].iteration);
  if (is_in && running.frames[loop - 1].iteration == from_[loop - 1].iteration) return false;
  // The condition of a While runs between two iterations of its body: it is not the end of the
  // loop, and the run does not stop there.
  if (!is_in && running.frames.size() >= loop && loop > 0 &&
      running.frames[loop - 1].caller == from_[loop - 1].caller &&
      !running.frames[loop - 1].caller.empty())
    return false;
  if (is_in) from_[loop - 1].iteration = running.frames[loop - 1].iteration;
  return !is_in || --left_ <= 0;
}

std::vector<int> Debugger::HitBefore(const Running& running, Breakpoint::Begins begins) {
  std::vector<int> hits;
  if (order_.passes_breakpoints && has_begun_) return hits;
  for (Breakpoint& breakpoint : breakpoints_) {
    if (breakpoint.has_condition() ||
        !breakpoint.IsAt(running.node, IterationOf(running.frames), begins))
      continue;
    ++breakpoint.hits;
    hits.push_back(breakpoint.number);
  }
  return hits;
}

std::vector<int> Debugger::HitAfter(const Running& running, llvm::ArrayRef<Tensor> outputs) {
  std::vector<int> hits;
  stop_.output = -1;
  if (order_.passes_breakpoints) return hits;
  auto lookup = [&](llvm::StringRef name) -> Expected<Tensor> {
    ASSIGN_OR_RETURN(const KeptValue* value, Value(name));
    return value->value;
  };
  // Value(), which `lookup` calls, searches names in the body of stop_.node: sets this to the
  // node's.
  if (!breakpoints_.empty()) stop_.node = running.node;
  for (Breakpoint& breakpoint : breakpoints_) {
    if (!breakpoint.has_condition() ||
        !breakpoint.IsAt(running.node, IterationOf(running.frames), Breakpoint::Begins::kNothing))
      continue;
    bool holds = false;
    for (size_t i = 0; i < outputs.size() && !holds; ++i) {
      WatchedPort port{&running.node.graph(), running.node.id(), static_cast<int>(i)};
      const KeptValue* before = history_.Find(port, history_.Count(port) - 2);
      bool has_before = history_.Count(port) >= 2 && before;
      holds =
          outputs[i] && breakpoint.Holds(outputs[i], has_before ? before->value : Tensor(), lookup);
      if (holds && stop_.output < 0) stop_.output = static_cast<int>(i);
    }
    if (!holds) continue;
    ++breakpoint.hits;
    hits.push_back(breakpoint.number);
  }
  return hits;
}

void Debugger::Record(const Running& running, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]) continue;
    Keep({&running.node.graph(), running.node.id(), static_cast<int>(i)}, outputs[i], running.step,
         IterationOf(running.frames), /*is_free=*/false);
  }
}

// Applies the user's changes of the node's outputs.
Error Debugger::Apply(const Running& running, llvm::MutableArrayRef<Tensor> outputs) {
  for (const Edit& edit : edits_) {
    NamedPort port = NameOf({&running.node.graph(), running.node.id(), edit.port.output});
    if (port != edit.port || edit.port.output >= static_cast<int>(outputs.size()) ||
        edit.occurrence != Occurrences({&running.node.graph(), running.node.id(), 0}) ||
        (grows() && edit.run != run_))
      continue;
    Tensor& output = outputs[edit.port.output];
    if (!edit.slice) {
      output = edit.value;
      continue;
    }
    auto made = WithElements(output, *edit.slice, edit.value);
    if (!made) {
      std::string name = OutputName(running.node.name(), edit.port.output);
      return Annotate("set " + name + *edit.slice, made.takeError());
    }
    output = std::move(*made);
  }
  return Error::success();
}

// Handles the end of the node on top of running_.
Error Debugger::After(llvm::MutableArrayRef<Tensor> outputs, bool may_edit) {
  if (is_ending_) return StoppedError();
  Running running = std::move(running_.back());
  running_.pop_back();
  if (may_edit) {
    if (Error error = Apply(running, outputs)) {
      running_.push_back(std::move(running));
      return error;
    }
  }
  ++occurrences_[{&running.node.graph(), running.node.id()}];
  Record(running, outputs);
  bool stops = false;
  Why why = Why::kStep;
  std::vector<int> hits;
  if (replay_) {
    stops = Arrives(running.step, Phase::kAfter);
    why = Why::kBack;
  } else {
    hits = HitAfter(running, outputs);
    bool is_out = order_.go == Go::kFinish && CallsIn(running.frames) < depth_;
    stops = !hits.empty() || is_out;
    if (!hits.empty()) why = Why::kBreakpoint;
  }
  if (!stops) return Error::success();
  running_.push_back(std::move(running));
  stop_.outputs = outputs.vec();
  if (may_edit) editable_ = outputs;
  Error error = StopAt(why, Phase::kAfter, std::move(hits));
  editable_ = {};
  running_.pop_back();
  return error;
}

// Moves the node that has ended to the top of running_, since the thread of a dataset may have
// begun other nodes after it. Returns false if the node is not in running_.
bool Debugger::BringToTop(const Node& node) {
  for (size_t i = running_.size(); i-- > 0;) {
    if (running_[i].node != node) continue;
    std::rotate(running_.begin() + i, running_.begin() + i + 1, running_.end());
    return true;
  }
  return false;
}

Error Debugger::EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) {
  std::lock_guard lock(mutex_);
  if (is_ending_) return StoppedError();
  is_reported_ = true;
  if (!BringToTop(node)) return Error::success();
  return After(outputs, /*may_edit=*/true);
}

// Handles nodes that only forward values; for other nodes, EditOutputs() has already done the work.
Error Debugger::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  std::lock_guard lock(mutex_);
  if (is_ending_) return StoppedError();
  bool is_reported = std::exchange(is_reported_, false);
  if (is_reported || !BringToTop(node)) return Error::success();
  std::vector<Tensor> copies = outputs.vec();
  return After(copies, /*may_edit=*/false);
}

// Stops at the node on top of running_, and asks at_stop_ how to continue.
Error Debugger::StopAt(Why why, Phase phase, std::vector<int> breakpoints) {
  const Running& running = running_.back();
  replay_.reset();
  has_begun_ = true;
  stop_.why = why;
  stop_.phase = phase;
  stop_.run = run_;
  stop_.step = running.step;
  stop_.node = running.node;
  stop_.frames = running.frames;
  stop_.inputs = running.inputs;
  if (phase == Phase::kBefore) stop_.outputs.clear();
  if (phase == Phase::kBefore || why != Why::kBreakpoint) stop_.output = -1;
  stop_.breakpoints = std::move(breakpoints);
  stop_.filter.clear();
  for (const Breakpoint& breakpoint : breakpoints_) {
    if (breakpoint.number == kTemporary && llvm::is_contained(stop_.breakpoints, kTemporary))
      stop_.filter = breakpoint.text();
  }
  stop_.error.clear();
  stop_.fetched.clear();
  Take(WaitForOrder());
  stop_.failed = Node();
  return is_ending_ ? StoppedError() : Error::success();
}

}  // namespace grapnel
