// Makes a function of a model what jobs run.
#ifndef GRAPNEL_LIB_JOB_FUNCTION_SIGNATURE_H_
#define GRAPNEL_LIB_JOB_FUNCTION_SIGNATURE_H_

#include <string>

#include "lib/job/shape_overrides.h"

namespace grapnel {

// Makes function `name` the only signature of `opened` except internal ones, in a file of its own,
// so that all jobs on signatures accept it. `name`: a function of the model's objects
// (FindObjectFunction), or a name in the library (as TakeLibraryFunction reads it) of a trace of
// such a function. The main graph gets a placeholder for each argument, named as the library's
// function names it if the name is free, and a call, which reads the variables, tables and
// constants that the function captures. The keys of the signature are the names of the arguments
// and results (ObjectTrace). A function of the library that no object has becomes the main graph
// instead (TakeLibraryFunction). Returns the name of the signature; "" in the latter case. Errors:
// no such function, with similar names; those of FindObjectFunction; a function that the library
// lacks or has with another number of arguments; a captured object that the graph lacks; an
// argument of unknown dtype. Cost: linear in the module.
Expected<std::string> UseFunction(llvm::StringRef name, OpenedGraph* opened);

// Makes the body that function `name` runs the graph of `opened`: UseFunction, then TakeSignature;
// a function of the library gets the sizes `given` only. Errors: those of both.
Error TakeFunction(llvm::StringRef name, const ShapeOverrides& given, OpenedGraph* opened);

// True if `name` is a function of the model's objects, not one of the library.
bool IsObjectFunction(llvm::StringRef name, const OpenedGraph& opened);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_FUNCTION_SIGNATURE_H_
