// Matches the nodes of two bodies, in stages from certain to likely, one file each.
#ifndef GRAPNEL_LIB_DIFF_MATCHING_H_
#define GRAPNEL_LIB_DIFF_MATCHING_H_

#include <vector>

#include "lib/diff/body_view.h"
#include "lib/diff/labels.h"
#include "lib/diff/structure_hash.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// N nodes that became one, or one that became N; from a ledger also N that became M.
struct NodeGroup {
  std::vector<int32_t> a, b;  // sorted; not in any pair
};

// Pairs that are known beforehand, as from a ledger.
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

// How much two nodes must have in common to be paired.
enum class Similarity { kExact, kKind, kOp, kAny };

// The map between two bodies while it grows. Pairs and groups are never undone, so stages run from
// the most to the least reliable. Each stage is near-linear in nodes and edges.
class Matching {
 public:
  // `side_by_side`: hashes large bodies on two threads; the map is the same.
  Matching(const BodyView& a, const Labels& labels_a, const BodyView& b, const Labels& labels_b,
           bool side_by_side);

  // All stages.
  void Run(const KnownPairs& known);
  // Replaces Run: pairs nodes of one name, and no others.
  void RunByName() { MatchNames(Similarity::kAny, NameConfidence::kAll); }

  const Side& a() const { return a_; }
  const Side& b() const { return b_; }
  const std::vector<NodeGroup>& groups() const { return groups_; }

 private:
  // match_by_structure.cpp: pairs nodes with equal hashes of their surroundings. Constants, devices
  // and control edges count at kExact, not at kKind.
  void MatchCones(Similarity similarity);
  void MatchPlainReaders(Similarity similarity);
  void MatchSmallCones();
  void MatchNeighborhoods(Similarity similarity);
  // Hashes of one side that several stages use, by similarity (kExact or kKind).
  struct KeptHashes {
    std::vector<uint64_t> nearer[2], near[2];  // HashAround of the labels, by radius
    ConeHashes inputs;                         // at kExact
  };
  const std::vector<uint64_t>& Nearer(const Side& side, Similarity similarity);
  const std::vector<uint64_t>& Near(const Side& side, Similarity similarity);
  KeptHashes& KeptOf(const Side& side) { return &side == &a_ ? kept_a_ : kept_b_; }
  // Calls keys_of(side) for both sides, and MatchUnique with the results.
  using KeysOf = llvm::function_ref<std::vector<uint64_t>(const Side&)>;
  // kBalanced: no more neighbors disagree than agree; kStrict: no neighbor disagrees.
  enum class NeighborCheck { kNone, kBalanced, kStrict };
  void MatchUniqueKeys(KeysOf keys_of, NeighborCheck check);
  // Pairs nodes whose keys are equal and that no other node has; of several nodes with one key,
  // those of one name. Nodes with key 0 take no part. `by_name`: whether names may decide.
  void MatchUnique(const std::vector<uint64_t>& keys_a, const std::vector<uint64_t>& keys_b,
                   NeighborCheck check, bool by_name = true);
  // Pairs duplicates: any choice is right if the neighbors then follow it. At kKind, pairs nodes
  // that only the constants, functions or devices around them could tell apart.
  void MatchDuplicates(Similarity similarity);

  // match_by_name.cpp. kTouching: any neighbor agrees.
  enum class NameConfidence { kAgreeing, kTouching, kNotContradicted, kAll };
  void MatchNames(Similarity similarity, NameConfidence confidence);
  // Pairs nodes by their names without numbers, in the order of the numbers.
  void MatchNameClasses(Similarity similarity);

  // match_by_neighbors.cpp: pairs what the two nodes of a pair read, and what reads them, at the
  // same place. A candidate must not contradict a known pair. To be sure, all of its inputs (or all
  // of its readers) must be matched and agree, or it must be the only reader. `from`: the first of
  // pairs_ to follow.
  enum class Confidence { kSure, kLikely };
  void Propagate(Similarity similarity, Confidence confidence, size_t from = 0);
  bool IsSettled(size_t pair) const;  // one of the two has no free neighbor left
  void TakeInNewPairs();
  void PropagateAll();
  bool HasFreeNeighbors(const Side& side, int32_t i) const;
  void FollowInputs(int32_t a, int32_t b, Similarity similarity, Confidence confidence);
  void FollowReaders(int32_t a, int32_t b, Similarity similarity, Confidence confidence);
  bool FitsAsInput(int32_t a, int32_t b, Confidence confidence) const;
  bool FitsAsReader(int32_t a, int32_t b, Confidence confidence, bool only_readers) const;
  // Each free node collects candidates from its neighbors' partners; pairs that prefer each other
  // match.
  bool Vote(Similarity similarity);

  // match_groups.cpp: fusions, splits, folded constants, and ops replaced by another.
  bool FindGroups();
  bool FindFolded(int32_t head);
  bool FindNamedFusions();
  // `as_pair`: only regions of one node; else only larger ones.
  bool FindReplacement(Side& whole, Side& parts, int32_t head, bool as_pair);

  void MatchConstants(int32_t a, int32_t b);
  bool AddFolded(int32_t exit, int32_t head);

  // match_siblings.cpp: pairs nodes of one kind that read the same, if both sides have as many:
  // first those of corresponding scopes, then the others in order.
  void MatchSiblings();

  void Match(int32_t a, int32_t b);
  void AddGroup(std::vector<int32_t> a, std::vector<int32_t> b);
  bool Alike(int32_t a, int32_t b, Similarity similarity) const;
  // Counts neighbors at the same place that are paired with each other, and those paired with other
  // nodes. Only the first of many readers are checked.
  struct Agreement {
    int agree = 0, disagree = 0;
  };
  Agreement AgreementOf(int32_t a, int32_t b) const;

  Side a_, b_;
  std::vector<NodeGroup> groups_;
  std::vector<uint64_t> like_twins_a_, like_twins_b_;  // same but constants etc.
  std::vector<uint64_t> twins_a_, twins_b_;            // structurally the same
  std::vector<std::pair<int32_t, int32_t>> pairs_;     // in the order in which they were found
  // True if names may choose among equal neighbors. False while structural stages run: in a model
  // that grew by a block, all numbers have shifted.
  bool names_decide_ = false;
  std::vector<uint32_t> open_;  // indices of unsettled pairs_, ascending
  size_t num_taken_in_ = 0;     // how many of pairs_ were added to open_
  KeptHashes kept_a_, kept_b_;
  bool side_by_side_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_MATCHING_H_
