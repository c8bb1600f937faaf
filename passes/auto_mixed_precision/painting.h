// Which dtypes of which nodes become half: the painting of the type graph.
#ifndef GRAPNEL_PASSES_AUTO_MIXED_PRECISION_PAINTING_H_
#define GRAPNEL_PASSES_AUTO_MIXED_PRECISION_PAINTING_H_

#include <vector>

#include "lib/pass/editor.h"
#include "passes/auto_mixed_precision/lists.h"
#include "passes/auto_mixed_precision/type_graph.h"

namespace grapnel::auto_mixed_precision {

// The nodes that may change at all: on the right device, and not preserved. Indexed by NodeId.
std::vector<bool> NodesToProcess(Editor& edit, Mode mode, const OpLists& lists);

// By vertex: whether it becomes half. TensorFlow's algorithm, step by step:
//   1. ops on the allow list are painted
//   2. ops on the deny list, and what follows them through infer and clear ops up to the last deny
//      or infer op, are barred
//   3. infer and clear ops between painted ones are painted
//   4. on the CPU, infer ops that follow a painted one are painted
//   5. clear ops are painted when connected to painted ones through clear ops
//   6. what the op's definition does not allow in half is taken back
// Tensor lists have one color for all ops on them, loops one for both ends of the back edge, and a
// Cast to float of which all readers are half casts to half.
// Adds edges from writers of tensor lists to their readers. All false: nothing to do.
std::vector<bool> Paint(TypeGraph& types, Mode mode, const OpLists& lists,
                        const std::vector<bool>& to_process);

}  // namespace grapnel::auto_mixed_precision

#endif  // GRAPNEL_PASSES_AUTO_MIXED_PRECISION_PAINTING_H_
