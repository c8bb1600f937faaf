// Collects, over a whole run, the nodes where a rule's pattern matched and a condition failed.
#ifndef GRAPNEL_LIB_PASS_NEAR_MISSES_H_
#define GRAPNEL_LIB_PASS_NEAR_MISSES_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/pass/rewrite.h"

namespace grapnel {

// Keeps the last refusal of a rule at a node: a later iteration may refuse for another reason, and
// a rewritten node is not a missed optimization any more.
class NearMisses {
 public:
  void Add(const Refusal& refusal);
  // Forgets the earlier refusal of the rewrite's rule at the rewrite's node, and the refusals at
  // other nodes that the rewrite removed, except for those that say "unlike TensorFlow".
  void Rewrote(const Rewrite& rewrite);
  // The refusals, sorted by pass, rule and node, so that the result is deterministic.
  std::vector<Refusal> Sorted() const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Refusal>
      last_;  // key: place, pass, rule
};

// True if TensorFlow makes this rewrite, although it is wrong, and grapnel does not: the reason
// then contains "unlike TensorFlow".
bool IsUnlikeTensorFlow(const Refusal& refusal);

// "FUNCTION/NODE", or "NODE" in the main graph.
std::string PlaceOf(const Refusal& refusal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_NEAR_MISSES_H_
