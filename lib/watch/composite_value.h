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
  // The indices of the node's inputs or outputs that form the value. Sparse: indices, values, dense
  // shape. Ragged: row splits, the outermost first, then values.
  std::vector<int> ports;
};

// Return the composites among the inputs or outputs of a node, by the argument names of its op: a
// SparseTensor needs all three parts, a RaggedTensor row splits and values. Cost of each call: a
// look-up of the op's definition.
std::vector<Composite> CompositeInputs(const Node& node);
std::vector<Composite> CompositeOutputs(const Node& node);

// Describes the value whose parts are given, in the order of Composite::ports, in one line:
//   sparse float32 (3, 4), 2 of 12 set: [0, 0]: 1, [1, 2]: 2.5
//   ragged int32 (3, None): [[1, 2], [], [3]]
//   slices of float32 (4, 2): [0]: [1., 2.], [3]: [3., 4.]      if one index is for a whole row
// Elements after the first `limit` are abbreviated to "...". Errors explain why the parts do not
// form such a value.
Expected<std::string> CompositeText(Composite::Kind kind, llvm::ArrayRef<Tensor> parts,
                                    int64_t limit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_COMPOSITE_VALUE_H_
