// What goes to other parts and comes from them. Nobody waits on a thread: a receiver whose value is
// not there yet, and a sender that is too far ahead, are put aside until there is news.
#include "lib/exec/frame_state.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Moves the first that fits to the end, and off it.
template <typename T, typename Fits>
std::optional<T> TakeFirst(std::vector<T>& list, Fits fits) {
  auto at = llvm::find_if(list, fits);
  if (at == list.end()) return std::nullopt;
  T taken = std::move(*at);
  list.erase(at);
  return taken;
}

void Taken(const Parcel& parcel) {
  if (!parcel.receipt) return;
  --parcel.receipt->unread;
  if (parcel.receipt->sender->wants_nudges()) parcel.receipt->sender->Nudge();
}

}  // namespace

bool FrameRunner::State::IsFrom(const Parcel& parcel, const Round* round) {
  for (int64_t number : parcel.rounds) {
    if (round->number != number) return false;
    round = round->frame->parent;
  }
  return true;
}

llvm::SmallVector<int64_t, 3> FrameRunner::State::RoundsOf(const Round* round) {
  llvm::SmallVector<int64_t, 3> rounds;
  for (; round->frame->parent; round = round->frame->parent) rounds.push_back(round->number);
  return rounds;
}

// False: it is put aside.
Expected<bool> FrameRunner::State::Transfer(Instance instance) {
  const Item& item = plan_.items[instance.node];
  if (item.kind == FlowKind::kSend) return SendAway(instance);
  if (item.kind == FlowKind::kCollective) return Join(instance);
  Desk& desk = desks_[item.transfer];
  auto early =
      TakeFirst(desk.early, [&](const Parcel& parcel) { return IsFrom(parcel, instance.round); });
  if (!early) {
    desk.waiting.push_back(instance.round);
    return false;
  }
  RETURN_IF_ERROR(Receive(instance, std::move(*early)));
  return true;
}

Expected<bool> FrameRunner::State::SendAway(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Round* round = instance.round;
  Parcel parcel;
  if (round->frame->parent) {
    parcel.receipt = &round->frame->receipts[item.transfer];
    int64_t most = plan_.frames[round->frame->kind].max_rounds;
    if (parcel.receipt->unread >= most) {
      // Asked for first and looked at again: who takes one now will see that.
      inbox_.WantNudges(true);
      if (parcel.receipt->unread >= most) {
        held_sends_.push_back(instance);
        return false;
      }
    }
    ++parcel.receipt->unread;
  }
  parcel.rounds = RoundsOf(round);
  const Arrivals& arrivals = round->nodes[item.local];
  bool is_dead = arrivals.is_dead;
  if (!is_dead) {
    if (item.given.begin != item.given.end) FillGiven(instance.node, round);
    parcel.value = std::move(round->cells[item.first_cell]);
    if (item.is_watched) {
      if (Error error = client_.Passed(instance.node, parcel.value, {}))
        return InRound(*round, std::move(error));
    }
  }
  Receipt* receipt = parcel.receipt;
  if (!client_.Send(instance.node, std::move(parcel)) && receipt) --receipt->unread;
  ClearInputs(item, round);
  Tell(item, is_dead, round);
  return true;
}

// A dead one comes to no meeting, as in TensorFlow: the others learn that it is missing.
Expected<bool> FrameRunner::State::Join(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Round* round = instance.round;
  if (round->nodes[item.local].is_dead) {
    PassDead(instance);
    return true;
  }
  if (item.given.begin != item.given.end) FillGiven(instance.node, round);
  desks_[item.transfer].waiting.push_back(round);
  Parcel answer;
  answer.to = instance.node;
  answer.rounds = RoundsOf(round);
  if (Error error = client_.Join(instance.node, InputsOf(instance), std::move(answer)))
    return InRound(*round, std::move(error));
  ClearInputs(item, round);
  return false;
}

Error FrameRunner::State::Receive(Instance instance, Parcel parcel) {
  const Item& item = plan_.items[instance.node];
  Taken(parcel);
  if (parcel.value && item.is_watched) {
    if (Error error = client_.Passed(instance.node, {}, parcel.value))
      return InRound(*instance.round, std::move(error));
  }
  SendInto(instance.node, parcel.value, instance.round);
  return Error::success();
}

Error FrameRunner::State::TakeNews() {
  inbox_.Take(&news_);
  for (Parcel& parcel : news_) {
    Desk& desk = desks_[plan_.items[parcel.to].transfer];
    auto round = TakeFirst(desk.waiting, [&](const Round* waits) { return IsFrom(parcel, waits); });
    if (!round) {
      desk.early.push_back(std::move(parcel));
      continue;
    }
    Instance instance = {parcel.to, *round};
    RETURN_IF_ERROR(Receive(instance, std::move(parcel)));
    Finished(instance.round);
  }
  news_.clear();
  inbox_.WantNudges(false);
  for (Instance instance : held_sends_) ready_.Push(instance);
  held_sends_.clear();
  return Error::success();
}

Error FrameRunner::State::FindStuck(int rank) {
  auto stuck = [&](uint32_t id, const Round& round) {
    return client_.StuckRank(id) == rank ? InRound(round, client_.WhyStuck(id)) : Error::success();
  };
  for (const Desk& desk : desks_) {
    if (!desk.waiting.empty()) RETURN_IF_ERROR(stuck(desk.node, *desk.waiting.front()));
  }
  if (held_sends_.empty()) return Error::success();
  return stuck(held_sends_.front().node, *held_sends_.front().round);
}

void FrameRunner::State::ClearTransfers() {
  for (Desk& desk : desks_) {
    desk.waiting.clear();
    desk.early.clear();
  }
  news_.clear();
  held_sends_.clear();
  inbox_.Clear();
  for (auto& frame : frames_) {
    if (frame->kind == 0) continue;
    for (uint32_t i = 0; i < plan_.frames[frame->kind].num_sends; ++i)
      frame->receipts[i].unread = 0;
  }
}

}  // namespace grapnel
