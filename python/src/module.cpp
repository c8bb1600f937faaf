// The module tfgrapnel._tfgrapnel, private to the Python package around it.
#include <nanobind/nanobind.h>

#include <stdexcept>

#include "python/src/call.h"
#include "python/src/gil.h"
#include "python/src/passes.h"
#include "python/src/table.h"
#include "python/src/visit.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

struct LibraryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

void Raise(const std::string& text) { throw LibraryError(text); }

}  // namespace grapnel::python

NB_MODULE(_tfgrapnel, module) {
  using namespace grapnel::python;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nb::import_error(
        "tfgrapnel works only in the main interpreter of a process, not in a subinterpreter; use "
        "processes or threads");
  // Objects that abandoned threads hold at exit are not leaks.
  nb::set_leak_warnings(false);
  WatchEnd();
  nb::exception<LibraryError> error(module, "Error");
  AddBodies(module);
  AddEditing(module);
  AddPasses(module);
  AddTable(module);
  AddCalls(module);
  AddProgram(module);
  AddGraphs(module);
  AddHeatMaps(module);
}
