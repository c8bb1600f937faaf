// Decides which dtypes of which nodes become half: marks ("paints") vertices of the type graph.
#ifndef GRAPNEL_PASSES_AUTO_MIXED_PRECISION_PAINTING_H_
#define GRAPNEL_PASSES_AUTO_MIXED_PRECISION_PAINTING_H_

#include <vector>

#include "lib/pass/editor.h"
#include "passes/auto_mixed_precision/lists.h"
#include "passes/auto_mixed_precision/type_graph.h"

namespace grapnel::auto_mixed_precision {

// The nodes that may change: on the right device, and not preserved. Indexed by NodeId.
std::vector<bool> NodesToProcess(Editor& edit, Mode mode, const OpLists& lists);

// For each vertex, whether it becomes half. TensorFlow's algorithm, step by step:
//   1. ops on the allow list are painted
//   2. ops on the deny list, and the ops that follow them through infer and clear ops up to the
//      last deny or infer op, are barred
//   3. infer and clear ops between painted ones are painted, unless they are barred (as in 4, 5)
//   4. on the CPU, infer ops that read a painted one, and no barred one, are painted
//   5. clear ops are painted when connected to painted ones through clear ops
//   6. ops on the allow list are unpainted if their definition does not allow half, or if they have
//      a quantized dtype
// All ops on one tensor list get the same color, and so do both ends of a loop's back edge. A Cast
// to float whose readers are all half casts to half instead. Adds edges to `types` from writers of
// tensor lists to their readers. If no vertex becomes half, the pass has nothing to do.
std::vector<bool> Paint(TypeGraph& types, Mode mode, const OpLists& lists,
                        const std::vector<bool>& to_process);

}  // namespace grapnel::auto_mixed_precision

#endif  // GRAPNEL_PASSES_AUTO_MIXED_PRECISION_PAINTING_H_
