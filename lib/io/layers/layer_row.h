// A row of a table of layers.
#ifndef GRAPNEL_LIB_IO_LAYERS_LAYER_ROW_H_
#define GRAPNEL_LIB_IO_LAYERS_LAYER_ROW_H_

#include <cstdint>
#include <optional>
#include <string>

namespace grapnel {

struct LayerRow {
  std::string name;        // the path
  std::string class_name;  // empty: the file does not say
  std::string parent;      // the path of the nested model that has the layer; empty: the model
  std::string shape;       // of its first output: "[?,10]"; empty: unknown
  int64_t parameters = 0;  // elements of its variables, with those of its layers
  std::optional<int64_t> flops;  // of one run, with those of its layers; nullopt: not counted
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_LAYERS_LAYER_ROW_H_
