// The properties of an op that placement needs, computed once for each op of a graph.
#ifndef GRAPNEL_LIB_PLACE_OP_FACTS_H_
#define GRAPNEL_LIB_PLACE_OP_FACTS_H_

#include <deque>

#include "lib/ir/module.h"
#include "lib/ir/node_types.h"

namespace grapnel {

struct OpFacts {
  const OpInfo* info = nullptr;  // null: an unknown op
  bool may_tie = false;          // some input may be a handle, a reference or a variant
  bool makes_one = false;        // the op has exactly one output, which may be a list
  bool output_is_ref = false;    // that output is a reference
  bool is_identity = false;      // Identity, RefIdentity
  bool is_metadata = false;      // Shape, Size, Rank: read their input's shape, not its values
  bool is_dataset = false;
  bool is_exempt = false;  // accepts handles of other devices: such as PartitionedCall,
                           // IdentityN and ReduceDataset
  bool is_call = false;    // a function call: the op is a function's name or a PartitionedCall
};

// Facts by the op's StringId. References stay valid as long as the table lives.
class OpFactsTable {
 public:
  explicit OpFactsTable(const Module& module) : module_(module) {}
  const OpFacts& Of(const Node& node);

 private:
  const Module& module_;
  std::deque<OpFacts> facts_;
  std::vector<uint32_t> by_op_;  // index + 1 in facts_
};

// Returns the function that a call calls; null if the library does not have it.
const Function* CalleeOf(const Node& call);

// True if the node has no inputs and makes a variable or a handle, which never moves to another
// device.
bool MakesResourceOrReference(const Node& node, const OpFacts& facts);

// True if the node has no inputs and one output that is not a reference: it may be placed with its
// reader.
bool IsGenerator(const Node& node, const OpFacts& facts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_OP_FACTS_H_
