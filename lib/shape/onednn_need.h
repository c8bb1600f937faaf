// Finds nodes that only a TensorFlow with oneDNN can run, and whether Grappler used oneDNN when it
// rewrote the graph.
#ifndef GRAPNEL_LIB_SHAPE_ONEDNN_NEED_H_
#define GRAPNEL_LIB_SHAPE_ONEDNN_NEED_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

struct OneDnnNeed {
  size_t nodes = 0;        // nodes of all bodies that fail in TensorFlow 2.21 without oneDNN
  std::string first;       // the first of them, "function/node"
  std::string reason;      // why that one fails: "_FusedConv2D with Add"
  bool has_fused = false;  // a node that is not on a GPU has an op named _Fused... or _Mkl...
  // True if Grappler rewrote the graph with oneDNN on: a node needs oneDNN, or one with an op named
  // _Fused... or _Mkl... has the attribute `_input_shapes`, which Grappler adds only then. If
  // false, the graph does not show whether oneDNN was on.
  bool made_with = false;

  // Returns "12 nodes need TensorFlow with oneDNN, such as 'conv/Relu' (_FusedConv2D with Add)";
  // empty if no node needs it.
  std::string Text() const;
};

// Linear; may infer the shapes of bodies that have fused nodes. Which nodes need oneDNN was found
// by running each fused op in TensorFlow 2.21 with TF_ENABLE_ONEDNN_OPTS=0.
OneDnnNeed FindOneDnnNeed(const Module& module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_ONEDNN_NEED_H_
