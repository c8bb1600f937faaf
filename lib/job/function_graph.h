// Turns a library function into a graph of its own, for comparison.
#ifndef GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_
#define GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_

#include <string>

#include "lib/job/opened_graph.h"

namespace grapnel {

// Finds a function by its name, or by "train_step_221" or "train_step 221" for
// __inference_train_step_221. Error: no such function, with similar names.
Expected<const Function*> FindTracedFunction(const Module& module, llvm::StringRef name);

// Makes a function's body the main graph of `opened`, with the _Arg and _Retval nodes that
// TensorFlow adds to run it; the library keeps the functions that the body calls. `name`: as in
// FindTracedFunction. Returns the function's name. Errors: those of FindTracedFunction. Cost:
// linear in the module.
Expected<std::string> TakeFunction(llvm::StringRef name, OpenedGraph* opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_
