// Shapes of all bodies of a module, each with what its callers give it.
#ifndef GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_
#define GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_

#include <memory>

#include "lib/shape/inference.h"

namespace grapnel {

// Where InferShapes knows of one body what Grappler would, this knows what can be known: for
// pictures, tables and costs, not for rewrites. The differences:
//
// - An argument of a function is what the calls give it: shape, elements, and the shape of what a
//   resource or variant holds. Of several calls only that on which they agree; a loop's body and
//   condition get what the loop carries in every iteration. Calls in functions that the main graph
//   does not reach count only for functions that it does not reach either. A function that calls
//   itself, or that anything but a call mentions (a data set, a gradient), is given nothing.
// - What the file notes is believed: `_output_shapes` of nodes and arguments, and the handle data
// of
//   a signature's arguments. It is added to what is inferred. A graph may have been edited after it
//   was noted: a note of a tensor that contradicts what is inferred of that tensor counts nothing,
//   and so does one of an argument that contradicts any of its calls.
// - A symbol is the same dimension in every body.
class ModuleShapes {
 public:
  // The module is borrowed and must not change. Nothing is inferred yet.
  explicit ModuleShapes(const Module& module);
  ~ModuleShapes();

  // Of the main graph or of a function's body, borrowed from this. The main graph is inferred when
  // it is first asked for, all functions when one of them is: linear in the module, as InferShapes
  // is. Safe to call from several threads; each map may then be read by several.
  const ShapeMap& Of(const Graph& body) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_
