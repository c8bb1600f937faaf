#include <algorithm>

#include "lib/diff/matching.h"
#include "lib/diff/structure_hash.h"

namespace grapnel {
namespace {

// A cone of fewer nodes is found in many places by chance.
constexpr uint32_t kTellingCone = 8;
constexpr int kNear = 4, kNearer = 2;

std::vector<uint64_t> Both(const std::vector<uint64_t>& x, const std::vector<uint64_t>& y) {
  std::vector<uint64_t> out(x.size());
  for (size_t i = 0; i < x.size(); ++i) out[i] = HashInto(x[i], y[i]);
  return out;
}

// `cones` where they are large enough to tell something, else 0.
std::vector<uint64_t> Telling(const ConeHashes& cones) {
  std::vector<uint64_t> out(cones.hash.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = cones.size[i] >= kTellingCone ? cones.hash[i] : 0;
  return out;
}

// Without control edges nothing is known of a node that has no edge at all.
void LeaveOutLone(const BodyView& view, std::vector<uint64_t>* keys) {
  for (int32_t i = 0; i < view.size(); ++i) {
    if (view.DataInputs(i).empty() && view.ControlInputs(i).empty() && view.Readers(i).empty())
      (*keys)[i] = 0;
  }
}

// What stands around the nodes of one body. Hashes of readers do not see what else those read, so
// by themselves they take one of many like blocks for the one before it: here they are over labels
// that know their own near surroundings.
struct Surroundings {
  ConeHashes inputs, readers;
};

Surroundings Look(const BodyView& view, const Labels& labels, Likeness likeness) {
  bool exact = likeness == Likeness::kExact;
  const std::vector<uint64_t>& own = exact ? labels.exact : labels.kind;
  Surroundings out = {
      HashOfInputs(view, own, exact),
      HashOfReaders(view, HashAround(view, own, kNearer, exact), exact),
  };
  for (int32_t i = 0; i < view.size() && exact; ++i) {
    if (labels.telling[i]) out.inputs.size[i] = kLargeCone;
  }
  return out;
}

struct Entry {
  uint64_t key;
  uint64_t name;
  int32_t node;
  bool in_b;
  bool operator<(const Entry& other) const {
    if (key != other.key) return key < other.key;
    if (name != other.name) return name < other.name;
    if (in_b != other.in_b) return other.in_b;
    return node < other.node;
  }
};

void Collect(const Side& side, const std::vector<uint64_t>& keys, bool in_b,
             std::vector<Entry>* entries) {
  for (int32_t i = 0; i < side.view->size(); ++i) {
    if (keys[i] != 0 && side.IsFree(i)) entries->push_back({keys[i], side.view->name(i), i, in_b});
  }
}

}  // namespace

void Matching::MatchUnique(const std::vector<uint64_t>& keys_a, const std::vector<uint64_t>& keys_b,
                           Caution caution, bool by_name) {
  auto match = [&](int32_t a, int32_t b) {
    Agreement found;
    if (caution != Caution::kNone) found = AgreementOf(a, b);
    if (found.disagree <= (caution == Caution::kStrict ? 0 : found.agree)) Match(a, b);
  };
  std::vector<Entry> entries;
  Collect(a_, keys_a, false, &entries);
  Collect(b_, keys_b, true, &entries);
  std::sort(entries.begin(), entries.end());
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
      // Names are sorted within a key, A's before B's. A name that is there twice decides nothing.
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

void Matching::MatchCones(Likeness likeness) {
  bool exact = likeness == Likeness::kExact;
  Surroundings a = Look(*a_.view, *a_.labels, likeness), b = Look(*b_.view, *b_.labels, likeness);
  std::vector<uint64_t> both_a = Both(a.inputs.hash, a.readers.hash),
                        both_b = Both(b.inputs.hash, b.readers.hash);
  both_a = HashAround(*a_.view, std::move(both_a), kNear, exact);
  both_b = HashAround(*b_.view, std::move(both_b), kNear, exact);
  if (!exact) {
    LeaveOutLone(*a_.view, &both_a);
    LeaveOutLone(*b_.view, &both_b);
  }
  (exact ? twins_a_ : like_twins_a_) = both_a;
  (exact ? twins_b_ : like_twins_b_) = both_b;
  MatchUnique(both_a, both_b, Caution::kNone);
  // An edit spoils the hashes of one end only for what lies beyond it. Neighbours are followed when
  // both ends are held: a chain of like blocks can be followed past the one that is new.
  MatchUnique(Telling(a.inputs), Telling(b.inputs), exact ? Caution::kNone : Caution::kStrict,
              /*by_name=*/exact);
  MatchUnique(Telling(a.readers), Telling(b.readers), Caution::kStrict, /*by_name=*/exact);
  Propagate(likeness, Reach::kSure);
}

void Matching::MatchPlainReaders(Likeness likeness) {
  bool exact = likeness == Likeness::kExact;
  auto keys = [&](const Side& side) {
    const std::vector<uint64_t>& own = exact ? side.labels->exact : side.labels->kind;
    std::vector<uint64_t> out = Both(HashOfReaders(*side.view, own, exact).hash,
                                     HashAround(*side.view, own, kNearer, exact));
    if (!exact) LeaveOutLone(*side.view, &out);
    return out;
  };
  MatchUnique(keys(a_), keys(b_), Caution::kBalanced);
  Propagate(likeness, Reach::kSure);
}

// For what is left between edits: of small cones those that no other free node has. A small
// constant is no one in particular, nor is a node that reads nothing and is not read.
void Matching::MatchSmallCones() {
  auto keys = [](const Side& side) {
    ConeHashes cones = HashOfInputs(*side.view, side.labels->exact, true);
    for (int32_t i = 0; i < side.view->size(); ++i) {
      bool alone = cones.size[i] == 1 && side.view->Readers(i).empty();
      if (side.labels->constant[i] || alone) cones.hash[i] = 0;
    }
    return cones.hash;
  };
  MatchUnique(keys(a_), keys(b_), Caution::kBalanced);
  Propagate(Likeness::kExact, Reach::kSure);
}

void Matching::MatchNeighbourhoods(Likeness likeness) {
  bool exact = likeness == Likeness::kExact;
  for (int radius : {kNear, kNearer}) {
    auto keys = [&](const Side& side) {
      std::vector<uint64_t> out =
          HashAround(*side.view, exact ? side.labels->exact : side.labels->kind, radius, exact);
      if (!exact) LeaveOutLone(*side.view, &out);
      return out;
    };
    MatchUnique(keys(a_), keys(b_), Caution::kBalanced);
    Propagate(likeness, Reach::kSure);
  }
}

void Matching::MatchTwins(Likeness likeness) {
  bool exact = likeness == Likeness::kExact;
  std::vector<Entry> entries;
  Collect(a_, exact ? twins_a_ : like_twins_a_, false, &entries);
  Collect(b_, exact ? twins_b_ : like_twins_b_, true, &entries);
  // In order within a class: names say nothing here, or the stages before would have used them.
  for (Entry& entry : entries) {
    const BodyView& view = entry.in_b ? *b_.view : *a_.view;
    entry.name = view.position(entry.node);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& x, const Entry& y) {
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
      Propagate(likeness, Reach::kLikely, from);
    }
    begin = end;
  }
}

}  // namespace grapnel
