#include "lib/diff/structure_hash.h"

#include <algorithm>

namespace grapnel {
namespace {

constexpr uint64_t kControlSeed = 0x6A09E667F3BCC908ull, kBackSeed = 0xBB67AE8584CAA73Bull,
                   kDanglingSeed = 0x3C6EF372FE94F82Bull, kReaderSeed = 0xA54FF53A5F1D36F1ull;

uint64_t HashOfEdge(int32_t slot, int32_t port) {
  return HashInto(HashInto(kReaderSeed, slot), port);
}

// Caches HashOfEdge for small slots and ports, which nearly all edges have.
class EdgeHashes {
 public:
  EdgeHashes() {
    for (int32_t slot = -1; slot < kSlots; ++slot)
      for (int32_t port = -1; port < kPorts; ++port)
        known_[slot + 1][port + 1] = HashOfEdge(slot, port);
  }
  uint64_t Of(const BodyView::Out& out) const {
    return out.slot < kSlots && out.port < kPorts ? known_[out.slot + 1][out.port + 1]
                                                  : HashOfEdge(out.slot, out.port);
  }

 private:
  static_assert(kControlPort == -1);
  static constexpr int32_t kSlots = 7, kPorts = 3;
  uint64_t known_[kSlots + 1][kPorts + 1];
};

// Hashes the cone of each node (all nodes that it depends on, or all that depend on it) from its
// label and the hashes of its inputs or readers.
class Cones {
 public:
  Cones(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls)
      : view_(view), labels_(labels), controls_(controls) {
    cones_.hash.assign(labels.begin(), labels.end());
    cones_.size.assign(labels.size(), 1);
  }

  ConeHashes Inputs() {
    const auto& order = view_.order();
    for (int32_t at = 0; at < view_.num_ordered(); ++at) FromInputs(order[at]);
    // Nodes on cycles: every round uses the hashes of the previous round, so that the order of
    // nodes does not matter.
    for (int round = 0; round < kRoundsOnCycles && view_.num_ordered() < view_.size(); ++round)
      Round(order, [&](int32_t i) { FromInputs(i); });
    return std::move(cones_);
  }

  ConeHashes Readers() {
    const auto& order = view_.order();
    for (int round = 0; round < kRoundsOnCycles && view_.num_ordered() < view_.size(); ++round)
      Round(order, [&](int32_t i) { FromReaders(i); });
    for (int32_t at = view_.num_ordered() - 1; at >= 0; --at) FromReaders(order[at]);
    return std::move(cones_);
  }

 private:
  template <typename Fold>
  void Round(const std::vector<int32_t>& order, Fold fold) {
    ConeHashes before = cones_, after = cones_;
    for (int32_t at = view_.num_ordered(); at < view_.size(); ++at) {
      fold(order[at]);
      after.hash[order[at]] = cones_.hash[order[at]];
      after.size[order[at]] = cones_.size[order[at]];
      cones_.hash[order[at]] = before.hash[order[at]];
      cones_.size[order[at]] = before.size[order[at]];
    }
    cones_ = std::move(after);
  }

  void FromInputs(int32_t i) {
    uint64_t hash = labels_[i];
    uint32_t size = 1;
    for (const BodyView::In& in : view_.DataInputs(i)) {
      if (in.node == kNobody) {
        hash = HashInto(hash, kDanglingSeed);
      } else if (view_.IsBackEdge(in.node, i)) {
        hash = HashInto(hash, HashInto(kBackSeed, labels_[in.node]));
      } else {
        hash = HashInto(HashInto(hash, cones_.hash[in.node]), in.port);
        size += cones_.size[in.node];
      }
    }
    uint64_t sum = 0;
    for (const BodyView::In& in : view_.ControlInputs(i)) {
      if (in.node == kNobody || !controls_) continue;
      sum += HashInto(kControlSeed, cones_.hash[in.node]);
      size += cones_.size[in.node];
    }
    cones_.hash[i] = HashInto(hash, sum);
    cones_.size[i] = std::min(size, kLargeCone);
  }

  void FromReaders(int32_t i) {
    uint64_t sum = 0;
    uint32_t size = 1;
    for (const BodyView::Out& out : view_.Readers(i)) {
      if (out.slot == kControlPort && !controls_) continue;
      if (view_.IsBackEdge(i, out.node)) {
        sum += HashInto(kBackSeed, labels_[out.node]);
        continue;
      }
      sum += HashInto(edges_.Of(out), cones_.hash[out.node]);
      size = std::min(size + cones_.size[out.node], kLargeCone);
    }
    cones_.hash[i] = HashInto(labels_[i], sum);
    cones_.size[i] = size;
  }

  const BodyView& view_;
  llvm::ArrayRef<uint64_t> labels_;
  bool controls_;
  EdgeHashes edges_;
  ConeHashes cones_;
};

}  // namespace

ConeHashes HashOfInputs(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls) {
  return Cones(view, labels, controls).Inputs();
}

ConeHashes HashOfReaders(const BodyView& view, llvm::ArrayRef<uint64_t> labels, bool controls) {
  return Cones(view, labels, controls).Readers();
}

std::vector<uint64_t> HashAround(const BodyView& view, std::vector<uint64_t> labels, int radius,
                                 bool controls) {
  EdgeHashes edges;
  std::vector<uint64_t> next(labels.size());
  for (int round = 0; round < radius; ++round) {
    for (int32_t i = 0; i < view.size(); ++i) {
      uint64_t hash = labels[i], sum = 0;
      for (const BodyView::In& in : view.DataInputs(i))
        hash =
            HashInto(HashInto(hash, in.node == kNobody ? kDanglingSeed : labels[in.node]), in.port);
      for (const BodyView::In& in : view.ControlInputs(i)) {
        if (in.node != kNobody && controls) sum += HashInto(kControlSeed, labels[in.node]);
      }
      for (const BodyView::Out& out : view.Readers(i)) {
        if (out.slot == kControlPort && !controls) continue;
        sum += HashInto(edges.Of(out), labels[out.node]);
      }
      next[i] = HashInto(hash, sum);
    }
    labels.swap(next);
  }
  return labels;
}

}  // namespace grapnel
