// Groups near misses (rewrites that a rule refused) for display: by reason, the most important
// first.
#ifndef GRAPNEL_LIB_JOB_NEAR_MISS_GROUPS_H_
#define GRAPNEL_LIB_JOB_NEAR_MISS_GROUPS_H_

#include <string>
#include <vector>

#include "lib/ir/line_table.h"
#include "lib/ir/short_names.h"
#include "lib/job/made_nodes.h"
#include "lib/pass/rewrite.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct NearMissGroup {
  std::string pass, rule;
  std::string reason;  // for several nodes quoted text is elided: "'...' is read 2 times"
  std::vector<std::string> places;   // in input order
  std::vector<std::string> made_at;  // one per place, "net.py:21 in loss_fn"; "": unknown
  // One per place: the node for which passes made this one, which the graph before them lacks; "":
  // it had the node.
  std::vector<std::string> made_for;
  // How much users want to know of it: fusions, and convolutions and matrix multiplications, before
  // arithmetic, before passes that only tidy up.
  enum Interest { kUpkeep, kArithmetic, kFusion } interest = kUpkeep;
  // Estimated FLOPs of the group's nodes and of the nodes' inputs, as far as shapes are known: the
  // cost that the rule could not reduce.
  int64_t flops = 0;
};

struct NearMissGroups {
  std::vector<NearMissGroup> groups;
  size_t hidden = 0;  // misses at nodes that only stand where a call, loop or branch was
};

// Groups misses with the same rule and the same reason up to names. Sorts by interest, then by
// FLOPs, then by size of the group, then by input order. `module`: the graph in which the rules
// refused to rewrite; `lines`: the source lines of the original graph. `all`: hides none.
NearMissGroups GroupNearMisses(llvm::ArrayRef<Refusal> misses, const Module& module,
                               const LineTable& lines, const MadeNodes& made, bool all);

// Writes a line for each group, and below it the nodes of a group of several: all nodes if `all` or
// if there are at most five, else the first four.
void WriteNearMissGroups(const NearMissGroups& groups, bool all, const ShortNames& names,
                         llvm::raw_ostream& os);
// Returns the names as WriteNearMissGroups prints them. `known`: those of the graph before the
// passes.
ShortNames NamesOf(llvm::ArrayRef<NearMissGroup> groups, std::vector<std::string> known,
                   const Module& after);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NEAR_MISS_GROUPS_H_
