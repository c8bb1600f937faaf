// Loads plugins: shared libraries, and source files that are compiled to one.
#ifndef GRAPNEL_LIB_JOB_PLUGIN_H_
#define GRAPNEL_LIB_JOB_PLUGIN_H_

#include <string>
#include <utility>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// Calls OpenPlugin of lib/support/plugin.h, and checks that its rules belong to existing
// optimizers. Must be called before anything reads the registries: no run, no pass, no other
// thread.
GRAPNEL_PUBLIC Error LoadPlugin(llvm::StringRef path);

// True if the name is that of a C++ source file (.cpp, .cc, .cxx), whether it exists or not.
GRAPNEL_PUBLIC bool NamesSource(llvm::StringRef path);

// Splits "mean.cpp:my::Mean" into both parts; "mean.cpp" gives it and ""; any other text gives ""
// and the text.
GRAPNEL_PUBLIC std::pair<std::string, std::string> SourceAndFunction(llvm::StringRef text);

// Compiles a C++ file against the headers installed with this program to a plugin in a temporary
// directory, loads it, and removes it. The compiler is $CXX, else c++ on PATH. Cost: seconds.
// Errors: no compiler or no headers; the compiler's own text; OpenPlugin's. Compiler warnings go to
// `sink`.
GRAPNEL_PUBLIC Error LoadSource(llvm::StringRef path, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLUGIN_H_
