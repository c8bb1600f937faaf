// Sparse and ragged tensors: several tensors of a graph that are one value.
#ifndef GRAPNEL_LIB_WATCH_COMPOSITE_VALUE_H_
#define GRAPNEL_LIB_WATCH_COMPOSITE_VALUE_H_

#include <string>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/ir/graph.h"

namespace grapnel {

struct Composite {
  enum class Kind : uint8_t { kSparse, kRagged };
  Kind kind = Kind::kSparse;
  std::string name;  // what the op's arguments have in common: "a" of a_indices, a_values; or ""
  // Inputs or outputs of the node. Sparse: indices, values, dense shape. Ragged: row splits, the
  // outermost first, then values.
  std::vector<int> ports;
};

// What a node reads, or makes, as such, by the names of its op's arguments: of a SparseTensor all
// three parts, of a RaggedTensor row splits and values. Costs a look-up of the op.
std::vector<Composite> CompositeInputs(const Node& node);
std::vector<Composite> CompositeOutputs(const Node& node);

// The parts, in the order of Composite::ports, as what they are, in a line:
//   sparse float32 (3, 4), 2 of 12 set: [0, 0]: 1, [1, 2]: 2.5
//   ragged int32 (3, None): [[1, 2], [], [3]]
//   slices of float32 (4, 2): [0]: [1., 2.], [3]: [3., 4.]      where one index is for a whole row
// Of more than `limit` elements some are left out, with "..." for them. Errors: the parts do not
// fit together, and how.
Expected<std::string> CompositeText(Composite::Kind kind, llvm::ArrayRef<Tensor> parts,
                                    int64_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_COMPOSITE_VALUE_H_
