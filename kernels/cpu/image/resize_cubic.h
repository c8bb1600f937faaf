// The four pixels per axis that bicubic interpolation combines.
#ifndef GRAPNEL_KERNELS_CPU_IMAGE_RESIZE_CUBIC_H_
#define GRAPNEL_KERNELS_CPU_IMAGE_RESIZE_CUBIC_H_

#include <vector>

#include "kernels/cpu/image/resize.h"

namespace grapnel {

struct CubicTap {
  int64_t index[4];
  float weight[4];
};

// Returns one entry per output position.
std::vector<CubicTap> CubicPositions(const ResizeAxis& axis);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_IMAGE_RESIZE_CUBIC_H_
