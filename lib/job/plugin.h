// Plugins for a process: those that are there, and source files that are compiled to one.
#ifndef GRAPNEL_LIB_JOB_PLUGIN_H_
#define GRAPNEL_LIB_JOB_PLUGIN_H_

#include <string>
#include <utility>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// OpenPlugin of lib/support/plugin.h, and its rules belong to optimizers that there are. Before
// anything looks at the registries: no run, no pass, no other thread.
GRAPNEL_PUBLIC Error LoadPlugin(llvm::StringRef path);

// Whether the name is that of a file of C++ (.cpp, .cc, .cxx), be it there or not.
GRAPNEL_PUBLIC bool NamesSource(llvm::StringRef path);

// "mean.cpp:my::Mean" -> both parts; "mean.cpp" -> it and ""; what names no source: "" and itself.
GRAPNEL_PUBLIC std::pair<std::string, std::string> SourceAndFunction(llvm::StringRef text);

// Compiles a file of C++ against the headers that were installed with this program, to a plugin in
// a temporary folder, loads it, and removes it. The compiler is $CXX, else c++ on PATH; how long
// it takes is seconds. Errors: there is no compiler, or no headers; what the compiler says, as it
// says it; OpenPlugin's. What it says of a file that compiles goes to `sink`.
GRAPNEL_PUBLIC Error LoadSource(llvm::StringRef path, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLUGIN_H_
