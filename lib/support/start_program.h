// Starts other programs: compilers, checks.
#ifndef GRAPNEL_LIB_SUPPORT_START_PROGRAM_H_
#define GRAPNEL_LIB_SUPPORT_START_PROGRAM_H_

#include <sys/types.h>

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Starts `words[0]`, found on PATH, with the other words as arguments, no standard input, and
// standard output and error both going to the file `output`, which is created or emptied.
// `own_group`: the program leads a new process group, so that the caller can end it together with
// all its children. The caller must wait for the program (waitpid). An error names the program and
// gives the reason why it could not be started.
//
// LLVM's own function makes asan report false errors, because LLVM is built without asan.
Expected<pid_t> StartProgram(llvm::ArrayRef<std::string> words, const std::string& output,
                             bool own_group = false);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_START_PROGRAM_H_
