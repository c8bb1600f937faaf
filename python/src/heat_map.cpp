#include "lib/watch/heat_map.h"

#include "python/src/call.h"
#include "python/src/gil.h"
#include "python/src/values.h"

namespace nb = nanobind;

namespace grapnel::python {
namespace {

// Returns (PNG, layout, colors, width, height) of the heat map of a tensor, (dtype, dims,
// elements).
nb::tuple HeatMapOfValue(const nb::tuple& value) {
  Tensor tensor = TensorOf(value);
  auto map = [&] {
    ReleasedGil released;
    return HeatMapOf(tensor);
  }();
  if (!map) Raise(TextOf(map.takeError()));
  return nb::make_tuple(nb::bytes(map->png.data(), map->png.size()), nb::str(map->layout.c_str()),
                        nb::str(map->colors.c_str()), map->width, map->height);
}

}  // namespace

void AddHeatMaps(nb::module_& module) { module.def("heat_map", HeatMapOfValue, nb::arg("value")); }

}  // namespace grapnel::python
