// Finds nodes that only TensorFlow with oneDNN runs, and whether oneDNN shaped the graph.
#ifndef GRAPNEL_LIB_SHAPE_ONEDNN_NEED_H_
#define GRAPNEL_LIB_SHAPE_ONEDNN_NEED_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct OneDnnNeed {
  size_t nodes = 0;        // nodes in all bodies that fail in TensorFlow 2.21 without oneDNN
  std::string first;       // the first of them, "function/node"
  std::string reason;      // why that one fails: "_FusedConv2D with Add"
  bool has_fused = false;  // Grappler has fused matrix products or convolutions for a CPU
  // Grappler did so with oneDNN: a node needs it, or has the `_input_shapes` attribute that it adds
  // in that case. If false, the graph does not tell which it was.
  bool made_with = false;

  // "12 nodes need TensorFlow with oneDNN, such as 'conv/Relu' (_FusedConv2D with Add)"; empty if
  // no node does.
  std::string Text() const;
};

// Linear; infers the shapes of bodies that have fused nodes. The facts come from running each fused
// op in TensorFlow 2.21 with TF_ENABLE_ONEDNN_OPTS=0.
OneDnnNeed FindOneDnnNeed(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ONEDNN_NEED_H_
