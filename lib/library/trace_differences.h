// Compares the traces of one Python function. Private to lib/library.
#ifndef GRAPNEL_LIB_LIBRARY_TRACE_DIFFERENCES_H_
#define GRAPNEL_LIB_LIBRARY_TRACE_DIFFERENCES_H_

#include <vector>

#include "lib/library/function_library.h"

namespace grapnel {

// Fills `constants`, `has` and `lacks` for traces of one function. Nodes of the same name count as
// the same node, as TensorFlow gives the nodes that a Python function makes the same names each
// time. A constant that follows from an argument's shape is not a Python value. Cost: linear in
// nodes, times the number of traces for nodes that not all traces have.
void CompareTraces(const std::vector<LibraryFunction*>& traces);

// True if two functions with the same name may be traces of one Python function: they have a
// parameter name in common, neither has parameters, or their bodies are similar. For lambdas only
// the bodies count.
bool MayBeTracesOfOne(const LibraryFunction& a, const LibraryFunction& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_TRACE_DIFFERENCES_H_
