// Draws tensors as images: one cell for each element, colored by its value.
#ifndef GRAPNEL_LIB_WATCH_HEAT_MAP_H_
#define GRAPNEL_LIB_WATCH_HEAT_MAP_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/tensor.h"
#include "lib/support/public.h"

namespace grapnel {

// The axes of a tensor that go down and across the image.
struct GRAPNEL_PUBLIC ImageAxes {
  int rows = 0, columns = 0;
};

struct GRAPNEL_PUBLIC HeatMap {
  std::string png;            // a PNG file
  int width = 0, height = 0;  // pixels
  // A caption: "axis 2 down, axis 3 across, 8 tiles by axes 0, 1", and a line for the colors.
  std::string layout, colors;

  // The tensor's axis along a side of a tile, and its size.
  struct Side {
    int axis = -1;  // -1: a number has no axes
    int64_t size = 1;
  };
  Side down, across;
  int tile_width = 0, tile_height = 0;  // pixels; tiles are one pixel apart
  int tiles = 1, tiles_across = 1;
  std::vector<int> tile_axes;  // the axes that make tiles
  // Numbers and their colors, "#440154", from the least to the largest; empty if no number is
  // finite.
  std::vector<std::pair<double, std::string>> scale;
};

// Returns an SVG image of a heat map with a title, axes, numbers of tiles, and the color scale.
GRAPNEL_PUBLIC std::string HeatMapSvg(const HeatMap& map, llvm::StringRef title);

// Draws a tensor. `axes` are the last two by default; the other axes make tiles, in order, row by
// row. A vector, for which `axes` do not count, is one row, or wraps into rows if it is long. If no
// two numbers have opposite signs, colors go from dark violet (least) to yellow (largest);
// otherwise from blue over white (0) to red. NaN and infinities are magenta. Small tensors are
// enlarged; for large ones, a pixel shows the mean of a square of elements, and is magenta if one
// of these elements is NaN or infinite. No side is over 2,048 pixels; if that leaves too little
// room for all tiles, only the first ones are drawn. The same tensor always gives the same bytes.
// Errors: the tensor does not have real numbers, or has no elements; an axis does not exist, or is
// given twice. Cost: linear in the number of elements.
GRAPNEL_PUBLIC Expected<HeatMap> HeatMapOf(const Tensor& tensor,
                                           std::optional<ImageAxes> axes = std::nullopt);

// Parses axes such as "1,2": first the axis that goes down, then the one that goes across. Negative
// axes count from the last.
GRAPNEL_PUBLIC Expected<ImageAxes> ParseImageAxes(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEAT_MAP_H_
