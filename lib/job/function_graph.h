// A function of a library as a graph of its own, to be compared with another.
#ifndef GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_
#define GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_

#include <string>

#include "lib/job/opened_graph.h"

namespace grapnel {

// Makes the body of a function the main graph of what is worked on, with _Arg and _Retval nodes as
// TensorFlow has them when it runs one; the library keeps what the body calls. `name`: the
// function's, or "train_step_221" or "train_step 221" of __inference_train_step_221. Returns the
// function's name. Errors: there is none, with what is near. Cost: linear in the module.
Expected<std::string> TakeFunction(llvm::StringRef name, OpenedGraph* opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FUNCTION_GRAPH_H_
