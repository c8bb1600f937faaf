// Where a rule's pattern was found and a condition failed, over a whole run.
#ifndef GRAPNEL_LIB_PASS_NEAR_MISSES_H_
#define GRAPNEL_LIB_PASS_NEAR_MISSES_H_

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/pass/rewrite.h"

namespace grapnel {

// The last word on a node counts: what was refused early may have been refused for another reason
// later, and what is rewritten is left undone no more.
class NearMisses {
 public:
  void Add(const Refusal& refusal);
  // What the rule refused before at that node is forgotten, and what was refused at nodes that were
  // fused into it. Where TensorFlow would be wrong that stays.
  void Rewrote(const Rewrite& rewrite);
  // By pass, rule and node, so that the same graph always reads the same.
  std::vector<Refusal> Sorted() const;

 private:
  std::map<std::tuple<std::string, std::string, std::string>, Refusal> last_;  // place, pass, rule
};

// Whether TensorFlow rewrites there and is wrong: the reason says "unlike TensorFlow".
bool IsUnlikeTensorFlow(const Refusal& refusal);

// "FUNCTION/NODE", in the main graph "NODE".
std::string PlaceOf(const Refusal& refusal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_NEAR_MISSES_H_
