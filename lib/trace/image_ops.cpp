#include "lib/trace/image_ops.h"

#include "lib/trace/op_builder.h"

namespace grapnel {
namespace image {

Value RgbToHsv(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("RGBToHSV", x);
}
Value HsvToRgb(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("HSVToRGB", x);
}

Value Resize(const Value& x, int height, int width, Method method, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("resize");
  Value size = make.Ints({height, width}, "size");
  const char* op = method == Method::kBilinear  ? "ResizeBilinear"
                   : method == Method::kNearest ? "ResizeNearestNeighbor"
                                                : "ResizeBicubic";
  return make.Op(op, {x, size}, {{"half_pixel_centers", true}});
}

Value SpaceToDepth(const Value& x, int block, SourceLocation where) {
  return OpBuilder(x, where).Op("SpaceToDepth", x, {{"block_size", block}});
}
Value DepthToSpace(const Value& x, int block, SourceLocation where) {
  return OpBuilder(x, where).Op("DepthToSpace", x, {{"block_size", block}});
}

}  // namespace image
}  // namespace grapnel
