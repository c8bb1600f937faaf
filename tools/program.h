// The command line: finds the subcommand, parses its flags, runs it, prints errors.
#ifndef GRAPNEL_TOOLS_PROGRAM_H_
#define GRAPNEL_TOOLS_PROGRAM_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

struct Caller;

// Runs `grapnel ARGUMENT...`; argv[0] is the program. Returns the exit code. A process may call
// RunProgram() many times, one call at a time: --memory keeps the last value that a call set, and
// a kernel that ignores an expired --timeout ends the process.
int RunProgram(int argc, const char* const* argv);

// Runs `COMMAND ARGUMENT...` inside a program that continues afterwards: nothing is written to the
// process's streams, no signal is handled except SIGBUS (lib/support/file_mapping.h), and failures
// are errors. Returns 0 or 1 (ExitCode). Calls may run in parallel, each with its own caller.
Expected<int> CallCommand(llvm::ArrayRef<std::string> arguments, Caller& caller);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PROGRAM_H_
