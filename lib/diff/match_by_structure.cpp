#include <algorithm>
#include <optional>

#include "lib/diff/matching.h"
#include "lib/diff/structure_hash.h"
#include "lib/support/side_by_side.h"

namespace grapnel {
namespace {

// The number of nodes from which a cone (all nodes that a node depends on, or all that depend on
// it) identifies its node; smaller cones are equal in many places by chance.
constexpr uint32_t kDistinctiveCone = 8;
constexpr int kNear = 4, kNearer = 2;

std::vector<uint64_t> Both(const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
  std::vector<uint64_t> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = HashInto(x[i], y[i]);
  return out;
}

// Returns the hashes of the cones that are large enough to identify their nodes, and 0 for the
// others.
std::vector<uint64_t> Distinctive(const ConeHashes& cones) {
  std::vector<uint64_t> out(cones.hash.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = cones.size[i] >= kDistinctiveCone ? cones.hash[i] : 0;
  return out;
}

// Sets the keys of nodes without any edge to 0: if control edges do not count, nothing identifies
// such a node.
void LeaveOutLone(const BodyView& view, std::vector<uint64_t>* keys) {
  for (int32_t i = 0; i < view.size(); ++i) {
    if (view.DataInputs(i).empty() && view.ControlInputs(i).empty() && view.Readers(i).empty())
      (*keys)[i] = 0;
  }
}

// Hashes of the surroundings of one body's nodes. A hash of a node's readers does not depend on the
// readers' other inputs, and so would not tell one of many equal blocks from the block before it.
// Therefore `readers` starts from labels of nodes that include their close surroundings.
struct Neighborhood {
  ConeHashes inputs, readers;
  std::vector<uint64_t> both;
};

const std::vector<uint64_t>& LabelsOf(const Side& side, Similarity similarity) {
  return similarity == Similarity::kExact ? side.labels->exact : side.labels->kind;
}

struct KeyedEntry {
  uint64_t key;
  uint64_t name;
  int32_t node;
  bool in_b;
  bool operator<(const KeyedEntry& other) const {
    if (key != other.key) return key < other.key;
    if (name != other.name) return name < other.name;
    if (in_b != other.in_b) return other.in_b;
    return node < other.node;
  }
};

// A Bloom filter of the keys of one side's unpaired nodes: false for most other keys.
class KeyFilter {
 public:
  KeyFilter(const Side& side, const std::vector<uint64_t>& keys) : bits_(kBits / 64, 0) {
    for (int32_t i = 0; i < side.view->size(); ++i)
      if (side.IsFree(i)) bits_[keys[i] >> 46] |= BitOf(keys[i]);
  }
  bool MayHave(uint64_t key) const { return bits_[key >> 46] & BitOf(key); }

 private:
  static constexpr size_t kBits = size_t{1} << 24;  // ten bits or more per key for a million keys
  static uint64_t BitOf(uint64_t key) { return uint64_t{1} << (key >> 40 & 63); }
  std::vector<uint64_t> bits_;
};

void CollectKeyed(const Side& side, const std::vector<uint64_t>& keys, bool in_b,
                  const KeyFilter* others, std::vector<KeyedEntry>* entries) {
  for (int32_t i = 0; i < side.view->size(); ++i) {
    bool counts = keys[i] != 0 && side.IsFree(i) && (!others || others->MayHave(keys[i]));
    if (counts) entries->push_back({keys[i], side.view->name(i), i, in_b});
  }
}

// Returns the keys of both sides' unpaired nodes; may omit keys that the other side does not have.
std::vector<KeyedEntry> CollectBoth(const Side& a, const std::vector<uint64_t>& keys_a,
                                    const Side& b, const std::vector<uint64_t>& keys_b,
                                    bool side_by_side) {
  constexpr int32_t kWorthFilter = 1 << 16;
  std::optional<KeyFilter> of_a, of_b;
  if (a.view->size() > kWorthFilter && b.view->size() > kWorthFilter) {
    SideBySide(
        side_by_side, [&] { of_a.emplace(a, keys_a); }, [&] { of_b.emplace(b, keys_b); });
  }
  std::vector<KeyedEntry> entries, more;
  SideBySide(
      side_by_side, [&] { CollectKeyed(a, keys_a, false, of_b ? &*of_b : nullptr, &entries); },
      [&] { CollectKeyed(b, keys_b, true, of_a ? &*of_a : nullptr, &more); });
  entries.insert(entries.end(), more.begin(), more.end());
  return entries;
}

// Sorts entries in ranges of keys. Keys are hashes, so their upper bits divide them evenly into
// ranges that fit into a cache.
void SortByKey(std::vector<KeyedEntry>* entries, bool side_by_side) {
  constexpr size_t kWorthParting = size_t{1} << 14, kParts = size_t{1} << 10, kHalf = kParts / 2;
  if (entries->size() < kWorthParting) {
    std::sort(entries->begin(), entries->end());
    return;
  }
  auto part_of = [](const KeyedEntry& entry) { return entry.key >> 54; };
  std::vector<size_t> begins(kParts + 1, 0);
  for (const KeyedEntry& entry : *entries) ++begins[part_of(entry) + 1];
  for (size_t i = 0; i < kParts; ++i) begins[i + 1] += begins[i];
  std::vector<KeyedEntry> sorted(entries->size());
  std::vector<size_t> next(begins.begin(), begins.end() - 1);
  for (const KeyedEntry& entry : *entries) sorted[next[part_of(entry)]++] = entry;
  auto sort_parts = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      std::sort(sorted.begin() + begins[i], sorted.begin() + begins[i + 1]);
  };
  SideBySide(
      side_by_side, [&] { sort_parts(0, kHalf); }, [&] { sort_parts(kHalf, kParts); });
  entries->swap(sorted);
}

}  // namespace

void Matching::MatchUnique(const std::vector<uint64_t>& keys_a, const std::vector<uint64_t>& keys_b,
                           NeighborCheck check, bool by_name) {
  auto match = [&](int32_t a, int32_t b) {
    Agreement found;
    if (check != NeighborCheck::kNone) found = AgreementOf(a, b);
    if (found.disagree <= (check == NeighborCheck::kStrict ? 0 : found.agree)) Match(a, b);
  };
  std::vector<KeyedEntry> entries = CollectBoth(a_, keys_a, b_, keys_b, side_by_side_);
  SortByKey(&entries, side_by_side_);
  for (size_t begin = 0; begin < entries.size();) {
    size_t end = begin;
    int32_t only[2] = {kNobody, kNobody};
    size_t count[2] = {0, 0};
    for (; end < entries.size() && entries[end].key == entries[begin].key; ++end) {
      only[entries[end].in_b] = entries[end].node;
      ++count[entries[end].in_b];
    }
    if (count[0] == 1 && count[1] == 1) {
      match(only[0], only[1]);
    } else if (by_name) {
      // Within a key, entries are sorted by name, those of A before those of B. A name that occurs
      // twice does not decide.
      for (size_t i = begin; i + 1 < end; ++i) {
        bool lone_pair = entries[i].name == entries[i + 1].name && !entries[i].in_b &&
                         entries[i + 1].in_b &&
                         (i == begin || entries[i - 1].name != entries[i].name) &&
                         (i + 2 == end || entries[i + 2].name != entries[i].name);
        if (lone_pair) match(entries[i].node, entries[i + 1].node);
      }
    }
    begin = end;
  }
}

void Matching::MatchUniqueKeys(KeysOf keys_of, NeighborCheck check) {
  std::vector<uint64_t> keys_a, keys_b;
  SideBySide(
      side_by_side_, [&] { keys_a = keys_of(a_); }, [&] { keys_b = keys_of(b_); });
  MatchUnique(keys_a, keys_b, check);
}

const std::vector<uint64_t>& Matching::Nearer(const Side& side, Similarity similarity) {
  std::vector<uint64_t>& kept = KeptOf(side).nearer[similarity != Similarity::kExact];
  if (kept.empty()) {
    kept = HashAround(*side.view, LabelsOf(side, similarity), kNearer,
                      similarity == Similarity::kExact);
  }
  return kept;
}

const std::vector<uint64_t>& Matching::Near(const Side& side, Similarity similarity) {
  std::vector<uint64_t>& kept = KeptOf(side).near[similarity != Similarity::kExact];
  if (kept.empty()) {
    kept = HashAround(*side.view, Nearer(side, similarity), kNear - kNearer,
                      similarity == Similarity::kExact);
  }
  return kept;
}

void Matching::MatchCones(Similarity similarity) {
  bool exact = similarity == Similarity::kExact;
  auto look = [&](const Side& side) {
    const BodyView& view = *side.view;
    Neighborhood out = {HashOfInputs(view, LabelsOf(side, similarity), exact),
                        HashOfReaders(view, Nearer(side, similarity), exact),
                        {}};
    if (exact) KeptOf(side).inputs = out.inputs;
    for (int32_t i = 0; i < view.size() && exact; ++i) {
      if (side.labels->telling[i]) out.inputs.size[i] = kLargeCone;
    }
    out.both = HashAround(view, Both(out.inputs.hash, out.readers.hash), kNear, exact);
    if (!exact) LeaveOutLone(view, &out.both);
    return out;
  };
  Neighborhood a, b;
  SideBySide(
      side_by_side_, [&] { a = look(a_); }, [&] { b = look(b_); });
  MatchUnique(a.both, b.both, NeighborCheck::kNone);
  // An edit of the graph changes the cones of inputs only downstream of it, and the cones of
  // readers only upstream: the former still match nodes upstream, the latter nodes downstream.
  // Except for exact cones of inputs, no neighbor of the pair may be paired with another node: else
  // a block inserted in a chain of equal blocks would shift the pairs by one block.
  MatchUnique(Distinctive(a.inputs), Distinctive(b.inputs),
              exact ? NeighborCheck::kNone : NeighborCheck::kStrict,
              /*by_name=*/exact);
  MatchUnique(Distinctive(a.readers), Distinctive(b.readers), NeighborCheck::kStrict,
              /*by_name=*/exact);
  (exact ? twins_a_ : like_twins_a_) = std::move(a.both);
  (exact ? twins_b_ : like_twins_b_) = std::move(b.both);
  Propagate(similarity, Confidence::kSure);
}

void Matching::MatchPlainReaders(Similarity similarity) {
  bool exact = similarity == Similarity::kExact;
  auto keys_of = [&](const Side& side) {
    std::vector<uint64_t> out =
        Both(HashOfReaders(*side.view, LabelsOf(side, similarity), exact).hash,
             Nearer(side, similarity));
    if (!exact) LeaveOutLone(*side.view, &out);
    return out;
  };
  MatchUniqueKeys(keys_of, NeighborCheck::kBalanced);
  Propagate(similarity, Confidence::kSure);
}

// For nodes between edits: pairs nodes by exact cones of inputs, even small ones, if no other
// unpaired node of its graph has the cone, or by name among those that have it. Constants, and
// nodes without inputs and readers, are not paired: another may be equal by chance.
void Matching::MatchSmallCones() {
  auto keys_of = [&](const Side& side) {
    const ConeHashes& cones = KeptOf(side).inputs;
    std::vector<uint64_t> out = cones.hash;
    for (int32_t i = 0; i < side.view->size(); ++i) {
      bool alone = cones.size[i] == 1 && side.view->Readers(i).empty();
      if (side.labels->constant[i] || alone) out[i] = 0;
    }
    return out;
  };
  MatchUniqueKeys(keys_of, NeighborCheck::kBalanced);
  Propagate(Similarity::kExact, Confidence::kSure);
}

void Matching::MatchNeighborhoods(Similarity similarity) {
  for (int radius : {kNear, kNearer}) {
    auto keys_of = [&](const Side& side) {
      std::vector<uint64_t> out =
          radius == kNear ? Near(side, similarity) : Nearer(side, similarity);
      if (similarity != Similarity::kExact) LeaveOutLone(*side.view, &out);
      return out;
    };
    MatchUniqueKeys(keys_of, NeighborCheck::kBalanced);
    Propagate(similarity, Confidence::kSure);
  }
}

void Matching::MatchDuplicates(Similarity similarity) {
  bool exact = similarity == Similarity::kExact;
  std::vector<KeyedEntry> entries = CollectBoth(a_, exact ? twins_a_ : like_twins_a_, b_,
                                                exact ? twins_b_ : like_twins_b_, side_by_side_);
  // Sorts nodes with the same key in topological order, not by name: if names could decide, an
  // earlier stage would have used them.
  for (KeyedEntry& entry : entries) {
    const BodyView& view = entry.in_b ? *b_.view : *a_.view;
    entry.name = view.position(entry.node);
  }
  std::sort(entries.begin(), entries.end(), [](const KeyedEntry& x, const KeyedEntry& y) {
    return std::tie(x.key, x.in_b, x.name) < std::tie(y.key, y.in_b, y.name);
  });
  for (size_t begin = 0; begin < entries.size();) {
    size_t middle = begin, end = begin;
    while (middle < entries.size() && entries[middle].key == entries[begin].key &&
           !entries[middle].in_b)
      ++middle;
    end = middle;
    while (end < entries.size() && entries[end].key == entries[begin].key) ++end;
    size_t next_b = middle;
    for (size_t i = begin; i < middle; ++i) {
      if (!a_.IsFree(entries[i].node)) continue;
      while (next_b < end && !b_.IsFree(entries[next_b].node)) ++next_b;
      if (next_b == end) break;
      size_t from = pairs_.size();
      Match(entries[i].node, entries[next_b].node);
      Propagate(similarity, Confidence::kLikely, from);
    }
    begin = end;
  }
}

}  // namespace grapnel
