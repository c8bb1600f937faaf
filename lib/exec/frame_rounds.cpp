// Frames that are entered, and rounds that begin and end.
#include "lib/exec/frame_state.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

void FrameRunner::State::EnterFrame(uint32_t id, Tensor& value, Round* from) {
  const Item& item = plan_.items[id];
  RunFrame*& entered = from->children[item.child];
  if (!entered) {
    entered = NewFrame(plan_.frames[item.frame].children[item.child], from);
    ++from->open;
    ++from->frame->open;
    AddRound(entered);
  }
  RunFrame* child = entered;
  --child->enters_left;
  if (item.is_constant) {
    child->constants.emplace_back(id, value);
    for (Round* round = child->first; round; round = round->next) {
      Tensor one = value;
      SendInto(id, one, round);
    }
    value = Tensor();
  } else {
    SendInto(id, value, child->first);
  }
  Advance(child);
  FinishIfDone(child);
}

// A value for the round after `from`, which begins now if there are not too many.
void FrameRunner::State::NextRound(uint32_t id, Tensor& value, Round* from) {
  RunFrame* frame = from->frame;
  if (!frame->parent) return SendInto(id, value, from);  // in no loop
  if (!from->next) {
    if (frame->num_rounds >= plan_.frames[frame->kind].max_rounds) {
      frame->waiting.emplace_back(id, std::move(value));
      return;
    }
    AddRound(frame);
  }
  SendInto(id, value, from->next);
}

// One whose last turn's receivers have taken all: counts of two turns must not be mixed, or one
// turn could wait for the other's.
FrameRunner::State::RunFrame* FrameRunner::State::SpareFrame(int kind) {
  uint32_t num_sends = kind == 0 ? 0 : plan_.frames[kind].num_sends;
  std::vector<RunFrame*>& spare = spares_[kind].frames;
  for (size_t i = spare.size(); i-- > 0;) {
    RunFrame* frame = spare[i];
    bool is_free = llvm::all_of(llvm::ArrayRef(frame->receipts.get(), num_sends),
                                [](const Receipt& receipt) { return receipt.unread == 0; });
    if (!is_free) continue;
    spare.erase(spare.begin() + i);
    return frame;
  }
  frames_.push_back(std::make_unique<RunFrame>());
  frames_.back()->receipts = std::make_unique<Receipt[]>(num_sends);
  for (uint32_t i = 0; i < num_sends; ++i) frames_.back()->receipts[i].sender = &inbox_;
  return frames_.back().get();
}

FrameRunner::State::RunFrame* FrameRunner::State::NewFrame(int kind, Round* parent) {
  RunFrame* frame = SpareFrame(kind);
  frame->kind = kind;
  frame->parent = parent;
  frame->first = frame->last = nullptr;
  frame->num_rounds = frame->next_number = 0;
  frame->enters_left = plan_.frames[kind].num_enters;
  frame->open = 0;
  return frame;
}

FrameRunner::State::Round* FrameRunner::State::AddRound(RunFrame* frame) {
  Spare& spare = spares_[frame->kind];
  if (spare.rounds.empty()) {
    const FramePlan::Frame& plan = plan_.frames[frame->kind];
    auto made = std::make_unique<Round>();
    made->nodes.resize(plan.nodes.size());
    made->cells.resize(plan.num_cells);
    made->children.resize(plan.children.size());
    for (uint32_t cell = 0; cell < plan.num_cells; ++cell) {
      if (plan.lasting[cell] >= 0) made->cells[cell] = plan_.constants[plan.lasting[cell]];
    }
    rounds_.push_back(std::move(made));
    spare.rounds.push_back(rounds_.back().get());
  }
  Round* round = spare.rounds.back();
  spare.rounds.pop_back();
  llvm::copy(spare.fresh, round->nodes.begin());
  round->frame = frame;
  round->next = nullptr;
  round->number = frame->next_number++;
  round->open = 0;
  (frame->last ? frame->last->next : frame->first) = round;
  frame->last = round;
  ++frame->num_rounds;
  for (const auto& [enter, value] : frame->constants) {
    Tensor one = value;
    SendInto(enter, one, round);
  }
  return round;
}

// Rounds that are over go, and the next one begins if values wait for it.
void FrameRunner::State::Advance(RunFrame* frame) {
  if (frame->enters_left > 0) return;
  for (;;) {
    while (frame->first->open == 0 && (frame->first != frame->last || !frame->waiting.empty())) {
      Round* over = frame->first;
      frame->first = over->next;
      --frame->num_rounds;
      Recycle(over);
      if (frame->first) continue;
      frame->last = nullptr;
      break;
    }
    if (frame->waiting.empty() || frame->num_rounds >= plan_.frames[frame->kind].max_rounds) return;
    Round* next = AddRound(frame);
    for (auto& [id, value] : frame->waiting) SendInto(id, value, next);
    frame->waiting.clear();
  }
}

void FrameRunner::State::Finished(Round* round) {
  RunFrame* frame = round->frame;
  --frame->open;
  if (--round->open > 0) return;
  Advance(frame);
  FinishIfDone(frame);
}

void FrameRunner::State::FinishIfDone(RunFrame* frame) {
  if (!frame->parent || frame->open > 0 || frame->enters_left > 0) return;
  Round* parent = frame->parent;
  for (uint32_t exit : plan_.frames[frame->kind].exits) {
    if (llvm::is_contained(frame->exits_alive, exit)) continue;
    Tensor dead;
    SendInto(exit, dead, parent);
  }
  parent->children[plan_.frames[frame->kind].number] = nullptr;
  Recycle(frame);
  Finished(parent);
}

void FrameRunner::State::Recycle(Round* round) {
  for (uint32_t cell : plan_.frames[round->frame->kind].passing) {
    if (round->cells[cell]) round->cells[cell] = Tensor();
  }
  for (RunFrame*& child : round->children) {
    if (child) Recycle(child);
    child = nullptr;
  }
  spares_[round->frame->kind].rounds.push_back(round);
}

// Puts back what kernels took that then failed.
void FrameRunner::State::RestoreConstants() {
  for (size_t kind = 0; kind < spares_.size(); ++kind) {
    const std::vector<int32_t>& lasting = plan_.frames[kind].lasting;
    for (Round* round : spares_[kind].rounds) {
      for (size_t i = 0; i < lasting.size(); ++i) {
        if (lasting[i] >= 0) round->cells[i] = plan_.constants[lasting[i]];
      }
    }
  }
}

void FrameRunner::State::Recycle(RunFrame* frame) {
  for (Round* round = frame->first; round;) {
    Round* next = round->next;
    Recycle(round);
    round = next;
  }
  frame->constants.clear();
  frame->waiting.clear();
  frame->exits_alive.clear();
  spares_[frame->kind].frames.push_back(frame);
}

}  // namespace grapnel
