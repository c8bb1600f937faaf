// The steps that build a FunctionLibrary, in the order in which they run. Private to lib/library.
#ifndef GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
#define GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_

#include <set>
#include <string>

#include "lib/library/function_library.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// Gradients that TensorFlow 1 registered for functions (FunctionDefLibrary.gradient).
struct GivenGradients {
  llvm::StringMap<std::string> gradient, of;  // a function's gradient, and a gradient's function
};

// Finds which function is made from which other: fills `forward`, `backward`, `partner`, `trace`
// and `successor`. `role` must be set.
void FindPairs(const GivenGradients& gradients, FunctionLibrary* library);

// Fills `status`: what calls each function. FindPairs must have run. `has_main`: the main graph has
// nodes; then a function that nothing calls is unused, not an entry point, unless it is in
// `from_outside`.
void FindStatus(bool has_main, const std::set<std::string>& from_outside, FunctionLibrary* library);

// Makes the rows, and finds how the traces in each row differ. The last step.
void MakeRows(FunctionLibrary* library);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
