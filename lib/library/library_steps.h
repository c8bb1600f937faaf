// The steps that build a FunctionLibrary, in order. Private to lib/library.
#ifndef GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
#define GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_

#include <set>
#include <string>

#include "lib/library/function_library.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// Gradients that were given for functions of TensorFlow 1 (FunctionDefLibrary.gradient).
struct GivenGradients {
  llvm::StringMap<std::string> gradient, of;  // by function, and by gradient
};

// Finds which function is made from which: `forward`, `backward`, `partner`, `trace`. Needs the
// roles.
void FindPairs(const GivenGradients& gradients, FunctionLibrary* library);

// Finds the callers: `status`. Needs the pairs. `has_main`: the main graph has nodes, so that only
// functions it names are called from outside.
void FindStatus(bool has_main, const std::set<std::string>& from_outside, FunctionLibrary* library);

// Makes the rows, and finds how the traces in each differ. Last step.
void MakeRows(FunctionLibrary* library);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
