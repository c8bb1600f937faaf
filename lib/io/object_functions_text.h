// Shows the functions of a SavedModel's objects: as text for users, and as JSON.
#ifndef GRAPNEL_LIB_IO_OBJECT_FUNCTIONS_TEXT_H_
#define GRAPNEL_LIB_IO_OBJECT_FUNCTIONS_TEXT_H_

#include "lib/io/object_functions.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Writes for each trace "function encode(x: float[?,3]) -> {code: float[?]}: runs ..." and a table
// of its tensors: the key, the type, and the name in the library. In a model that has signatures,
// unless `all`, writes only "encode(x: float[?,3]) -> {code: float[?]}" for each trace. Unless
// `all`, writes at most 12 functions, and none that few users call, such as those deep in objects.
void WriteObjectFunctionsText(const GraphInFile& graph, bool all, llvm::raw_ostream& os);

// Writes the member "object_functions" into the JSON object that `json` has begun.
void WriteObjectFunctionsJson(const GraphInFile& graph, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OBJECT_FUNCTIONS_TEXT_H_
