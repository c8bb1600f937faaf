// The steps in which a library is read, in their order. Private to lib/library.
#ifndef GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
#define GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_

#include <set>
#include <string>

#include "lib/library/function_library.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The gradients that functions of TensorFlow 1 were given (FunctionDefLibrary.gradient).
struct GivenGradients {
  llvm::StringMap<std::string> gradient, of;  // by the function, and by the gradient
};

// Which function is made of which: `forward`, `backward`, `partner`, `trace`. After the roles.
void FindPairs(const GivenGradients& gradients, FunctionLibrary* library);

// Who runs what: `status`. After the pairs. `has_main`: the main graph has nodes, so that nothing
// but what it names is called from outside.
void FindStatus(bool has_main, const std::set<std::string>& from_outside, FunctionLibrary* library);

// The rows, and how the traces in each differ. After all else.
void MakeRows(FunctionLibrary* library);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_LIBRARY_STEPS_H_
