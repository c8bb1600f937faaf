// Finds files that are installed with the program or with the library that contains this code.
#ifndef GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
#define GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the path of `file`, which is relative to the directory of the binary that contains this
// code: the running program or libgrapnel.so (links resolved). Does not check that the file exists.
std::string BesideTheProgram(llvm::StringRef file);

// Returns the path of a loadable module such as "grapnel_onednn.so": next to the program, as in a
// build and an unpacked archive; otherwise in lib/grapnel, where an installation puts it.
std::string ModulePath(llvm::StringRef module);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
