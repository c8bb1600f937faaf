// The command line: finds the subcommand, reads its flags, runs it, prints what went wrong.
#ifndef GRAPNEL_TOOLS_PROGRAM_H_
#define GRAPNEL_TOOLS_PROGRAM_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

struct Caller;

// What `grapnel ARGUMENT...` does; argv[0] is the program. Returns the exit code. A process may
// call it many times, one call at a time: --memory stays as the last call that had it set it, and
// `run` ends the process where a kernel does not hear that its --timeout is over.
int RunProgram(int argc, const char* const* argv);

// `COMMAND ARGUMENT...` for a program that goes on: nothing is written to its streams, no signal is
// taken but SIGBUS (lib/support/file_mapping.h), and what went wrong is an error. Gives 0 or 1
// (ExitCode). Any number of calls at a time, each with a caller of its own.
Expected<int> CallCommand(llvm::ArrayRef<std::string> arguments, Caller& caller);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PROGRAM_H_
