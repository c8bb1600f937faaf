// Functions written in C++ as graphs that jobs work on.
#ifndef GRAPNEL_LIB_JOB_TRACED_GRAPHS_H_
#define GRAPNEL_LIB_JOB_TRACED_GRAPHS_H_

#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/trace/registration.h"

namespace grapnel {

// What GRAPNEL_TRACE registers in a file of C++, which is compiled and loaded (lib/job/plugin.h).
// Errors: LoadSource's; it registers nothing.
Expected<std::vector<TracedFunction>> FunctionsOfSource(llvm::StringRef file,
                                                        const MessageSink& sink);

// The functions that "FILE.cpp" (all of it), "FILE.cpp:FUNCTION" or, where no file is called so,
// the name of a plugin's function means. Empty: it means none, but a model. Errors: those above;
// the file has no such function, with the nearest.
Expected<std::vector<TracedFunction>> FunctionsNamed(llvm::StringRef text, const MessageSink& sink);

// Each traced, as a graph of one model: its title is the function's name, its feeds and fetches are
// what the function takes and gives, its variables have the values that the program begins with.
// Errors: Trace's.
Expected<std::shared_ptr<Model>> ModelOf(llvm::StringRef path,
                                         llvm::ArrayRef<TracedFunction> functions);
// OpenedGraph's EachOf of that model; to be opened again they are traced again.
Expected<std::vector<OpenedGraph>> OpenFunctions(llvm::StringRef path,
                                                 llvm::ArrayRef<TracedFunction> functions,
                                                 llvm::StringRef title, llvm::StringRef by);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_TRACED_GRAPHS_H_
