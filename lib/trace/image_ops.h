// Functions on images of shape [batch, height, width, channels]. Each makes the nodes that its
// counterpart in tf.image or tf.nn makes, with the same names.
#ifndef GRAPNEL_LIB_TRACE_IMAGE_OPS_H_
#define GRAPNEL_LIB_TRACE_IMAGE_OPS_H_

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {
namespace image {

// In RgbToHsv and HsvToRgb, images have three channels, with values between 0 and 1.
GRAPNEL_PUBLIC Value RgbToHsv(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value HsvToRgb(const Value& x, SourceLocation where = SourceLocation());

enum class Method { kBilinear, kNearest, kBicubic };
GRAPNEL_PUBLIC Value Resize(const Value& x, int height, int width,
                            Method method = Method::kBilinear,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value SpaceToDepth(const Value& x, int block,
                                  SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value DepthToSpace(const Value& x, int block,
                                  SourceLocation where = SourceLocation());

}  // namespace image
}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_IMAGE_OPS_H_
