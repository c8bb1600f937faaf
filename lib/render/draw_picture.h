// From a picture to a file.
#ifndef GRAPNEL_LIB_RENDER_DRAW_PICTURE_H_
#define GRAPNEL_LIB_RENDER_DRAW_PICTURE_H_

#include <optional>
#include <string>

#include "lib/render/picture.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

enum class PictureFormat { kDot, kSvg, kPng };

// "dot", "svg", "png", with or without a dot before it; nullopt for any other.
std::optional<PictureFormat> ParsePictureFormat(llvm::StringRef name);

struct PictureFile {
  std::string bytes;
  std::string warning;  // what the format cannot hold; empty: nothing
};

// A file in that format. The same picture gives the same bytes (of PNG: with the same
// fonts). SVG and PNG are placed and drawn by the scripts that draw the page: see
// lib/render/engine/engine.h for what that costs and needs. Some 50 ms for 60 boxes, a second for
// 2,000.
Expected<PictureFile> DrawPicture(const Picture& picture, PictureFormat format);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_DRAW_PICTURE_H_
