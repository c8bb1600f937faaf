// The module tfgrapnel._tfgrapnel: what the Python around it calls, and nobody else.
#include <nanobind/nanobind.h>

#include "python/src/call.h"
#include "python/src/table.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

PyObject* error_type = nullptr;  // owned by the module

}  // namespace

void Raise(const std::string& text) {
  PyErr_SetString(error_type, text.c_str());
  throw nb::python_error();
}

}  // namespace grapnel::python

NB_MODULE(_tfgrapnel, module) {
  using namespace grapnel::python;
  // What threads that were left to themselves hold at the end is no leak.
  nb::set_leak_warnings(false);
  error_type = PyErr_NewException("tfgrapnel._tfgrapnel.Error", nullptr, nullptr);
  module.attr("Error") = nb::borrow(error_type);
  AddTable(module);
  AddCalls(module);
  AddGraphs(module);
}
