// Collects, over a whole run, the nodes where a rule's pattern matched and a condition failed.
#ifndef GRAPNEL_LIB_PASS_NEAR_MISSES_H_
#define GRAPNEL_LIB_PASS_NEAR_MISSES_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/pass/rewrite.h"

namespace grapnel {

// The last refusal at a node counts: a later iteration may refuse for another reason, and a
// rewritten node is not a missed optimization any more.
class NearMisses {
 public:
  void Add(const Refusal& refusal);
  // Forgets the rule's earlier refusals at that node, and at nodes that were fused into it.
  // Refusals that avoid an error of TensorFlow stay.
  void Rewrote(const Rewrite& rewrite);
  // By pass, rule and node, so that the result is deterministic.
  std::vector<Refusal> Sorted() const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Refusal> last_;  // place, pass, rule
};

// True if TensorFlow does the rewrite and is wrong: the reason says "unlike TensorFlow".
bool IsUnlikeTensorFlow(const Refusal& refusal);

// "FUNCTION/NODE", or "NODE" in the main graph.
std::string PlaceOf(const Refusal& refusal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_NEAR_MISSES_H_
