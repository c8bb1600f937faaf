// Files that are installed with the program, or with the library that this is part of.
#ifndef GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
#define GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The path of `file`, a path from the folder of the file that this code is in: the running
// program's binary, or libgrapnel.so (links resolved). Whether it is there is not looked at.
std::string BesideTheProgram(llvm::StringRef file);

// The path of a loadable module, "grapnel_onednn.so": beside the program, as in a build and in a
// package that is unpacked; else in lib/grapnel, where it is installed.
std::string ModulePath(llvm::StringRef module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
