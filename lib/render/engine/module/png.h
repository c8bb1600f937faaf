// SVG as pixels.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_PNG_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_PNG_H_

#include <string_view>

#include "lib/render/engine/module/result.h"

namespace grapnel_picture {

// As lib/render/engine/api.h says.
Result PngOfSvg(std::string_view svg, double most_pixels, double* scale);

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_PNG_H_
