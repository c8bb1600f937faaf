// Draws tensors as images: one cell for each element, colored by its value.
#ifndef GRAPNEL_LIB_WATCH_HEAT_MAP_H_
#define GRAPNEL_LIB_WATCH_HEAT_MAP_H_

#include <optional>
#include <string>

#include "lib/exec/tensor.h"
#include "lib/support/public.h"

namespace grapnel {

// The axes that go down and across.
struct GRAPNEL_PUBLIC ImageAxes {
  int rows = 0, columns = 0;
};

struct GRAPNEL_PUBLIC HeatMap {
  std::string png;            // a PNG file
  int width = 0, height = 0;  // pixels
  // A caption: "axis 2 down, axis 3 across, 8 tiles by axes 0, 1", and a line for the colors.
  std::string layout, colors;
};

// Draws a tensor. All other axes make tiles, in order, row by row. By default `axes` are the last
// two; a vector is one row, or wraps into rows if it is long. Numbers of one sign go from dark
// violet (least) to yellow, others from blue over white (0) to red; NaN and infinities are magenta.
// Small tensors are enlarged; in large ones a pixel is the mean of a square, and magenta if one of
// its elements is. No side is over 2,048 pixels. The same tensor gives the same bytes.
// Errors: no real numbers, no elements, an axis that does not exist. Cost: linear.
GRAPNEL_PUBLIC Expected<HeatMap> HeatMapOf(const Tensor& tensor,
                                           std::optional<ImageAxes> axes = std::nullopt);

// Parses "1,2", rows first; negative axes count from the last. Errors say what was expected.
GRAPNEL_PUBLIC Expected<ImageAxes> ParseImageAxes(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEAT_MAP_H_
