// Matches the nodes of two bodies, in stages from certain to likely. Each stage is in its own file.
#ifndef GRAPNEL_LIB_DIFF_MATCHING_H_
#define GRAPNEL_LIB_DIFF_MATCHING_H_

#include <vector>

#include "lib/diff/body_view.h"
#include "lib/diff/labels.h"
#include "lib/diff/structure_hash.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// N nodes of A that became one node of B, or one that became N. A ledger (the record of rewrites
// that `opt --ledger` writes) also has groups of N nodes that became M.
struct NodeGroup {
  std::vector<int32_t> a, b;  // sorted; these nodes are not in any pair
};

// Pairs and groups that the caller already knows, as from a ledger.
struct KnownPairs {
  std::vector<std::pair<int32_t, int32_t>> pairs;
  std::vector<NodeGroup> groups;
};

// The body of one graph in a comparison, and what is matched so far. A node without a partner and
// without a group is free.
struct Side {
  const BodyView* view;
  const Labels* labels;
  std::vector<int32_t> other;  // the partner in the other body, or kNobody
  std::vector<int32_t> group;  // an index in groups, or kNobody

  bool IsFree(int32_t i) const { return other[i] == kNobody && group[i] == kNobody; }
};

// Which hashes (see Labels) two nodes must have in common to be paired; kAny: none.
enum class Similarity { kExact, kKind, kOp, kAny };

// The pairs and groups of two bodies, while stages add to them. Pairs and groups are never undone,
// so the most reliable stages run first. Each stage is near-linear in nodes and edges.
class Matching {
 public:
  // `side_by_side`: hashes the two bodies on two threads; the result is the same.
  Matching(const BodyView& a, const Labels& labels_a, const BodyView& b, const Labels& labels_b,
           bool side_by_side);

  // Runs all stages.
  void Run(const KnownPairs& known);
  // Used instead of Run: pairs nodes of the same name, and no others.
  void RunByName() { MatchNames(Similarity::kAny, NameConfidence::kAll); }

  const Side& a() const { return a_; }
  const Side& b() const { return b_; }
  const std::vector<NodeGroup>& groups() const { return groups_; }

 private:
  // match_by_structure.cpp: pairs nodes whose surroundings have equal hashes. The values of
  // constants, functions, devices and control edges count at kExact, but not at kKind.
  void MatchCones(Similarity similarity);
  void MatchPlainReaders(Similarity similarity);
  void MatchSmallCones();
  void MatchNeighborhoods(Similarity similarity);
  // Hashes of one side that several stages use, indexed by similarity (kExact or kKind).
  struct KeptHashes {
    std::vector<uint64_t> nearer[2], near[2];  // HashAround of the labels, with two radii
    ConeHashes inputs;                         // at kExact
  };
  const std::vector<uint64_t>& Nearer(const Side& side, Similarity similarity);
  const std::vector<uint64_t>& Near(const Side& side, Similarity similarity);
  KeptHashes& KeptOf(const Side& side) { return &side == &a_ ? kept_a_ : kept_b_; }
  // Calls keys_of(side) for both sides, and MatchUnique with the keys.
  using KeysOf = llvm::function_ref<std::vector<uint64_t>(const Side&)>;
  // kBalanced: at most as many neighbors disagree as agree; kStrict: no neighbor disagrees.
  enum class NeighborCheck { kNone, kBalanced, kStrict };
  void MatchUniqueKeys(KeysOf keys_of, NeighborCheck check);
  // Pairs a node of A and a node of B if both have the same key and no other node has it; if
  // several nodes have the key, pairs those of the same name. Nodes with key 0 are not paired.
  // `by_name`: whether names may decide.
  void MatchUnique(const std::vector<uint64_t>& keys_a, const std::vector<uint64_t>& keys_b,
                   NeighborCheck check, bool by_name = true);
  // Pairs nodes whose surroundings equal those of several nodes of the other graph. Any of these
  // may be the partner, as long as their neighbors are then paired accordingly. At kKind, the
  // surroundings may differ in values of constants, functions, devices and control edges.
  void MatchDuplicates(Similarity similarity);

  // match_by_name.cpp: pairs nodes of the same name. kAgreeing: if more neighbors agree than
  // disagree; kTouching, kNotContradicted: if at least as many agree; kAll: always.
  enum class NameConfidence { kAgreeing, kTouching, kNotContradicted, kAll };
  void MatchNames(Similarity similarity, NameConfidence confidence);
  // Pairs nodes whose names differ only in numbers, in topological order.
  void MatchNameClasses(Similarity similarity);

  // match_by_neighbors.cpp: for each pair, pairs the nodes that the two read at the same place, and
  // the nodes that read the two at the same place. A candidate must not contradict an existing
  // pair. For kSure, all inputs of the candidate (or all of its readers) must be paired and agree,
  // or it must be the only reader. `from`: the index in pairs_ at which to start.
  enum class Confidence { kSure, kLikely };
  void Propagate(Similarity similarity, Confidence confidence, size_t from = 0);
  bool IsSettled(size_t pair) const;  // one of the two nodes has no free neighbor left
  void TakeInNewPairs();
  void PropagateAll();
  bool HasFreeNeighbors(const Side& side, int32_t i) const;
  void FollowInputs(int32_t a, int32_t b, Similarity similarity, Confidence confidence);
  void FollowReaders(int32_t a, int32_t b, Similarity similarity, Confidence confidence);
  bool FitsAsInput(int32_t a, int32_t b, Confidence confidence) const;
  bool FitsAsReader(int32_t a, int32_t b, Confidence confidence, bool only_readers) const;
  // Each free node collects candidates from the partners of its neighbors; two nodes that prefer
  // each other are paired.
  bool Vote(Similarity similarity);

  // match_groups.cpp: finds fusions, splits, folded constants, and ops that another op replaced.
  bool FindGroups();
  bool FindFolded(int32_t head);
  bool FindNamedFusions();
  // Looks in `parts` for a region of nodes that `head`, a node of `whole`, replaces. `as_pair`:
  // only for regions of one node; otherwise only for larger ones.
  bool FindReplacement(Side& whole, Side& parts, int32_t head, bool as_pair);

  void MatchConstants(int32_t a, int32_t b);
  bool AddFolded(int32_t exit, int32_t head);

  // match_siblings.cpp: pairs nodes of the same kind that read the same inputs, if both sides have
  // equally many: first those in corresponding scopes, then the others in order.
  void MatchSiblings();

  void Match(int32_t a, int32_t b);
  void AddGroup(std::vector<int32_t> a, std::vector<int32_t> b);
  bool Alike(int32_t a, int32_t b, Similarity similarity) const;
  // Counts the inputs and readers of two nodes, slot by slot: those that are paired with each
  // other, and those that are paired with other nodes. Only the first of many readers are checked.
  struct Agreement {
    int agree = 0, disagree = 0;
  };
  Agreement AgreementOf(int32_t a, int32_t b) const;

  Side a_, b_;
  std::vector<NodeGroup> groups_;
  std::vector<uint64_t> like_twins_a_, like_twins_b_;  // equal at kKind
  std::vector<uint64_t> twins_a_, twins_b_;            // equal at kExact
  std::vector<std::pair<int32_t, int32_t>> pairs_;     // in the order in which they were found
  // True if names may decide between equally good candidates. False while structural stages run: if
  // a block was added to a model, all numbers in the names of later blocks have changed.
  bool names_decide_ = false;
  std::vector<uint32_t> open_;  // indices in pairs_ of pairs with free neighbors, ascending
  size_t num_taken_in_ = 0;     // the number of pairs_ that were added to open_
  KeptHashes kept_a_, kept_b_;
  bool side_by_side_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_MATCHING_H_
