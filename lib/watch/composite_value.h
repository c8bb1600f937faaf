// Sparse and ragged tensors: several tensors of a graph that form one value.
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
  std::string name;  // the common prefix of the op's arguments: "a" of a_indices, a_values; or ""
  // The inputs or outputs of the node. Sparse: indices, values, dense shape. Ragged: row splits,
  // the outermost first, then values.
  std::vector<int> ports;
};

// Return the composites among the inputs or outputs of a node, by the argument names of its op: a
// SparseTensor needs all three parts, a RaggedTensor row splits and values. Each call looks the op
// up.
std::vector<Composite> CompositeInputs(const Node& node);
std::vector<Composite> CompositeOutputs(const Node& node);

// Describes the parts, in the order of Composite::ports, in one line:
//   sparse float32 (3, 4), 2 of 12 set: [0, 0]: 1, [1, 2]: 2.5
//   ragged int32 (3, None): [[1, 2], [], [3]]
//   slices of float32 (4, 2): [0]: [1., 2.], [3]: [3., 4.]      if one index is for a whole row
// More than `limit` elements are abbreviated with "...". Errors: how the parts do not fit together.
Expected<std::string> CompositeText(Composite::Kind kind, llvm::ArrayRef<Tensor> parts,
                                    int64_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_COMPOSITE_VALUE_H_
