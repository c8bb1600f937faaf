// The program's version and build configuration.
#ifndef GRAPNEL_TOOLS_BUILT_WITH_H_
#define GRAPNEL_TOOLS_BUILT_WITH_H_

#include <string>

namespace grapnel {

// Returns one line: "grapnel 0.1.0 (no CUDA: nvcc was not found)".
std::string VersionText();

// Returns VersionText(), the compiler, the target processor, and the Debian packages that the
// program is linked with, that its modules load, or whose headers it includes.
std::string BuiltWithText();

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_BUILT_WITH_H_
