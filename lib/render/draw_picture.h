// Writes a picture to a file.
#ifndef GRAPNEL_LIB_RENDER_DRAW_PICTURE_H_
#define GRAPNEL_LIB_RENDER_DRAW_PICTURE_H_

#include <optional>
#include <string>

#include "lib/render/picture.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class PictureFormat { kDot, kSvg, kPng };

// Parses "dot" (or "gv"), "svg" or "png", with or without a leading dot; nullopt for any other
// text.
std::optional<PictureFormat> ParsePictureFormat(llvm::StringRef name);

struct PictureFile {
  std::string bytes;
  std::string warning;  // what the format cannot represent; empty if it represents all
};

// Returns the picture as a file of that format. The same picture gives the same bytes. SVG and PNG
// are laid out and drawn by the page's scripts: see lib/render/engine/engine.h for costs and
// requirements. Both take some 50 ms for 60 boxes, a second for 2,000 boxes.
Expected<PictureFile> DrawPicture(const Picture& picture, PictureFormat format);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DRAW_PICTURE_H_
