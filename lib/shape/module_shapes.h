// Shapes of all bodies of a module, with facts from their callers.
#ifndef GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_
#define GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_

#include <memory>

#include "lib/shape/inference.h"

namespace grapnel {

// InferShapes infers for one body what Grappler would; this class infers as much as possible: for
// pictures, tables and costs, not for rewrites. The differences:
//
// - The arguments of a function have the facts of its calls: shape, elements, and the shape of the
//   contents of a resource or variant. If there are several calls, only facts on which they agree;
//   a loop's body and condition get what the loop carries in every iteration. Calls in functions
//   that the main graph does not reach count only for functions that it does not reach either. A
//   recursive function, and one that is referenced other than by a call (a dataset, a gradient),
//   gets no facts.
// - Facts in the file count: `_output_shapes` of nodes and arguments, and the handle data of a
//   signature's arguments. They are added to the inferred ones. As a graph may have been edited
//   since, a fact about a tensor that contradicts the inferred ones is ignored, and so is one about
//   an argument that contradicts any of its calls.
// - A symbol is the same dimension in every body.
class ModuleShapes {
 public:
  // The module must outlive it and must not change. Infers nothing yet.
  explicit ModuleShapes(const Module& module);
  ~ModuleShapes();

  // Returns the shapes of the main graph or of a function's body, owned by this object. Infers the
  // main graph on its first use, and all functions on the first use of one of them, in time linear
  // in the module, like InferShapes. Thread-safe; several threads may read each map.
  const ShapeMap& Of(const Graph& body) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_
