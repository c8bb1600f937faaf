// Makes the function library of a graph; also uses what a SavedModel's signatures and objects say
// about its functions.
#ifndef GRAPNEL_LIB_IO_NAMED_FUNCTIONS_H_
#define GRAPNEL_LIB_IO_NAMED_FUNCTIONS_H_

#include <string>
#include <vector>

#include "lib/io/open.h"
#include "lib/library/function_library.h"

namespace grapnel {

// Returns the names of the functions that Python can call once the file is loaded: those of
// signatures, and the concrete functions of a SavedModel's objects. Sorted.
std::vector<std::string> FunctionsNamedOutside(const GraphInFile& graph);

// Returns the library of the graph's module; the module must outlive the FunctionLibrary.
FunctionLibrary LibraryOf(const GraphInFile& graph);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_NAMED_FUNCTIONS_H_
