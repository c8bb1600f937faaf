// What placement asks of an op, looked up once for each op of a graph.
#ifndef GRAPNEL_LIB_PLACE_OP_FACTS_H_
#define GRAPNEL_LIB_PLACE_OP_FACTS_H_

#include <deque>

#include "lib/ir/module.h"
#include "lib/ir/node_types.h"

namespace grapnel {

struct OpFacts {
  const OpInfo* info = nullptr;  // null: an op that nobody knows
  bool may_tie = false;          // an input can be a handle, a reference or a variant
  bool makes_one = false;        // no inputs and a single output, as far as the op alone says
  bool output_is_ref = false;    // that output is a reference
  bool is_identity = false;      // Identity, RefIdentity
  bool is_metadata = false;      // Shape, Size, Rank: they look at their input and not into it
  bool is_dataset = false;
  bool is_exempt = false;  // takes handles of other devices: calls that are split over devices, and
                           // IdentityN
  bool is_call = false;    // of a function: the op is one, or it is PartitionedCall
};

// Facts by the op's StringId. References hold while it lives.
class OpFactsTable {
 public:
  explicit OpFactsTable(const Module& module) : module_(module) {}
  const OpFacts& Of(const Node& node);

 private:
  const Module& module_;
  std::deque<OpFacts> facts_;
  std::vector<uint32_t> by_op_;  // index + 1 in facts_
};

// The function that a call calls; null when it is none of the library.
const Function* CalleeOf(const Node& call);

// Whether the node is a lone maker of something that stays where it was made: a variable, a handle.
bool MakesResourceOrReference(const Node& node, const OpFacts& facts);

// No inputs, one output and no reference: it may go where its reader is.
bool IsGenerator(const Node& node, const OpFacts& facts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_OP_FACTS_H_
