// Makes the boxes and clusters of a picture from a Plan (lib/render/opening.h), and finds the box
// of each node.
#ifndef GRAPNEL_LIB_RENDER_BOXES_H_
#define GRAPNEL_LIB_RENDER_BOXES_H_

#include <vector>

#include "lib/render/opening.h"
#include "lib/render/picture.h"
#include "lib/shape/inference.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// The boxes of one drawn body.
struct BodyBoxes {
  const BodyPlan* plan = nullptr;
  std::vector<uint32_t> box_of;  // by node id: index of a box, kBoxFolded or kBoxOutside
  int cluster = -1;              // the function's cluster; -1 for main
};

// Adds the boxes and clusters of a body to `picture`, boxes in the order of nodes, without notes.
BodyBoxes AddBoxes(const BodyPlan& plan, Picture* picture);

// Adds notes to a body's boxes: an op's constants and folded NoOps, the number and kinds of ops in
// a scope.
void AddNotes(const BodyBoxes& body, const ViewOptions& options, const ShapeMap* shapes,
              Picture* picture);

// Fills Box::parts, the nodes that each box of a body stands for.
void ListNodes(const BodyBoxes& body, Picture* picture);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_BOXES_H_
