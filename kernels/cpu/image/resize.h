// Shared by resizing and its gradients: where the pixels of a resized image come from.
#ifndef GRAPNEL_KERNELS_CPU_IMAGE_RESIZE_H_
#define GRAPNEL_KERNELS_CPU_IMAGE_RESIZE_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "lib/exec/kernel.h"

namespace grapnel {

struct ResizeAxis {
  int64_t in, out;
  bool align_corners, half_pixel_centers;

  float scale() const {
    if (align_corners && out > 1) return static_cast<float>(in - 1) / static_cast<float>(out - 1);
    return static_cast<float>(in) / static_cast<float>(out);
  }
  // Returns the source coordinate of output pixel `i`. The product is rounded before the
  // subtraction, as in TensorFlow: its last bit can decide which entry of its table ResizeBicubic
  // reads.
  float Source(int64_t i) const {
#pragma clang fp contract(off)
    float at = static_cast<float>(i);
    return half_pixel_centers ? (at + 0.5f) * scale() - 0.5f : at * scale();
  }
  int64_t Nearest(int64_t i) const {
    float at = half_pixel_centers ? (static_cast<float>(i) + 0.5f) * scale()
                                  : static_cast<float>(i) * scale();
    int64_t index = static_cast<int64_t>(align_corners ? std::roundf(at) : std::floor(at));
    return std::clamp<int64_t>(index, 0, in - 1);
  }
};

// The two pixels around a source coordinate, and the weight of the upper one.
struct ResizeBetween {
  int64_t lower, upper;
  float weight;
};
std::vector<ResizeBetween> BilinearPositions(const ResizeAxis& axis);

class ResizeAttrs {
 public:
  explicit ResizeAttrs(const KernelSetup& setup)
      : align_corners_(setup.node().GetBool("align_corners")),
        half_pixel_centers_(setup.node().GetBool("half_pixel_centers")) {}

  bool half_pixel_centers() const { return half_pixel_centers_; }
  // Sets both axes between images of shape [batch, height, width, channels]; a size of 0 is an
  // error.
  Error Axes(llvm::ArrayRef<int64_t> from, int64_t height, int64_t width, ResizeAxis* rows,
             ResizeAxis* columns) const;
  // Calls Axes() with the shape of the images in input 0 and the new size in input 1.
  Error Prepare(const KernelContext& ctx, ResizeAxis* rows, ResizeAxis* columns) const;

 private:
  bool align_corners_, half_pixel_centers_;
};

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_IMAGE_RESIZE_H_
