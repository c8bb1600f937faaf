#include <algorithm>

#include "lib/diff/matching.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {
namespace {

constexpr size_t kReadersAsked = 64;

const std::vector<uint64_t>& LabelsFor(const Side& side, Similarity similarity) {
  return similarity == Similarity::kExact  ? side.labels->exact
         : similarity == Similarity::kKind ? side.labels->kind
                                           : side.labels->op;
}

struct Place {
  uint64_t key;
  uint64_t name;
  int32_t node;
  bool operator<(const Place& other) const {
    return std::tie(key, name, node) < std::tie(other.key, other.name, other.node);
  }
};

using NeighborPlaces = llvm::SmallVector<Place, 8>;

NeighborPlaces FreeReaders(const Side& side, int32_t i, Similarity similarity) {
  NeighborPlaces places;
  const std::vector<uint64_t>& labels = LabelsFor(side, similarity);
  for (const BodyView::Out& out : side.view->Readers(i)) {
    if (!side.IsFree(out.node)) continue;
    uint64_t key = HashInto(HashInto(labels[out.node], out.slot), out.port);
    places.push_back({key, side.view->name(out.node), out.node});
  }
  return places;
}

NeighborPlaces FreeControls(const Side& side, int32_t i, Similarity similarity) {
  NeighborPlaces places;
  const std::vector<uint64_t>& labels = LabelsFor(side, similarity);
  for (const BodyView::In& in : side.view->ControlInputs(i)) {
    if (in.node != kNobody && side.IsFree(in.node))
      places.push_back({labels[in.node], side.view->name(in.node), in.node});
  }
  return places;
}

// Removes the places whose key the other side does not have. For a node with thousands of readers,
// this removes most of the unpaired ones.
void KeepKeysOf(const NeighborPlaces& other, NeighborPlaces* places) {
  llvm::SmallDenseSet<uint64_t, 16> keys;
  for (const Place& place : other) keys.insert(place.key);
  llvm::erase_if(*places, [&](const Place& place) { return !keys.contains(place.key); });
}

// Calls pair(a, b) for each key that both sides have exactly once; if `by_name`, also for nodes of
// the same name among those with the same key.
template <typename Pair>
void PairPlaces(NeighborPlaces in_a, NeighborPlaces in_b, bool by_name, Pair pair) {
  constexpr size_t kMany = 32;
  if (in_a.size() > kMany || in_b.size() > kMany) {
    KeepKeysOf(in_b, &in_a);
    KeepKeysOf(in_a, &in_b);
  }
  std::sort(in_a.begin(), in_a.end());
  std::sort(in_b.begin(), in_b.end());
  size_t a = 0, b = 0;
  auto end_of = [](llvm::ArrayRef<Place> places, size_t from) {
    size_t to = from;
    while (to < places.size() && places[to].key == places[from].key) ++to;
    return to;
  };
  while (a < in_a.size() && b < in_b.size()) {
    size_t end_a = end_of(in_a, a), end_b = end_of(in_b, b);
    if (in_a[a].key < in_b[b].key) {
      a = end_a;
    } else if (in_b[b].key < in_a[a].key) {
      b = end_b;
    } else {
      if (end_a - a == 1 && end_b - b == 1) {
        pair(in_a[a].node, in_b[b].node);
      } else if (by_name) {
        for (size_t x = a, y = b; x < end_a && y < end_b;) {
          if (in_a[x].name == in_b[y].name) {
            pair(in_a[x++].node, in_b[y++].node);
          } else {
            ++(in_a[x].name < in_b[y].name ? x : y);
          }
        }
      }
      a = end_a;
      b = end_b;
    }
  }
}

}  // namespace

Matching::Agreement Matching::AgreementOf(int32_t a, int32_t b) const {
  Agreement found;
  llvm::ArrayRef<BodyView::In> in_a = a_.view->DataInputs(a), in_b = b_.view->DataInputs(b);
  for (size_t i = 0; i < std::max(in_a.size(), in_b.size()); ++i) {
    int32_t from_a = i < in_a.size() ? in_a[i].node : kNobody;
    int32_t from_b = i < in_b.size() ? in_b[i].node : kNobody;
    int32_t wanted = from_a == kNobody ? kNobody : a_.other[from_a];
    if (wanted != kNobody && wanted == from_b && in_a[i].port == in_b[i].port) {
      ++found.agree;
    } else if (wanted != kNobody || (from_b != kNobody && b_.other[from_b] != kNobody)) {
      ++found.disagree;
    }
  }
  llvm::ArrayRef<BodyView::Out> out_a = a_.view->Readers(a), out_b = b_.view->Readers(b);
  llvm::SmallVector<std::pair<int32_t, int32_t>, 16> readers_of_b;
  for (const BodyView::Out& out : out_b.take_front(kReadersAsked))
    readers_of_b.push_back({out.node, out.slot});
  std::sort(readers_of_b.begin(), readers_of_b.end());
  for (const BodyView::Out& out : out_a.take_front(kReadersAsked)) {
    int32_t wanted = a_.other[out.node];
    if (wanted == kNobody) continue;
    std::pair<int32_t, int32_t> place = {wanted, out.slot};
    bool there = std::binary_search(readers_of_b.begin(), readers_of_b.end(), place);
    // If only some of b's readers were checked, a partner that is not among them may still be a
    // reader, and does not count as disagreement.
    if (there) ++found.agree;
    if (!there && out_b.size() <= kReadersAsked) ++found.disagree;
  }
  return found;
}

bool Matching::HasFreeNeighbors(const Side& side, int32_t i) const {
  auto is_free = [&](const auto& edge) { return edge.node != kNobody && side.IsFree(edge.node); };
  return llvm::any_of(side.view->DataInputs(i), is_free) ||
         llvm::any_of(side.view->ControlInputs(i), is_free) ||
         llvm::any_of(side.view->Readers(i), is_free);
}

bool Matching::IsSettled(size_t pair) const {
  auto [a, b] = pairs_[pair];
  return !HasFreeNeighbors(a_, a) || !HasFreeNeighbors(b_, b);
}

void Matching::TakeInNewPairs() {
  for (; num_taken_in_ < pairs_.size(); ++num_taken_in_)
    open_.push_back(static_cast<uint32_t>(num_taken_in_));
}

// Drops from open_ the pairs that have no unpaired neighbors, as most soon do, so that later calls
// do not visit them.
void Matching::Propagate(Similarity similarity, Confidence confidence, size_t from) {
  TakeInNewPairs();
  size_t at = std::lower_bound(open_.begin(), open_.end(), from) - open_.begin(), kept = at;
  for (; at < open_.size(); ++at) {
    uint32_t pair = open_[at];
    if (!IsSettled(pair)) {
      open_[kept++] = pair;
      auto [a, b] = pairs_[pair];
      FollowInputs(a, b, similarity, confidence);
      FollowReaders(a, b, similarity, confidence);
    }
    // Appends the pairs that were just found, so that this loop follows them too.
    TakeInNewPairs();
  }
  open_.resize(kept);
}

void Matching::PropagateAll() {
  do {
    for (Confidence confidence : {Confidence::kSure, Confidence::kLikely}) {
      for (Similarity similarity : {Similarity::kExact, Similarity::kKind, Similarity::kOp})
        Propagate(similarity, confidence);
    }
  } while (Vote(Similarity::kOp));
}

bool Matching::FitsAsInput(int32_t a, int32_t b, Confidence confidence) const {
  if (!a_.IsFree(a) || !b_.IsFree(b)) return false;
  size_t readers = a_.view->Readers(a).size();
  // If the numbers of readers differ, a or b may be a copy of the true partner: leave the decision
  // to Vote().
  if (readers != b_.view->Readers(b).size()) return false;
  if (AgreementOf(a, b).disagree > 0) return false;
  return confidence == Confidence::kLikely || readers > kReadersAsked ||
         llvm::all_of(a_.view->Readers(a), [&](const BodyView::Out& out) {
           return out.slot == kControlPort || a_.other[out.node] != kNobody;
         });
}

bool Matching::FitsAsReader(int32_t a, int32_t b, Confidence confidence, bool only_readers) const {
  if (!a_.IsFree(a) || !b_.IsFree(b)) return false;
  if (a_.view->Readers(a).size() != b_.view->Readers(b).size()) return false;
  if (AgreementOf(a, b).disagree > 0) return false;
  return confidence == Confidence::kLikely || only_readers ||
         llvm::all_of(a_.view->DataInputs(a), [&](const BodyView::In& in) {
           return in.node == kNobody || a_.other[in.node] != kNobody;
         });
}

void Matching::FollowInputs(int32_t a, int32_t b, Similarity similarity, Confidence confidence) {
  auto consider = [&](int32_t x, int32_t y) {
    if (Alike(x, y, similarity) && FitsAsInput(x, y, confidence)) Match(x, y);
  };
  llvm::ArrayRef<BodyView::In> in_a = a_.view->DataInputs(a), in_b = b_.view->DataInputs(b);
  for (size_t i = 0; i < std::min(in_a.size(), in_b.size()); ++i) {
    bool there = in_a[i].node != kNobody && in_b[i].node != kNobody;
    if (there && in_a[i].port == in_b[i].port) consider(in_a[i].node, in_b[i].node);
  }
  if (a_.view->ControlInputs(a).empty() || b_.view->ControlInputs(b).empty()) return;
  PairPlaces(FreeControls(a_, a, similarity), FreeControls(b_, b, similarity), names_decide_,
             consider);
}

void Matching::FollowReaders(int32_t a, int32_t b, Similarity similarity, Confidence confidence) {
  NeighborPlaces places_a = FreeReaders(a_, a, similarity);
  if (places_a.empty()) return;
  NeighborPlaces places_b = FreeReaders(b_, b, similarity);
  if (places_b.empty()) return;
  bool only_readers = a_.view->Readers(a).size() == 1 && b_.view->Readers(b).size() == 1;
  PairPlaces(std::move(places_a), std::move(places_b), names_decide_, [&](int32_t x, int32_t y) {
    if (FitsAsReader(x, y, confidence, only_readers)) Match(x, y);
  });
}

namespace {

// For an unpaired node of one side (asking), finds candidates on the other side (answering). Each
// paired neighbor votes for the nodes at the same place beside its partner.
class VoteTable {
 public:
  VoteTable(const Side& asking, const Side& answering) : asking_(asking), answering_(answering) {}

  // The best candidate for an unpaired node, chosen by the partners of its neighbors.
  struct Choice {
    int32_t node = kNobody;
    int votes = 0;
  };
  Choice Ask(int32_t i, Similarity similarity) {
    votes_.clear();
    auto inputs = asking_.view->DataInputs(i);
    for (size_t slot = 0; slot < inputs.size(); ++slot) {
      int32_t partner = inputs[slot].node == kNobody ? kNobody : asking_.other[inputs[slot].node];
      if (partner == kNobody) continue;
      auto readers = answering_.view->Readers(partner);
      if (readers.size() > kReadersAsked) continue;
      for (const BodyView::Out& out : readers) {
        if (out.slot == static_cast<int32_t>(slot) && out.port == inputs[slot].port)
          VoteFor(i, out.node, similarity);
      }
    }
    for (const BodyView::Out& out : asking_.view->Readers(i).take_front(kReadersAsked)) {
      int32_t partner = asking_.other[out.node];
      if (partner == kNobody || out.slot == kControlPort) continue;
      auto partner_inputs = answering_.view->DataInputs(partner);
      if (static_cast<size_t>(out.slot) >= partner_inputs.size()) continue;
      const BodyView::In& in = partner_inputs[out.slot];
      if (in.node != kNobody && in.port == out.port) VoteFor(i, in.node, similarity);
    }
    return Best(i);
  }

 private:
  void VoteFor(int32_t i, int32_t candidate, Similarity similarity) {
    if (!answering_.IsFree(candidate)) return;
    bool same_op = asking_.labels->op[i] == answering_.labels->op[candidate];
    if (similarity != Similarity::kAny && !same_op) return;
    votes_[candidate] += 8;
  }

  Choice Best(int32_t i) {
    Choice best;
    bool tie = false;
    for (auto& [candidate, votes] : votes_) {
      int total = votes;
      if (asking_.labels->exact[i] == answering_.labels->exact[candidate]) total += 3;
      if (asking_.labels->kind[i] == answering_.labels->kind[candidate]) total += 2;
      if (asking_.labels->op[i] == answering_.labels->op[candidate]) total += 2;
      if (asking_.view->name(i) == answering_.view->name(candidate)) total += 12;
      if (asking_.view->name_class(i) == answering_.view->name_class(candidate)) total += 4;
      tie = total == best.votes || (tie && total < best.votes);
      if (total > best.votes) best = {candidate, total};
    }
    return tie ? Choice() : best;
  }

  const Side& asking_;
  const Side& answering_;
  llvm::SmallMapVector<int32_t, int, 8> votes_;
};

}  // namespace

bool Matching::Vote(Similarity similarity) {
  VoteTable from_a(a_, b_), from_b(b_, a_);
  std::vector<std::pair<int32_t, int32_t>> elected;
  // Each neighbor has 8 votes. If the ops may differ, one neighbor may agree by chance: two must
  // agree, or one neighbor and the name, or one neighbor, the kind and the name without numbers.
  int needed = similarity == Similarity::kAny ? 16 : 8;
  for (int32_t a = 0; a < a_.view->size(); ++a) {
    if (!a_.IsFree(a)) continue;
    auto choice = from_a.Ask(a, similarity);
    if (choice.node == kNobody || choice.votes < needed) continue;
    if (from_b.Ask(choice.node, similarity).node == a) elected.push_back({a, choice.node});
  }
  size_t before = pairs_.size();
  for (const auto& [a, b] : elected) {
    Agreement found = AgreementOf(a, b);
    if (found.agree >= found.disagree) Match(a, b);
  }
  return pairs_.size() > before;
}

}  // namespace grapnel
