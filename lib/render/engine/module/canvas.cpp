#include "lib/render/engine/module/canvas.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "lib/support/embed.h"
#include FT_OUTLINE_H

// GRAPNEL_FONTS: the directory of Debian's fonts-dejavu-core.
GRAPNEL_EMBED_FILE("grapnel_font_plain", GRAPNEL_FONTS "/DejaVuSans.ttf");
GRAPNEL_EMBED_FILE("grapnel_font_bold", GRAPNEL_FONTS "/DejaVuSans-Bold.ttf");
extern "C" {
extern const unsigned char grapnel_font_plain_begin[], grapnel_font_plain_end[];
extern const unsigned char grapnel_font_bold_begin[], grapnel_font_bold_end[];
}

namespace grapnel_picture {
namespace {

constexpr double kFixed = 64;              // FreeType's coordinates have 6 fractional bits
constexpr FT_Fixed kMiterLimit = 4 << 16;  // SVG's default, with 16 fractional bits

void Demand(FT_Error error) {
  if (error) throw std::runtime_error("FreeType's error " + std::to_string(error));
}

// An outline in memory allocated by FreeType.
class Outline {
 public:
  Outline(FT_Library library, size_t points, size_t contours) : library_(library) {
    Demand(FT_Outline_New(library, static_cast<FT_UInt>(points), static_cast<FT_Int>(contours),
                          &outline_));
    outline_.n_points = 0;
    outline_.n_contours = 0;
  }
  ~Outline() { FT_Outline_Done(library_, &outline_); }
  Outline(const Outline&) = delete;
  Outline& operator=(const Outline&) = delete;

  void Add(FT_Vector point) {
    outline_.tags[outline_.n_points] = FT_CURVE_TAG_ON;
    outline_.points[outline_.n_points++] = point;
  }
  void EndContour() { outline_.contours[outline_.n_contours++] = outline_.n_points - 1; }
  FT_Outline* get() { return &outline_; }

 private:
  FT_Library library_;
  FT_Outline outline_;
};

struct Brush {
  Color color;
  char* last_row;  // FreeType counts rows from the bottom
  ptrdiff_t row_size;
};

// Blends a color into runs of pixels of row y, each with a coverage of 0 to 255.
void Blend(int y, int count, const FT_Span* spans, void* user) {
  const Brush& brush = *static_cast<Brush*>(user);
  char* row = brush.last_row - y * brush.row_size;
  for (const FT_Span& span : std::basic_string_view(spans, static_cast<size_t>(count))) {
    double share = span.coverage / 255.0 * brush.color.opacity;
    auto* byte = reinterpret_cast<uint8_t*>(row) + 3 * span.x;
    for (int i = 0; i < 3 * span.len; ++i) {
      double now = byte[i];
      byte[i] =
          static_cast<uint8_t>(std::lround(now + (brush.color.channels[i % 3] - now) * share));
    }
  }
}

// Removes and returns the next UTF-8 code point; U+FFFD if bytes of it are missing.
char32_t TakeLetter(std::string_view* text) {
  auto first = static_cast<unsigned char>(text->front());
  text->remove_prefix(1);
  int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  char32_t code = more ? first & (0x3f >> more) : first;
  for (; more > 0; --more) {
    if (text->empty() || (static_cast<unsigned char>(text->front()) & 0xc0) != 0x80) return 0xfffd;
    code = code << 6 | (static_cast<unsigned char>(text->front()) & 0x3f);
    text->remove_prefix(1);
  }
  return code;
}

// Returns the dashes of a dashed line as lines, without the gaps.
std::vector<Polyline> Dashed(const Polyline& line, const std::vector<double>& dash) {
  std::vector<Point> points = line.points;
  if (line.closed && !points.empty()) points.push_back(points.front());
  std::vector<Polyline> parts;
  size_t turn = 0;
  double left = dash[0];
  Polyline part;
  if (!points.empty()) part.points = {points[0]};
  for (size_t i = 1; i < points.size(); ++i) {
    Point from = points[i - 1], to = points[i];
    double dx = to.x - from.x, dy = to.y - from.y;
    // Not `std::hypot`, whose result depends on the version of glibc.
    double length = std::sqrt(dx * dx + dy * dy), done = 0;
    while (length - done > left) {
      done += left;
      Point at = {from.x + dx * done / length, from.y + dy * done / length};
      part.points.push_back(at);
      if (turn % 2 == 0) parts.push_back(part);
      part.points = {at};
      turn = (turn + 1) % dash.size();
      left = dash[turn];
    }
    left -= length - done;
    part.points.push_back(to);
  }
  if (turn % 2 == 0 && part.points.size() > 1) parts.push_back(std::move(part));
  return parts;
}

}  // namespace

Canvas::Canvas(int columns, int rows, double scale)
    : columns_(columns), rows_(rows), scale_(scale), pixels_(size_t{3} * columns * rows, '\xff') {
  Demand(FT_Init_FreeType(&library_));
  Demand(FT_Stroker_New(library_, &stroker_));
  Demand(FT_New_Memory_Face(library_, grapnel_font_plain_begin,
                            grapnel_font_plain_end - grapnel_font_plain_begin, 0, &faces_[0]));
  Demand(FT_New_Memory_Face(library_, grapnel_font_bold_begin,
                            grapnel_font_bold_end - grapnel_font_bold_begin, 0, &faces_[1]));
}

Canvas::~Canvas() {
  FT_Stroker_Done(stroker_);
  FT_Done_FreeType(library_);  // frees the faces too
}

FT_Vector Canvas::Placed(Point point) const {
  return {std::lround(point.x * scale_ * kFixed), std::lround((rows_ - point.y * scale_) * kFixed)};
}

void Canvas::Render(FT_Outline* outline, const Color& color) {
  ptrdiff_t row_size = ptrdiff_t{3} * columns_;
  Brush brush = {color, pixels_.data() + (rows_ - 1) * row_size, row_size};
  FT_Raster_Params how = {};
  how.flags = FT_RASTER_FLAG_AA | FT_RASTER_FLAG_DIRECT | FT_RASTER_FLAG_CLIP;
  how.gray_spans = Blend;
  how.user = &brush;
  how.clip_box = {0, 0, columns_, rows_};
  Demand(FT_Outline_Render(library_, outline, &how));
}

void Canvas::Fill(const std::vector<Polyline>& lines, const Color& color) {
  size_t points = 0;
  for (const Polyline& line : lines) points += line.points.size();
  if (points == 0) return;
  Outline outline(library_, points, lines.size());
  for (const Polyline& line : lines) {
    for (Point point : line.points) outline.Add(Placed(point));
    if (!line.points.empty()) outline.EndContour();
  }
  Render(outline.get(), color);
}

void Canvas::SetWidth(double width) {
  FT_Stroker_Set(stroker_, std::lround(width * scale_ * kFixed / 2), FT_STROKER_LINECAP_BUTT,
                 FT_STROKER_LINEJOIN_MITER_FIXED, kMiterLimit);
}

// Renders the line that was last passed to stroker_.
void Canvas::RenderStroke(const Color& color) {
  FT_UInt points = 0, contours = 0;
  Demand(FT_Stroker_GetCounts(stroker_, &points, &contours));
  if (points == 0) return;
  Outline outline(library_, points, contours);
  FT_Stroker_Export(stroker_, outline.get());
  Render(outline.get(), color);
}

void Canvas::StrokeOne(const Polyline& line, double width, const Color& color) {
  if (line.points.size() < 2) return;
  SetWidth(width);
  FT_Vector at = Placed(line.points[0]);
  Demand(FT_Stroker_BeginSubPath(stroker_, &at, !line.closed));
  for (size_t i = 1; i < line.points.size(); ++i) {
    at = Placed(line.points[i]);
    Demand(FT_Stroker_LineTo(stroker_, &at));
  }
  Demand(FT_Stroker_EndSubPath(stroker_));
  RenderStroke(color);
}

void Canvas::Stroke(const std::vector<Polyline>& lines, double width,
                    const std::vector<double>& dash, const Color& color) {
  bool has_gaps =
      !dash.empty() && std::all_of(dash.begin(), dash.end(), [](double d) { return d > 0; });
  for (const Polyline& line : lines) {
    if (!has_gaps) {
      StrokeOne(line, width, color);
      continue;
    }
    for (const Polyline& part : Dashed(line, dash)) StrokeOne(part, width, color);
  }
}

void Canvas::Write(std::string_view text, Point at, const Lettering& lettering,
                   const Color& color) {
  FT_Face face = faces_[lettering.bold];
  Demand(FT_Set_Char_Size(face, 0, std::max(1l, std::lround(lettering.size * scale_ * kFixed)), 72,
                          72));
  std::vector<FT_UInt> letters;
  while (!text.empty()) letters.push_back(FT_Get_Char_Index(face, TakeLetter(&text)));
  constexpr FT_Int32 kAsDrawn = FT_LOAD_NO_HINTING | FT_LOAD_NO_BITMAP;
  FT_Vector origin = Placed(at);
  double pen = 0;
  if (lettering.centered) {
    for (FT_UInt letter : letters) {
      Demand(FT_Load_Glyph(face, letter, kAsDrawn));
      pen -= face->glyph->linearHoriAdvance / 1024.0 / 2;  // has 16 fractional bits
    }
  }
  if (lettering.stroke > 0) SetWidth(lettering.stroke);
  for (FT_UInt letter : letters) {
    Demand(FT_Load_Glyph(face, letter, kAsDrawn));
    FT_Outline* outline = &face->glyph->outline;
    FT_Outline_Translate(outline, origin.x + std::lround(pen), origin.y);
    pen += face->glyph->linearHoriAdvance / 1024.0;
    if (outline->n_points == 0) continue;
    if (lettering.stroke == 0) {
      Render(outline, color);
      continue;
    }
    FT_Stroker_Rewind(stroker_);
    Demand(FT_Stroker_ParseOutline(stroker_, outline, false));
    RenderStroke(color);
  }
}

}  // namespace grapnel_picture
