// Turns functions written in C++ into graphs for jobs.
#ifndef GRAPNEL_LIB_JOB_TRACED_GRAPHS_H_
#define GRAPNEL_LIB_JOB_TRACED_GRAPHS_H_

#include <vector>

#include "lib/job/opened_graph.h"
#include "lib/trace/registration.h"

namespace grapnel {

// Compiles and loads a C++ file (lib/job/plugin.h), and returns the functions that it registers
// with GRAPNEL_TRACE. Errors: those of LoadSource; the file registers no function.
Expected<std::vector<TracedFunction>> FunctionsOfSource(llvm::StringRef file,
                                                        const MessageSink& sink);

// Returns the functions that a text names: "FILE.cpp" (all of them), "FILE.cpp:FUNCTION" or, if no
// such file exists, the name of a plugin's function. Returns an empty vector if the text names
// neither, as for a model. Errors: those of FunctionsOfSource; the file has no such function (with
// the nearest name).
Expected<std::vector<TracedFunction>> FunctionsNamed(llvm::StringRef text, const MessageSink& sink);

// Traces each function to a graph of one model: the graph's title is the function's name, its feeds
// and fetches are the function's inputs and outputs, and its variables have the program's initial
// values. Errors: those of Trace.
Expected<std::shared_ptr<Model>> ModelOf(llvm::StringRef path,
                                         llvm::ArrayRef<TracedFunction> functions);
// Calls OpenedGraph::EachOf on the model of ModelOf; OpenedGraph::Reopen traces the function again.
Expected<std::vector<OpenedGraph>> OpenFunctions(llvm::StringRef path,
                                                 llvm::ArrayRef<TracedFunction> functions,
                                                 llvm::StringRef title, llvm::StringRef by);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_TRACED_GRAPHS_H_
