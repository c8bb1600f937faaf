// A job: checks the gradients that grapnel builds for a graph against finite differences.
#ifndef GRAPNEL_LIB_JOB_CHECK_GRADIENTS_H_
#define GRAPNEL_LIB_JOB_CHECK_GRADIENTS_H_

#include <string>
#include <vector>

#include "lib/job/run.h"

namespace grapnel {

struct GradientCheckRequest {
  // The feeds, signature and checkpoint. The fetches are the ys; those that are not floating point
  // are ignored.
  RunRequest run;
  // The xs: feeds, by key or tensor, and resource variables; empty: all.
  std::vector<std::string> by;
  double tolerance = 0;  // 0: by dtype, DefaultTolerance
  double step = 0;       // change of an element of x, times max(1, |x|); 0: by dtype
  int elements = 32;     // elements to check, spread over each x; 0: only build and run the
                         // gradients
};

// One element of a gradient: the derivative of the weighted sum of all ys, each element with its
// own weight, with respect to one element of x.
struct CheckedElement {
  int64_t index = 0;  // row-major
  double made = 0, measured = 0;
  // The part of the difference of the two derivatives that rounding does not explain, relative to
  // the tensor's largest derivative (at least 0.001).
  double error = 0;
};

struct CheckedTensor {
  std::string name;   // of the tensor, or of the variable's node
  std::string label;  // the signature's key, else the name
  DataType dtype = proto::DT_INVALID;
  Dims dims;
  bool is_connected = true;  // false: no y depends on this x differentiably
  int64_t checked = 0;       // number of elements checked
  double tolerance = 0;
  CheckedElement worst;
  bool ok() const { return worst.error <= tolerance; }
};

struct GradientCheck {
  std::vector<std::string> ys;
  std::vector<CheckedTensor> tensors;
  bool ok() const;
  // The tensor whose worst error is largest relative to its tolerance; null if there are no
  // tensors.
  const CheckedTensor* worst() const;
};

// Returns 1e-6 for double, 5e-3 for float, and 0.2 for half and bfloat16.
double DefaultTolerance(DataType dtype);

// Runs the graph, builds and runs its gradients, and runs the graph again with each checked element
// of x slightly larger and smaller (central differences with two step sizes, extrapolated). If the
// result differs from the gradient, as near the kink of a Relu, tries smaller steps, and measures
// how much rounding alone changes a finite difference. Errors: those of RunJob; those of Gradients;
// no floating-point y or x; a name in `by` that is neither a floating-point feed nor a
// floating-point resource variable with a value; a graph whose fetches differ from run to run.
// Cost: 4 to 29 runs per element.
Expected<GradientCheck> CheckGradients(OpenedGraph& opened, const GradientCheckRequest& request);

// The graph extended by the gradients of the sum of `ys` with respect to each of `xs`, and the
// gradients' names; "" if no y depends on that x. A variable is identified by its node. With
// `seed_shapes`, one per y, the sum is weighted by placeholders of these shapes, gradient_seed_0,
// gradient_seed_1, ...
struct GraphWithGradients {
  std::unique_ptr<Module> module;
  std::vector<std::string> gradients;
};
Expected<GraphWithGradients> AddGradients(const Module& module, llvm::ArrayRef<std::string> ys,
                                          llvm::ArrayRef<std::string> xs,
                                          llvm::ArrayRef<Shape> seed_shapes = {});

// The tensors of which gradients are taken (`ys`), and those with respect to which they are taken
// (`xs`), as AddGradients() expects them. `labels`: for each of `xs`, the name that a user knows.
struct GradientEnds {
  std::vector<std::string> ys, xs, labels;
};
// Finds the ends for `fetches` and `by`, keys of the signature or tensors, in `by` also variables
// (GradientVariable::label); by default all of the run's fetches, and its feeds and the
// floating-point resource variables that the ys need. The default leaves out fetches and feeds that
// are neither floating point nor complex. Errors: those of ChooseOneSignature; a name of none of
// these, or of another dtype; no ends.
Expected<GradientEnds> FindGradientEnds(const OpenedGraph& opened, llvm::StringRef signature,
                                        llvm::ArrayRef<std::string> fetches,
                                        llvm::ArrayRef<std::string> by);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_CHECK_GRADIENTS_H_
