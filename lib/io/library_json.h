// The functions of a library as JSON.
#ifndef GRAPNEL_LIB_IO_LIBRARY_JSON_H_
#define GRAPNEL_LIB_IO_LIBRARY_JSON_H_

#include "lib/library/function_library.h"
#include "llvm/Support/JSON.h"

namespace grapnel {

// Writes two members of the JSON object that `json` has begun: "functions", in the order of the
// library, and "python_functions", the rows of the library. Does not truncate lists.
void WriteLibraryJson(const FunctionLibrary& library, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LIBRARY_JSON_H_
