// Loads plugins: shared libraries, and source files that are compiled to a plugin.
#ifndef GRAPNEL_LIB_JOB_PLUGIN_H_
#define GRAPNEL_LIB_JOB_PLUGIN_H_

#include <string>
#include <utility>

#include "lib/support/error.h"
#include "lib/support/public.h"

namespace grapnel {

// Loads the plugin with OpenPlugin (lib/support/plugin.h), and checks that the plugin's rules
// belong to existing optimizers. Must be called before any run, pass or other thread reads the
// registries.
GRAPNEL_PUBLIC Error LoadPlugin(llvm::StringRef path);

// True if the name is that of a C++ source file (.cpp, .cc, .cxx), whether it exists or not.
GRAPNEL_PUBLIC bool NamesSource(llvm::StringRef path);

// Splits "mean.cpp:my::Mean" into "mean.cpp" and "my::Mean"; returns ("mean.cpp", "") for
// "mean.cpp", and ("", text) for a text without a source file.
GRAPNEL_PUBLIC std::pair<std::string, std::string> SourceAndFunction(llvm::StringRef text);

// Compiles a C++ file against the headers installed with this program to a plugin in a temporary
// directory, loads the plugin, and removes the directory. The compiler is $CXX, else c++ on PATH.
// Cost: seconds, or milliseconds if the same was compiled before (lib/job/compile_cache.h). Errors
// include the compiler's own text and those of LoadPlugin. Compiler warnings go to `sink`, also
// those of a file that was compiled before.
GRAPNEL_PUBLIC Error LoadSource(llvm::StringRef path, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PLUGIN_H_
