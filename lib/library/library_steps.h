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

// Finds which function is made from which other: fills `forward`, `backward`, `partner` and
// `trace`. Needs the roles.
void FindPairs(const GivenGradients& gradients, FunctionLibrary* library);

// Fills `status`: who calls each function. Needs the pairs. `has_main`: the main graph has nodes,
// so that only functions that it names are called from outside.
void FindStatus(bool has_main, const std::set<std::string>& from_outside, FunctionLibrary* library);

// Makes the rows, and finds how the traces in each row differ. The last step.
void MakeRows(FunctionLibrary* library);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
