// Turns a library function into a graph of its own.
#ifndef GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_
#define GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_

#include <string>

#include "lib/job/opened_graph.h"

namespace grapnel {

// Returns the function `name` of the library, or for "train_step_221" and "train_step 221" the
// function __inference_train_step_221. Null if there is none.
const Function* FindLibraryFunction(const Module& module, llvm::StringRef name);

// Makes a function's body the main graph of `opened`, in a file of its own without signatures, with
// the _Arg and _Retval nodes that TensorFlow adds to run it; the library keeps the functions that
// the body calls. `name`: as FindLibraryFunction reads it. Returns the function's name. Errors: no
// such function, with similar names. Cost: linear in the module.
Expected<std::string> TakeLibraryFunction(llvm::StringRef name, OpenedGraph* opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_
