// Drops shape annotations (the attribute `_output_shapes`, with which a file records a node's
// shapes) before and after optimization, as TensorFlow does.
#ifndef GRAPNEL_LIB_PASS_SHAPE_ANNOTATIONS_H_
#define GRAPNEL_LIB_PASS_SHAPE_ANNOTATIONS_H_

#include "lib/pass/editor.h"

namespace grapnel {

// Removes the annotations from the nodes of a graph: TensorFlow does the same when it prepares a
// graph for Grappler (grappler_item_builder.cc), and then infers shapes again. Annotations of
// unknown ops and of arguments stay, since their shapes cannot be inferred. Linear.
void DropShapeAnnotations(Graph& main);

// Returns the nodes whose annotation contradicts the shape that their op infers or the number of
// their outputs, in id order: a rewrite changed them, and TensorFlow cannot import a graph with
// such a node. Infers shapes only if some node has an annotation.
std::vector<NodeId> StaleShapeAnnotations(Graph& graph);

// Removes the annotations from these nodes, each as a rewrite.
void DropStaleShapeAnnotations(Editor& edit, llvm::ArrayRef<NodeId> nodes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_SHAPE_ANNOTATIONS_H_
