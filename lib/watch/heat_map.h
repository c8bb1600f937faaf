// Tensors as pictures: an element a cell, colored by its number.
#ifndef GRAPNEL_LIB_WATCH_HEAT_MAP_H_
#define GRAPNEL_LIB_WATCH_HEAT_MAP_H_

#include <optional>
#include <string>

#include "lib/exec/tensor.h"
#include "lib/support/public.h"

namespace grapnel {

// What goes down and what goes across.
struct GRAPNEL_PUBLIC ImageAxes {
  int rows = 0, columns = 0;
};

struct GRAPNEL_PUBLIC HeatMap {
  std::string png;            // a PNG file
  int width = 0, height = 0;  // pixels
  // What is seen: "axis 2 down, axis 3 across, 8 tiles by axes 0, 1", and a line for the colors.
  std::string layout, colors;
};

// All other axes make tiles, in order, row by row. Without `axes` the last two are those; a vector
// is one row, or goes on in rows where it is long. Numbers of one sign go from dark violet (least)
// to yellow, others from blue over white (0) to red; NaN and infinities are magenta. Small tensors
// are drawn larger; of large ones a pixel is the mean of a square, and magenta where one of it is.
// No side is over 2,048 pixels. The same tensor gives the same bytes.
// Errors: no real numbers, no elements; an axis that is not there. Cost: linear.
GRAPNEL_PUBLIC Expected<HeatMap> HeatMapOf(const Tensor& tensor,
                                           std::optional<ImageAxes> axes = std::nullopt);

// "1,2", rows first; negative ones count from the last. Errors say what was expected.
GRAPNEL_PUBLIC Expected<ImageAxes> ParseImageAxes(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HEAT_MAP_H_
