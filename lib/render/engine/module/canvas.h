// A pixel canvas for areas, lines and text, drawn with FreeType.
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

// A position in units of the picture, from the picture's upper left corner.
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
  double stroke = 0;  // width of the letters' outline; 0: letters are filled
};

// Draws text with an embedded DejaVu Sans, so that the same calls give the same pixels on every
// machine.
class Canvas {
 public:
  // Makes a white canvas with `scale` pixels for each unit of the picture.
  Canvas(int columns, int rows, double scale);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void Fill(const std::vector<Polyline>& lines, const Color& color);
  // `dash`: alternating lengths of dash and gap; empty: a solid line.
  void Stroke(const std::vector<Polyline>& lines, double width, const std::vector<double>& dash,
              const Color& color);
  // Writes UTF-8 text. `at` is the beginning of its baseline or, if lettering.centered, its middle.
  void Write(std::string_view text, Point at, const Lettering& lettering, const Color& color);

  // Returns the rows from the top, with red, green and blue bytes for each pixel.
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
  FT_Face faces_[2] = {nullptr, nullptr};  // plain and bold
};

}  // namespace grapnel_picture

#endif  // GRAPNEL_LIB_RENDER_ENGINE_MODULE_CANVAS_H_
