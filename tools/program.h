// The command line: finds the subcommand, reads its flags, runs it, prints what went wrong.
#ifndef GRAPNEL_TOOLS_PROGRAM_H_
#define GRAPNEL_TOOLS_PROGRAM_H_

namespace grapnel {

// What `grapnel ARGUMENT...` does; argv[0] is the program. Returns the exit code. A process may
// call it many times, one call at a time: --memory stays as the last call that had it set it, and
// `run` ends the process where a kernel does not hear that its --timeout is over.
int RunProgram(int argc, const char* const* argv);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PROGRAM_H_
