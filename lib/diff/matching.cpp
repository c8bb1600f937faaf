#include "lib/diff/matching.h"

#include <algorithm>

namespace grapnel {
namespace {

Side MakeSide(const BodyView& view, const Labels& labels) {
  return {&view, &labels, std::vector<int32_t>(view.size(), kNobody),
          std::vector<int32_t>(view.size(), kNobody)};
}

}  // namespace

Matching::Matching(const BodyView& a, const Labels& labels_a, const BodyView& b,
                   const Labels& labels_b, bool side_by_side)
    : a_(MakeSide(a, labels_a)), b_(MakeSide(b, labels_b)), side_by_side_(side_by_side) {}

void Matching::Run(const KnownPairs& known) {
  for (const auto& [a, b] : known.pairs) Match(a, b);
  for (const NodeGroup& group : known.groups) AddGroup(group.a, group.b);
  for (Similarity similarity : {Similarity::kExact, Similarity::kKind}) MatchCones(similarity);
  names_decide_ = true;
  MatchNames(Similarity::kKind, NameConfidence::kAgreeing);
  PropagateAll();
  MatchPlainReaders(Similarity::kExact);
  MatchPlainReaders(Similarity::kKind);
  MatchNeighborhoods(Similarity::kExact);
  MatchNeighborhoods(Similarity::kKind);
  PropagateAll();
  MatchNames(Similarity::kKind, NameConfidence::kNotContradicted);
  PropagateAll();
  MatchDuplicates(Similarity::kExact);
  MatchSmallCones();
  MatchNames(Similarity::kOp, NameConfidence::kAgreeing);
  PropagateAll();
  while (FindGroups()) PropagateAll();
  MatchNames(Similarity::kOp, NameConfidence::kAll);
  PropagateAll();
  MatchNameClasses(Similarity::kOp);
  PropagateAll();
  // Newly paired nodes may reveal groups whose neighbors were not paired before.
  while (FindGroups()) PropagateAll();
  if (FindNamedFusions()) PropagateAll();
  while (FindGroups()) PropagateAll();
  MatchSiblings();
  PropagateAll();
  // A node whose op changed may have its inputs in another order: if the names are equal, it is
  // enough that as many neighbors agree as disagree.
  MatchNames(Similarity::kAny, NameConfidence::kTouching);
  while (Vote(Similarity::kAny)) PropagateAll();
  MatchDuplicates(Similarity::kKind);
  PropagateAll();
}

void Matching::Match(int32_t a, int32_t b) {
  if (!a_.IsFree(a) || !b_.IsFree(b)) return;
  a_.other[a] = b;
  b_.other[b] = a;
  pairs_.push_back({a, b});
}

void Matching::AddGroup(std::vector<int32_t> a, std::vector<int32_t> b) {
  auto is_taken = [](const Side& side) { return [&](int32_t i) { return !side.IsFree(i); }; };
  if (std::any_of(a.begin(), a.end(), is_taken(a_)) || a.empty()) return;
  if (std::any_of(b.begin(), b.end(), is_taken(b_)) || b.empty()) return;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  int32_t index = static_cast<int32_t>(groups_.size());
  for (int32_t i : a) a_.group[i] = index;
  for (int32_t i : b) b_.group[i] = index;
  groups_.push_back({std::move(a), std::move(b)});
}

bool Matching::Alike(int32_t a, int32_t b, Similarity similarity) const {
  switch (similarity) {
    case Similarity::kExact:
      return a_.labels->exact[a] == b_.labels->exact[b];
    case Similarity::kKind:
      return a_.labels->kind[a] == b_.labels->kind[b];
    case Similarity::kOp:
      return a_.labels->op[a] == b_.labels->op[b];
    case Similarity::kAny:
      return true;
  }
  return false;
}

}  // namespace grapnel
