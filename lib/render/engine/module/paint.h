// Paints the calls that lib/render/web/paint_context.js records.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_PAINT_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_PAINT_H_

#include <string_view>

#include "lib/render/engine/api.h"
#include "lib/render/engine/module/result.h"

namespace grapnel_picture {

// Implements GrapnelPictureApi::paint of lib/render/engine/api.h.
Result Paint(std::string_view calls, double most_pixels, GrapnelPictureSize* size);

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_PAINT_H_
