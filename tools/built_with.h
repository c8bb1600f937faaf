// What this program is and what it was built with.
#ifndef GRAPNEL_TOOLS_BUILT_WITH_H_
#define GRAPNEL_TOOLS_BUILT_WITH_H_

#include <string>

namespace grapnel {

// One line: "grapnel 0.1.0 (no CUDA: nvcc was not found)".
std::string VersionText();

// That, the compiler, the processor that it was compiled for, and the packages of Debian that it is
// linked with, that its modules open, and of which it has headers.
std::string BuiltWithText();

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_BUILT_WITH_H_
