// Shapes of all bodies of a module, inferred with facts from the callers of each function.
#ifndef GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_
#define GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_

#include <memory>

#include "lib/shape/inference.h"

namespace grapnel {

// InferShapes infers one body by itself, as rewrites need it; this class infers as much as
// possible, for the web page, the SQL tables, the doctor, the costs and the arguments of functions
// that are optimized by themselves. The differences:
//
// - The arguments of a function have the facts of the function's calls: shape, elements, and the
//   shape of the contents of a resource or variant. If there are several calls, only facts on which
//   all calls agree count; the body and condition of a loop get what is true of the carried values
//   in every iteration. Calls in functions that the main graph does not reach count only for
//   functions that it does not reach either. A function that a node other than a call refers to (a
//   dataset, a gradient) gets no facts; a function in a cycle of calls, or called from one, may get
//   none.
// - Facts in the file count: `_output_shapes` of nodes and arguments, and the handle data of a
//   signature's arguments. They are added to the inferred facts. As the graph may have been edited
//   since the file was written, a fact about a tensor that contradicts the inferred ones is
//   ignored, and so is a fact about an argument that contradicts one of the function's calls.
// - A symbol stands for the same size in every body.
class ModuleShapes {
 public:
  // `module` must outlive the ModuleShapes and must not change. The constructor does not infer
  // anything yet.
  explicit ModuleShapes(const Module& module);
  ~ModuleShapes();

  // Returns the shapes of the main graph or of a function's body; this object owns them. Infers the
  // main graph at its first use, and all functions at the first use of one of them, in time linear
  // in the module, like InferShapes. Thread-safe; several threads may read each ShapeMap.
  const ShapeMap& Of(const Graph& body) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_MODULE_SHAPES_H_
