// Runs commands as the command line does.
#ifndef GRAPNEL_PYTHON_SRC_CALL_H_
#define GRAPNEL_PYTHON_SRC_CALL_H_

#include <nanobind/nanobind.h>

namespace grapnel::python {

// Raises the Python exception for an Error of the library.
[[noreturn]] void Raise(const std::string& text);

// Adds commands(), call() and MemoryFile.
void AddCalls(nanobind::module_& module);
// Adds Opened, with its tables, and Runner.
void AddGraphs(nanobind::module_& module);
// Adds run_command_line().
void AddProgram(nanobind::module_& module);
// Adds heat_map().
void AddHeatMaps(nanobind::module_& module);

}  // namespace grapnel::python

#endif  // GRAPNEL_PYTHON_SRC_CALL_H_
