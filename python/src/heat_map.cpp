#include "lib/watch/heat_map.h"

#include <nanobind/stl/string.h>

#include "python/src/call.h"
#include "python/src/gil.h"
#include "python/src/values.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// Returns (SVG, layout, colors) of the heat map of a tensor, (dtype, dims, elements).
nb::tuple HeatMapOfValue(const nb::tuple& value, const std::string& title) {
  Tensor tensor = TensorOf(value);
  auto map = [&] {
    ReleasedGil released;
    return HeatMapOf(tensor);
  }();
  if (!map) Raise(TextOf(map.takeError()));
  std::string svg = HeatMapSvg(*map, title);
  return nb::make_tuple(nb::str(svg.data(), svg.size()), nb::str(map->layout.c_str()),
                        nb::str(map->colors.c_str()));
}

}  // namespace

void AddHeatMaps(nb::module_& module) {
  module.def("heat_map", HeatMapOfValue, nb::arg("value"), nb::arg("title"));
}

}  // namespace grapnel::python
