// How traces of one Python function differ. Private to lib/library.
#ifndef GRAPNEL_LIB_LIBRARY_TRACE_DIFFERENCES_H_
#define GRAPNEL_LIB_LIBRARY_TRACE_DIFFERENCES_H_

#include <vector>

#include "lib/library/function_library.h"

namespace grapnel {

// Fills `constants`, `has` and `lacks` of traces of one function. Nodes are the same where their
// names are, as TensorFlow names what a Python function makes alike each time. A constant that
// follows from the shape of an argument is no value of Python's. Cost: linear in nodes.
void CompareTraces(const std::vector<LibraryFunction*>& traces);

// Whether two functions of one name may be traces of one Python function: parameters have a name in
// common, or bodies are alike. Of lambdas bodies alone count.
bool MayBeTracesOfOne(const LibraryFunction& a, const LibraryFunction& b);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_LIBRARY_TRACE_DIFFERENCES_H_
