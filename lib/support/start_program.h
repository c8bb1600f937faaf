// Other programs that are started: compilers, checks.
#ifndef GRAPNEL_LIB_SUPPORT_START_PROGRAM_H_
#define GRAPNEL_LIB_SUPPORT_START_PROGRAM_H_

#include <sys/types.h>

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Starts `words[0]`, which is looked for on PATH, with the other words; nothing to read, both its
// outputs in the file `output`, which is made anew. `own_group`: it leads a group of processes, so
// that all that it starts can be ended together. The caller waits for it (waitpid). The error is
// errno's.
//
// Not LLVM's own way: of that asan says what is not so, as LLVM is built without.
Expected<pid_t> StartProgram(llvm::ArrayRef<std::string> words, const std::string& output,
                             bool own_group = false);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_START_PROGRAM_H_
