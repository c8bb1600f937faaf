// A job: the gradients that grapnel makes of a graph, held against finite differences.
#ifndef GRAPNEL_LIB_JOB_CHECK_GRADIENTS_H_
#define GRAPNEL_LIB_JOB_CHECK_GRADIENTS_H_

#include <string>
#include <vector>

#include "lib/job/run.h"

namespace grapnel {

struct GradientCheckRequest {
  // Feeds, signature, checkpoint; its fetches are the ys: those that are no floating point are left
  // out.
  RunRequest run;
  std::vector<std::string> by;  // the xs: tensors and variables; empty: each feed and variable
  double tolerance = 0;         // 0: by dtype, DefaultTolerance
  double step = 0;              // of x, relative to its size; 0: by dtype
  int elements = 32;            // of each x, spread over it; 0: the gradients alone
};

// A derivative: of the sum of all ys, each element with a weight of its own, by one element.
struct CheckedElement {
  int64_t index = 0;  // row-major
  double made = 0, measured = 0;
  // What rounding does not explain of their difference, over the largest derivative of the tensor.
  double error = 0;
};

struct CheckedTensor {
  std::string name;
  DataType dtype = proto::DT_INVALID;
  Dims dims;
  bool is_connected = true;  // false: no y depends on it, as far as gradients go
  int64_t checked = 0;       // elements
  double tolerance = 0;
  CheckedElement worst;
  bool ok() const { return worst.error <= tolerance; }
};

struct GradientCheck {
  std::vector<std::string> ys;
  std::vector<CheckedTensor> tensors;
  bool ok() const;
  // The tensor whose worst element is the farthest above its tolerance; null: there are none.
  const CheckedTensor* worst() const;
};

double DefaultTolerance(DataType dtype);  // 1e-6 for double, 5e-3 for float, 0.2 for half

// Runs the graph, makes its gradients, runs those, and runs the graph again with each element a
// little larger and smaller (central differences of two steps, extrapolated; where they do not fit,
// as beside the corner of a Relu, smaller steps). How far rounding alone moves a difference is
// measured too. Errors: RunJob's; what Gradients reports; no y or
// x that has gradients; a graph that gives something else each time. Cost: four to 29 runs an
// element.
Expected<GradientCheck> CheckGradients(OpenedGraph& opened, const GradientCheckRequest& request);

// The graph with the gradients of the sum of `ys` by each of `xs` beside it, and their names; "" of
// one that no y depends on. A variable is named by its node.
struct GraphWithGradients {
  std::unique_ptr<Module> module;
  std::vector<std::string> gradients;
};
Expected<GraphWithGradients> AddGradients(const Module& module, llvm::ArrayRef<std::string> ys,
                                          llvm::ArrayRef<std::string> xs,
                                          llvm::ArrayRef<Shape> seed_shapes = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CHECK_GRADIENTS_H_
