// Near misses as a person reads them: by reason, the most costly first.
#ifndef GRAPNEL_LIB_JOB_NEAR_MISS_GROUPS_H_
#define GRAPNEL_LIB_JOB_NEAR_MISS_GROUPS_H_

#include <string>
#include <vector>

#include "lib/ir/line_table.h"
#include "lib/ir/module.h"
#include "lib/pass/rewrite.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct NearMissGroup {
  std::string pass, rule;
  std::string reason;  // of several nodes with what is quoted left out: "'...' is read 2 times"
  std::vector<std::string> places;   // "FUNCTION/NODE", in the order given
  std::vector<std::string> made_at;  // for each "net.py:21 in loss_fn"; "": the graph does not say
  // Estimated floating-point operations of these nodes and of what they read, as far as shapes are
  // known: what the rule could not make cheaper.
  int64_t flops = 0;
};

// Those of one rule and one reason but for names, sorted by FLOPs, then by how many they are, then
// as given. `module` is the graph that the rules refused, `lines` those of the graph as it was
// given.
std::vector<NearMissGroup> GroupNearMisses(llvm::ArrayRef<Refusal> misses, const Module& module,
                                           const LineTable& lines);

// A line for each group, and under it its nodes: with `all` each, else the first four.
void WriteNearMissGroups(llvm::ArrayRef<NearMissGroup> groups, bool all, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NEAR_MISS_GROUPS_H_
