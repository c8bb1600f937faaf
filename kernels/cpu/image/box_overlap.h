// The overlap of two boxes.
#ifndef GRAPNEL_KERNELS_CPU_IMAGE_BOX_OVERLAP_H_
#define GRAPNEL_KERNELS_CPU_IMAGE_BOX_OVERLAP_H_

#include <algorithm>

namespace grapnel {

// Returns the intersection over union of two boxes, each given by any two opposite corners [y, x,
// y, x]; 0 if one is empty.
template <typename T>
T BoxOverlap(const T* a, const T* b) {
  T a_top = std::min(a[0], a[2]), a_left = std::min(a[1], a[3]);
  T a_bottom = std::max(a[0], a[2]), a_right = std::max(a[1], a[3]);
  T b_top = std::min(b[0], b[2]), b_left = std::min(b[1], b[3]);
  T b_bottom = std::max(b[0], b[2]), b_right = std::max(b[1], b[3]);
  T a_area = (a_bottom - a_top) * (a_right - a_left);
  T b_area = (b_bottom - b_top) * (b_right - b_left);
  if (a_area <= T(0) || b_area <= T(0)) return T(0);
  T height = std::max(std::min(a_bottom, b_bottom) - std::max(a_top, b_top), T(0));
  T width = std::max(std::min(a_right, b_right) - std::max(a_left, b_left), T(0));
  T common = height * width;
  return common / (a_area + b_area - common);
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_IMAGE_BOX_OVERLAP_H_
