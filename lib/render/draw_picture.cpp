#include "lib/render/draw_picture.h"

#include <memory>
#include <mutex>

#include "lib/render/dot.h"
#include "lib/render/engine/engine.h"
#include "lib/render/picture_views.h"
#include "lib/render/web/web_file.h"

namespace grapnel {

std::optional<PictureFormat> ParsePictureFormat(llvm::StringRef name) {
  name.consume_front(".");
  if (name == "dot" || name == "gv") return PictureFormat::kDot;
  if (name == "svg") return PictureFormat::kSvg;
  if (name == "png") return PictureFormat::kPng;
  return std::nullopt;
}

Expected<PictureFile> DrawPicture(const Picture& picture, PictureFormat format) {
  if (format == PictureFormat::kDot) {
    // cgraph's tables of strings and identifiers are global, so only one thread may use it.
    static std::mutex cgraph;
    std::lock_guard lock(cgraph);
    std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> graph(MakeDotGraph(picture), agclose);
    return PictureFile{DotText(graph.get()), ""};
  }
  std::string theme = FindPictureFile("theme.css")->text.str();
  bool is_svg = format == PictureFormat::kSvg;
  ASSIGN_OR_RETURN(std::string drawn,
                   CallScript("picture_file.js", is_svg ? "pictureFile" : "picturePaint",
                              {PictureViewsJson(picture), theme}));
  if (is_svg) return PictureFile{std::move(drawn), ""};
  ASSIGN_OR_RETURN(PngImage png, PngOfCalls(drawn));
  PictureFile file = {std::move(png.bytes), ""};
  if (png.scale < 1)
    file.warning = llvm::formatv(
        "drawn at {0:P0} of its size, the most a PNG can hold; an SVG has no limit", png.scale);
  return file;
}

}  // namespace grapnel
