#include <algorithm>

#include "lib/diff/matching.h"
#include "llvm/Support/MathExtras.h"

namespace grapnel {

namespace {

// A table of nodes by name. Callers prefetch the slot of a name some time before they look it up,
// since a large table does not fit into the CPU's cache.
class NodesByName {
 public:
  explicit NodesByName(size_t most) : slots_(llvm::PowerOf2Ceil(2 * most + 1)) {}

  void Prefetch(uint64_t name) const { __builtin_prefetch(&slots_[Home(name)]); }
  // If a name occurs twice, as in a broken graph, Find does not return either node.
  void Add(uint64_t name, int32_t node) {
    Slot& slot = slots_[Place(name)];
    slot = {name, slot.is_taken ? kNobody : node, true};
  }
  int32_t Find(uint64_t name) const { return slots_[Place(name)].node; }

 private:
  struct Slot {
    uint64_t name = 0;
    int32_t node = kNobody;
    bool is_taken = false;
  };
  size_t Home(uint64_t name) const { return name & (slots_.size() - 1); }
  size_t Place(uint64_t name) const {
    size_t at = Home(name);
    while (slots_[at].is_taken && slots_[at].name != name) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  std::vector<Slot> slots_;
};

constexpr size_t kAhead = 16;

std::vector<int32_t> FreeNodes(const Side& side) {
  std::vector<int32_t> free;
  for (int32_t i = 0; i < side.view->size(); ++i)
    if (side.IsFree(i)) free.push_back(i);
  return free;
}

// Calls visit(node) for each node; at each, prefetches the slot for the name of the node that comes
// kAhead nodes later.
template <typename Visit>
void ForEachAhead(const std::vector<int32_t>& nodes, const BodyView& view,
                  const NodesByName& by_name, Visit visit) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i + kAhead < nodes.size()) by_name.Prefetch(view.name(nodes[i + kAhead]));
    visit(nodes[i]);
  }
}

}  // namespace

void Matching::MatchNames(Similarity similarity, NameConfidence confidence) {
  std::vector<int32_t> free_a = FreeNodes(a_), free_b = FreeNodes(b_);
  if (free_a.empty() || free_b.empty()) return;
  NodesByName by_name(free_b.size());
  ForEachAhead(free_b, *b_.view, by_name, [&](int32_t b) { by_name.Add(b_.view->name(b), b); });
  ForEachAhead(free_a, *a_.view, by_name, [&](int32_t a) {
    int32_t b = by_name.Find(a_.view->name(a));
    if (b == kNobody || !Alike(a, b, similarity)) return;
    if (confidence == NameConfidence::kAll) return Match(a, b);
    Agreement found = AgreementOf(a, b);
    bool trusted = confidence == NameConfidence::kAgreeing ? found.agree > found.disagree
                                                           : found.agree >= found.disagree;
    if (trusted) Match(a, b);
  });
}

namespace {

struct NamedEntry {
  uint64_t key;
  int32_t position, node;
  bool operator<(const NamedEntry& other) const {
    return std::tie(key, position) < std::tie(other.key, other.position);
  }
};

std::vector<NamedEntry> CollectNamed(const Side& side, Similarity similarity) {
  const std::vector<uint64_t>& labels =
      similarity == Similarity::kKind ? side.labels->kind : side.labels->op;
  std::vector<NamedEntry> entries;
  for (int32_t i = 0; i < side.view->size(); ++i) {
    if (side.IsFree(i))
      entries.push_back({HashInto(side.view->name_class(i), labels[i]), side.view->position(i), i});
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

}  // namespace

void Matching::MatchNameClasses(Similarity similarity) {
  std::vector<NamedEntry> in_a = CollectNamed(a_, similarity), in_b = CollectNamed(b_, similarity);
  auto next_class = [](const std::vector<NamedEntry>& entries, size_t from) {
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
    // Pairs nodes whose names differ only in numbers, in order, but only if both graphs have
    // equally many of them. Otherwise nodes were added or removed, and the order does not show
    // which.
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
