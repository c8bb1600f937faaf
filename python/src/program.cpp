// run_command_line(): the program `grapnel`, which tfgrapnel/__main__.py starts.
#include "tools/program.h"

#include <nanobind/stl/vector.h>

#include <csignal>

#include "python/src/call.h"
#include "python/src/gil.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// Python handles SIGINT and ignores the others; the program leaves all of them to the system. A
// SIGINT that the calling shell ignores stays ignored.
void RestoreSignals() {
  if (PyOS_getsig(SIGINT) != SIG_IGN) PyOS_setsig(SIGINT, SIG_DFL);
  PyOS_setsig(SIGPIPE, SIG_DFL);
  PyOS_setsig(SIGXFSZ, SIG_DFL);
}

int RunCommandLine(const std::vector<nb::bytes>& arguments) {
  std::vector<const char*> words;
  for (const nb::bytes& argument : arguments) words.push_back(argument.c_str());
  RestoreSignals();
  ReleasedGil released;
  return RunProgram(static_cast<int>(words.size()), words.data());
}

}  // namespace

void AddProgram(nb::module_& module) {
  module.def("run_command_line", RunCommandLine, nb::arg("arguments"),
             "Runs `grapnel ARGUMENT...` with the process's streams and signals, and returns the "
             "exit code. arguments[0] is the program's path.");
}

}  // namespace grapnel::python
