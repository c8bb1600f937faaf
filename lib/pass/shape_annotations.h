// What a file says of its nodes' shapes (`_output_shapes`), and what optimizing makes of it.
#ifndef GRAPNEL_LIB_PASS_SHAPE_ANNOTATIONS_H_
#define GRAPNEL_LIB_PASS_SHAPE_ANNOTATIONS_H_

#include "lib/pass/editor.h"

namespace grapnel {

// Takes the annotations off the nodes of a main graph: TensorFlow does so where it makes a graph
// ready for Grappler (grappler_item_builder.cc), and infers shapes anew. Those of unknown
// ops and of arguments stay, since nothing else says what they give. Linear.
void DropShapeAnnotations(Graph& main);

// Nodes whose annotation contradicts what their op gives, in id order: a rewrite made something
// else of them, and TensorFlow imports no graph with such a node. Infers shapes where a node has
// an annotation at all.
std::vector<NodeId> StaleShapeAnnotations(Graph& graph);

// Takes the annotations off these nodes, each a rewrite.
void DropStaleShapeAnnotations(Editor& edit, llvm::ArrayRef<NodeId> nodes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_SHAPE_ANNOTATIONS_H_
