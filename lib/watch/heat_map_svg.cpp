// Draws what a heat map means around it: title, axes, tiles and the color scale.
#include <algorithm>

#include "lib/support/printable.h"
#include "lib/support/text.h"
#include "lib/watch/heat_map.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {
namespace {

// In pixels. A picture is at least kLeastSide wide, so that the title and the scale fit.
constexpr int kLeft = 58, kTop = 34, kTileLabel = 16, kBottom = 40, kRight = 92, kScaleGap = 16,
              kScaleWidth = 14, kLeastSide = 240, kLeastScale = 120, kFont = 12;
constexpr int kRoomForNumber = 22;  // tiles of smaller sides are numbered only at their ends

std::string Escaped(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream os(escaped);
  llvm::printHTMLEscaped(Printable(text), os);
  return os.str();
}

class SvgMaker {
 public:
  SvgMaker(const HeatMap& map, llvm::StringRef title) : map_(map), title_(title) {}

  std::string Make() && {
    top_ = kTop + (map_.tiles > 1 ? kTileLabel : 0);
    int scale_height = std::max(map_.height, kLeastScale);
    int width = kLeft + std::max(map_.width, kLeastSide) + kRight;
    int height = top_ + scale_height + kBottom;
    out_ = llvm::formatv(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
        "{1}\" font-family=\"'DejaVu Sans', Verdana, sans-serif\" font-size=\"{2}\" "
        "fill=\"#14181f\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        width, height, kFont);
    Text(kLeft, 18, Escaped(title_), "start", " font-weight=\"bold\"");
    out_ += llvm::formatv(
        "<image x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
        "style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{4}\"/>\n",
        kLeft, top_, map_.width, map_.height, llvm::encodeBase64(map_.png));
    Axes();
    Tiles();
    Scale(width - kRight + kScaleGap, scale_height);
    return out_ + "</svg>\n";
  }

 private:
  void Text(int x, int y, const std::string& text, const char* anchor, llvm::StringRef more = "") {
    out_ += llvm::formatv("<text x=\"{0}\" y=\"{1}\" text-anchor=\"{2}\"{3}>{4}</text>\n", x, y,
                          anchor, more, text);
  }

  // Writes the names of the axes, and the first and last index of the first tile.
  void Axes() {
    int below = top_ + map_.height + kFont + 4;
    if (map_.across.axis >= 0) {
      Text(kLeft, below, "0", "start");
      if (map_.tile_width > 3 * kFont)
        Text(kLeft + map_.tile_width, below, std::to_string(map_.across.size - 1), "end");
      Text(kLeft + map_.width / 2, below + kFont + 4,
           "axis " + std::to_string(map_.across.axis) + " \xe2\x86\x92", "middle");
    }
    if (map_.down.axis < 0) return;
    Text(kLeft - 6, top_ + kFont - 2, "0", "end");
    if (map_.tile_height > 3 * kFont)
      Text(kLeft - 6, top_ + map_.tile_height - 2, std::to_string(map_.down.size - 1), "end");
    int middle = top_ + map_.height / 2;
    // Turned, the arrow to the left points down.
    Text(16, middle, "\xe2\x86\x90 axis " + std::to_string(map_.down.axis), "middle",
         llvm::formatv(" transform=\"rotate(-90 16 {0})\"", middle).str());
  }

  // Numbers the tiles above the first row of them: of several axes, the last one goes across.
  void Tiles() {
    if (map_.tiles < 2) return;
    std::string axes;
    for (int axis : map_.tile_axes) axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
    bool has_room = map_.tile_width >= kRoomForNumber;
    int shown = std::min(map_.tiles, map_.tiles_across);
    for (int i = 0; i < shown; ++i) {
      if (!has_room && i > 0) break;
      Text(kLeft + i * (map_.tile_width + 1) + map_.tile_width / 2, top_ - 4, std::to_string(i),
           "middle");
    }
    const char* word = map_.tile_axes.size() == 1 ? "axis " : "axes ";
    Text(kLeft - 6, top_ - 4, word + axes, "end");
  }

  void Scale(int x, int height) {
    if (map_.scale.empty()) return;
    out_ += "<linearGradient id=\"scale\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">";
    size_t last = map_.scale.size() - 1;
    for (size_t i = 0; i <= last; ++i) {
      out_ += llvm::formatv("<stop offset=\"{0}\" stop-color=\"{1}\"/>",
                            last == 0 ? 0.0 : static_cast<double>(i) / static_cast<double>(last),
                            map_.scale[i].second);
    }
    out_ += "</linearGradient>\n";
    out_ += llvm::formatv(
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" fill=\"url(#scale)\" "
        "stroke=\"#6d7785\"/>\n",
        x, top_, kScaleWidth, height);
    auto number = [&](size_t i, int y) {
      Text(x + kScaleWidth + 5, y, NumberText(map_.scale[i].first, 4), "start");
    };
    number(last, top_ + kFont - 2);
    if (last == 0) return;
    number(0, top_ + height);
    if (last % 2 == 0) number(last / 2, top_ + height / 2 + kFont / 2 - 1);
  }

  const HeatMap& map_;
  llvm::StringRef title_;
  int top_ = kTop;
  std::string out_;
};

}  // namespace

std::string HeatMapSvg(const HeatMap& map, llvm::StringRef title) {
  return SvgMaker(map, title).Make();
}

}  // namespace grapnel
