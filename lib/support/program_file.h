// Files that are installed with the program.
#ifndef GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
#define GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_

#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The path of `file`, a path from the folder of the running program's binary (links resolved).
// Whether it is there is not looked at.
std::string BesideTheProgram(llvm::StringRef file);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_PROGRAM_FILE_H_
