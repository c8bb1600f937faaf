// Finds files that are installed with the program or with the library that contains this code.
#ifndef GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
#define GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the file that contains this code, with links resolved: the program, libgrapnel.so or the
// Python module.
std::string ProgramFile();

// Returns the path of `file` in the directory of ProgramFile(). `file` is relative to that
// directory, and need not exist.
std::string BesideTheProgram(llvm::StringRef file);

// Returns the path of a loadable module such as "grapnel_onednn.so": in the directory of
// BesideTheProgram() if the file exists there, as in a build and an unpacked archive; otherwise in
// lib/grapnel, where an installation puts it. If the file is in neither place, returns the first
// path.
std::string ModulePath(llvm::StringRef module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
