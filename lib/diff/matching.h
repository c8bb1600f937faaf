// Which node of one body is which of another: stages from certain to likely, a file each.
#ifndef GRAPNEL_LIB_DIFF_MATCHING_H_
#define GRAPNEL_LIB_DIFF_MATCHING_H_

#include <vector>

#include "lib/diff/body_view.h"
#include "lib/diff/labels.h"
#include "lib/diff/structure_hash.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// N nodes that became one, or one that became N; said by a ledger also N that became M.
struct NodeGroup {
  std::vector<int32_t> a, b;  // sorted; not in any pair
};

// A pair that is known, as from a ledger.
struct KnownPairs {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  std::vector<NodeGroup> groups;
};

// One side of a comparison.
struct Side {
  const BodyView* view;
  const Labels* labels;
  std::vector<int32_t> other;  // the node of the other body, or kNobody
  std::vector<int32_t> group;  // an index of groups, or kNobody

  bool IsFree(int32_t i) const { return other[i] == kNobody && group[i] == kNobody; }
};

// How much of a node two nodes must share to be taken for one another.
enum class Similarity { kExact, kKind, kOp, kAny };

// The map between two bodies, as it grows. Pairs and groups are never taken back, so a stage that
// may err comes after all that err less. Each stage is near-linear in nodes and edges.
class Matching {
 public:
  // `side_by_side`: hashes of large bodies are made on two threads; the map is the same.
  Matching(const BodyView& a, const Labels& labels_a, const BodyView& b, const Labels& labels_b,
           bool side_by_side);

  // All stages.
  void Run(const KnownPairs& known);
  // Instead of all stages: nodes of one name are one, and no others are.
  void RunByName() { MatchNames(Similarity::kAny, NameConfidence::kAll); }

  const Side& a() const { return a_; }
  const Side& b() const { return b_; }
  const std::vector<NodeGroup>& groups() const { return groups_; }

 private:
  // match_by_structure.cpp: nodes with equal hashes of their surroundings. At kExact constants,
  // devices and control edges count, at kKind they do not.
  void MatchCones(Similarity similarity);
  void MatchPlainReaders(Similarity similarity);
  void MatchSmallCones();
  void MatchNeighborhoods(Similarity similarity);
  // Hashes of one side that several stages ask for, by similarity (kExact or kKind).
  struct KeptHashes {
    std::vector<uint64_t> nearer[2], near[2];  // HashAround of the labels, by radius
    ConeHashes inputs;                         // at kExact
  };
  const std::vector<uint64_t>& Nearer(const Side& side, Similarity similarity);
  const std::vector<uint64_t>& Near(const Side& side, Similarity similarity);
  KeptHashes& KeptOf(const Side& side) { return &side == &a_ ? kept_a_ : kept_b_; }
  // keys_of(side) for both sides, and MatchUnique of them.
  using KeysOf = llvm::function_ref<std::vector<uint64_t>(const Side&)>;
  enum class NeighborCheck { kNone, kBalanced, kStrict };  // against what most, or any, neighbors say
  void MatchUniqueKeys(KeysOf keys_of, NeighborCheck check);
  // Pairs nodes whose keys are equal and had by no other node; of several, those of one name.
  // Nodes with key 0 take no part. `by_name`: whether names choose at all.
  void MatchUnique(const std::vector<uint64_t>& keys_a, const std::vector<uint64_t>& keys_b,
                   NeighborCheck check, bool by_name = true);
  // Duplicates: any choice is right, as long as the neighbors then follow it. At kKind, those that only
  // constants, functions or devices around them could tell apart.
  void MatchDuplicates(Similarity similarity);

  // match_by_name.cpp
  enum class NameConfidence { kAgreeing, kTouching, kNotContradicted, kAll };  // kTouching: any agreement
  void MatchNames(Similarity similarity, NameConfidence confidence);
  // Names but for their numbers, in their order.
  void MatchNameClasses(Similarity similarity);

  // match_by_neighbors.cpp: what is read and what reads at the same place of a pair.
  // A candidate must contradict nothing known; to be sure, all that it reads (or all that reads it)
  // must be known and agree, or it must be the only reader. `from`: the first of pairs_ to follow.
  enum class Confidence { kSure, kLikely };
  void Propagate(Similarity similarity, Confidence confidence, size_t from = 0);
  bool IsSettled(size_t pair) const;  // one of the two has no free neighbor, and never will
  void TakeInNewPairs();
  void PropagateAll();
  bool HasFreeNeighbors(const Side& side, int32_t i) const;
  void FollowInputs(int32_t a, int32_t b, Similarity similarity, Confidence confidence);
  void FollowReaders(int32_t a, int32_t b, Similarity similarity, Confidence confidence);
  bool FitsAsInput(int32_t a, int32_t b, Confidence confidence) const;
  bool FitsAsReader(int32_t a, int32_t b, Confidence confidence, bool only_readers) const;
  // Each free node asks the partners of its neighbors for candidates; mutual best ones are paired.
  bool Vote(Similarity similarity);

  // match_groups.cpp: fusions, splits, folded constants, and one op in the place of another.
  bool FindGroups();
  bool FindFolded(int32_t head);
  bool FindNamedFusions();
  // `as_pair`: only a region of one node, else only larger ones.
  bool FindReplacement(Side& whole, Side& parts, int32_t head, bool as_pair);

  void MatchConstants(int32_t a, int32_t b);
  bool AddFolded(int32_t exit, int32_t head);

  // match_siblings.cpp: nodes of one kind that read the same, as many of them on both sides; of
  // those first the ones of corresponding scopes, then the others in order.
  void MatchSiblings();

  void Match(int32_t a, int32_t b);
  void AddGroup(std::vector<int32_t> a, std::vector<int32_t> b);
  bool Alike(int32_t a, int32_t b, Similarity similarity) const;
  // Neighbors at the same place that are paired with each other, and those that are paired
  // otherwise. Of many readers only the first are asked.
  struct Agreement {
    int agree = 0, disagree = 0;
  };
  Agreement AgreementOf(int32_t a, int32_t b) const;

  Side a_, b_;
  std::vector<NodeGroup> groups_;
  std::vector<uint64_t> like_twins_a_, like_twins_b_;  // the same but for constants and such
  std::vector<uint64_t> twins_a_, twins_b_;         // equal: the same in all that structure tells
  std::vector<std::pair<int32_t, int32_t>> pairs_;  // in the order in which they were found
  // Whether names choose among neighbors that are alike. Not while structure is still asked: in a
  // model that grew by a block all numbers have moved.
  bool names_decide_ = false;
  std::vector<uint32_t> open_;  // places in pairs_ that are not settled, rising
  size_t num_taken_in_ = 0;     // how many of pairs_ have been put there
  KeptHashes kept_a_, kept_b_;
  bool side_by_side_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_MATCHING_H_
