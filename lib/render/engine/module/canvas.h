// Pixels that areas, lines and words are painted on, by FreeType.
#ifndef GRAPNEL_LIB_RENDER_ENGINE_MODULE_CANVAS_H_
#define GRAPNEL_LIB_RENDER_ENGINE_MODULE_CANVAS_H_

#include <ft2build.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
#include FT_FREETYPE_H
#include FT_STROKER_H

namespace grapnel_picture {

// Units of the picture, from its upper left corner.
struct Point {
  double x = 0, y = 0;
};

struct Polyline {
  std::vector<Point> points;
  bool closed = false;
};

struct Color {
  uint8_t channels[3] = {0, 0, 0};  // red, green, blue
  double opacity = 1;
};

struct Lettering {
  double size = 13;
  bool bold = false, centered = false;
  double stroke = 0;  // how wide a line around the letters is; 0: they are filled
};

// Letters are DejaVu Sans, whatever fonts the machine has, so the same calls give the same pixels.
class Canvas {
 public:
  // White, `scale` pixels for each unit.
  Canvas(int columns, int rows, double scale);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void Fill(const std::vector<Polyline>& lines, const Color& color);
  // `dash`: lengths of line and gap by turns; empty: no gaps.
  void Stroke(const std::vector<Polyline>& lines, double width, const std::vector<double>& dash,
              const Color& color);
  // UTF-8 whose base line begins, or has its middle, at `at`.
  void Write(std::string_view text, Point at, const Lettering& lettering, const Color& color);

  // Rows from the top, red, green and blue of each pixel.
  std::string TakePixels() && { return std::move(pixels_); }

 private:
  FT_Vector Placed(Point point) const;
  void StrokeOne(const Polyline& line, double width, const Color& color);
  void Render(FT_Outline* outline, const Color& color);
  void RenderStroke(const Color& color);
  void SetWidth(double width);

  int columns_, rows_;
  double scale_;
  std::string pixels_;
  FT_Library library_ = nullptr;
  FT_Stroker stroker_ = nullptr;
  FT_Face faces_[2] = {nullptr, nullptr};  // plain, bold
};

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_CANVAS_H_
