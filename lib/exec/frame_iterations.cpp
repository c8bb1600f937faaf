// The beginning and end of frames and iterations.
#include "lib/exec/frame_state.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

void FrameRunner::State::EnterFrame(uint32_t id, Tensor& value, Iteration* from) {
  const Item& item = plan_.items[id];
  RunFrame*& entered = from->children[item.child];
  if (!entered) {
    entered = NewFrame(plan_.frames[item.frame].children[item.child], from);
    ++from->open;
    ++from->frame->open;
    AddIteration(entered);
  }
  RunFrame* child = entered;
  --child->enters_left;
  if (item.is_constant) {
    child->constants.emplace_back(id, value);
    for (Iteration* iteration = child->first; iteration; iteration = iteration->next) {
      Tensor one = value;
      SendInto(id, one, iteration);
    }
    value = Tensor();
  } else {
    SendInto(id, value, child->first);
  }
  Advance(child);
  FinishIfDone(child);
}

// Sends a value into the iteration after `from`. Begins that iteration now, unless the limit of
// overlapping iterations is reached: then the value waits for an iteration to finish. Outside of
// loops, sends it into `from`.
void FrameRunner::State::ToNextIteration(uint32_t id, Tensor& value, Iteration* from) {
  RunFrame* frame = from->frame;
  if (!frame->parent) return SendInto(id, value, from);  // not in a loop
  if (!from->next) {
    if (frame->num_iterations >= plan_.frames[frame->kind].max_iterations) {
      frame->waiting.emplace_back(id, std::move(value));
      return;
    }
    AddIteration(frame);
  }
  SendInto(id, value, from->next);
}

// Returns a used frame all of whose sent messages have been received, or a new frame if there is
// none. If a frame were reused earlier, its SendWindows would count the unreceived messages of two
// loops together, and one loop could wait for receivers of the other.
FrameRunner::State::RunFrame* FrameRunner::State::SpareFrame(int kind) {
  uint32_t num_sends = kind == 0 ? 0 : plan_.frames[kind].num_sends;
  std::vector<RunFrame*>& spare = spares_[kind].frames;
  for (size_t i = spare.size(); i-- > 0;) {
    RunFrame* frame = spare[i];
    bool is_free =
        llvm::all_of(llvm::ArrayRef(frame->windows.get(), num_sends),
                     [](const SendWindow& window) { return window.num_unreceived == 0; });
    if (!is_free) continue;
    spare.erase(spare.begin() + i);
    return frame;
  }
  frames_.push_back(std::make_unique<RunFrame>());
  frames_.back()->windows = std::make_unique<SendWindow[]>(num_sends);
  for (uint32_t i = 0; i < num_sends; ++i) frames_.back()->windows[i].sender = &rendezvous_;
  return frames_.back().get();
}

FrameRunner::State::RunFrame* FrameRunner::State::NewFrame(int kind, Iteration* parent) {
  RunFrame* frame = SpareFrame(kind);
  frame->kind = kind;
  frame->parent = parent;
  frame->first = frame->last = nullptr;
  frame->num_iterations = frame->next_number = 0;
  frame->enters_left = plan_.frames[kind].num_enters;
  frame->open = 0;
  return frame;
}

FrameRunner::State::Iteration* FrameRunner::State::AddIteration(RunFrame* frame) {
  Spare& spare = spares_[frame->kind];
  if (spare.iterations.empty()) {
    const FramePlan::Frame& plan = plan_.frames[frame->kind];
    auto made = std::make_unique<Iteration>();
    made->nodes.resize(plan.nodes.size());
    made->cells.resize(plan.num_cells);
    made->children.resize(plan.children.size());
    for (uint32_t cell = 0; cell < plan.num_cells; ++cell) {
      if (plan.constant_cells[cell] >= 0)
        made->cells[cell] = plan_.constants[plan.constant_cells[cell]];
    }
    iterations_.push_back(std::move(made));
    spare.iterations.push_back(iterations_.back().get());
  }
  Iteration* iteration = spare.iterations.back();
  spare.iterations.pop_back();
  llvm::copy(spare.fresh, iteration->nodes.begin());
  iteration->frame = frame;
  iteration->next = nullptr;
  iteration->number = frame->next_number++;
  iteration->open = 0;
  if (is_watched_ && frame->kind) {
    iteration->call.loop = plan_.frames[frame->kind].name;
    iteration->call.iteration = iteration->number;
    iteration->call.outer = CallOf(*frame->parent);
  }
  (frame->last ? frame->last->next : frame->first) = iteration;
  frame->last = iteration;
  ++frame->num_iterations;
  for (const auto& [enter, value] : frame->constants) {
    Tensor one = value;
    SendInto(enter, one, iteration);
  }
  return iteration;
}

// Removes the finished iterations that precede the first open one, and begins the next iteration if
// values wait for it and the limit allows. Has no effect before all Enters have arrived.
void FrameRunner::State::Advance(RunFrame* frame) {
  if (frame->enters_left > 0) return;
  for (;;) {
    while (frame->first->open == 0 && (frame->first != frame->last || !frame->waiting.empty())) {
      Iteration* over = frame->first;
      frame->first = over->next;
      --frame->num_iterations;
      Recycle(over);
      if (frame->first) continue;
      frame->last = nullptr;
      break;
    }
    if (frame->waiting.empty() || frame->num_iterations >= plan_.frames[frame->kind].max_iterations)
      return;
    Iteration* next = AddIteration(frame);
    for (auto& [id, value] : frame->waiting) SendInto(id, value, next);
    frame->waiting.clear();
  }
}

void FrameRunner::State::Finished(Iteration* iteration) {
  RunFrame* frame = iteration->frame;
  --frame->open;
  if (--iteration->open > 0) return;
  Advance(frame);
  FinishIfDone(frame);
}

void FrameRunner::State::FinishIfDone(RunFrame* frame) {
  if (!frame->parent || frame->open > 0 || frame->enters_left > 0) return;
  Iteration* parent = frame->parent;
  for (uint32_t exit : plan_.frames[frame->kind].exits) {
    if (llvm::is_contained(frame->exits_alive, exit)) continue;
    Tensor dead;
    SendInto(exit, dead, parent);
  }
  parent->children[plan_.frames[frame->kind].number] = nullptr;
  Recycle(frame);
  Finished(parent);
}

void FrameRunner::State::Recycle(Iteration* iteration) {
  for (uint32_t cell : plan_.frames[iteration->frame->kind].value_cells) {
    if (iteration->cells[cell]) iteration->cells[cell] = Tensor();
  }
  for (RunFrame*& child : iteration->children) {
    if (child) Recycle(child);
    child = nullptr;
  }
  spares_[iteration->frame->kind].iterations.push_back(iteration);
}

// After a failed run: puts the constants back into the cells from which kernels have moved them.
void FrameRunner::State::RestoreConstants() {
  for (size_t kind = 0; kind < spares_.size(); ++kind) {
    const std::vector<int32_t>& constant_cells = plan_.frames[kind].constant_cells;
    for (Iteration* iteration : spares_[kind].iterations) {
      for (size_t i = 0; i < constant_cells.size(); ++i) {
        if (constant_cells[i] >= 0) iteration->cells[i] = plan_.constants[constant_cells[i]];
      }
    }
  }
}

void FrameRunner::State::Recycle(RunFrame* frame) {
  for (Iteration* iteration = frame->first; iteration;) {
    Iteration* next = iteration->next;
    Recycle(iteration);
    iteration = next;
  }
  frame->constants.clear();
  frame->waiting.clear();
  frame->exits_alive.clear();
  spares_[frame->kind].frames.push_back(frame);
}

}  // namespace grapnel
