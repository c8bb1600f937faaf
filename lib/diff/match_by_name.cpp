#include <algorithm>

#include "lib/diff/matching.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

void Matching::MatchNames(Likeness likeness, Trust trust) {
  llvm::DenseMap<uint64_t, int32_t> by_name;
  for (int32_t b = 0; b < b_.view->size(); ++b) {
    if (!b_.IsFree(b)) continue;
    auto [it, added] = by_name.try_emplace(b_.view->name(b), b);
    if (!added) it->second = kNobody;  // twice in a broken graph
  }
  for (int32_t a = 0; a < a_.view->size() && !by_name.empty(); ++a) {
    if (!a_.IsFree(a)) continue;
    auto it = by_name.find(a_.view->name(a));
    if (it == by_name.end() || it->second == kNobody || !Alike(a, it->second, likeness)) continue;
    Agreement found = AgreementOf(a, it->second);
    bool trusted =
        trust == Trust::kAll ||
        (trust == Trust::kAgreeing ? found.agree > found.disagree : found.agree >= found.disagree);
    if (trusted) Match(a, it->second);
  }
}

namespace {

struct Entry {
  uint64_t key;
  int32_t position, node;
  bool operator<(const Entry& other) const {
    return std::tie(key, position) < std::tie(other.key, other.position);
  }
};

std::vector<Entry> Collect(const Side& side, Likeness likeness) {
  const std::vector<uint64_t>& labels =
      likeness == Likeness::kKind ? side.labels->kind : side.labels->op;
  std::vector<Entry> entries;
  for (int32_t i = 0; i < side.view->size(); ++i) {
    if (side.IsFree(i))
      entries.push_back({HashInto(side.view->name_class(i), labels[i]), side.view->position(i), i});
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

void Matching::MatchNameClasses(Likeness likeness) {
  std::vector<Entry> in_a = Collect(a_, likeness), in_b = Collect(b_, likeness);
  auto next_class = [](const std::vector<Entry>& entries, size_t from) {
    size_t to = from;
    while (to < entries.size() && entries[to].key == entries[from].key) ++to;
    return to;
  };
  size_t a = 0, b = 0;
  while (a < in_a.size() && b < in_b.size()) {
    if (in_a[a].key != in_b[b].key) {
      if (in_a[a].key < in_b[b].key) {
        a = next_class(in_a, a);
      } else {
        b = next_class(in_b, b);
      }
      continue;
    }
    size_t end_a = next_class(in_a, a), end_b = next_class(in_b, b);
    // Of classes that grew or shrank nobody can say by order which are the new ones.
    bool same_size = end_a - a == end_b - b;
    for (; same_size && a < end_a; ++a, ++b) {
      Agreement found = AgreementOf(in_a[a].node, in_b[b].node);
      if (found.agree >= found.disagree) Match(in_a[a].node, in_b[b].node);
    }
    a = end_a;
    b = end_b;
  }
}

}  // namespace grapnel
