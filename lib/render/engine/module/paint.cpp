#include "lib/render/engine/module/paint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/render/engine/module/canvas.h"

namespace grapnel_picture {
namespace {

constexpr double kMostSide = 32000;  // FreeType's spans end at 32,767
constexpr int kPiecesOfCurve = 8;

// Splits one line of the recorded calls (paint_context.js) into words.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  std::string_view Next() {
    SkipBlanks();
    std::string_view word = text_.substr(0, text_.find(' '));
    text_.remove_prefix(std::min(text_.size(), word.size() + 1));
    return word;
  }
  double Number() {
    SkipBlanks();
    double number = 0;
    auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc())
      throw std::runtime_error("a number was expected: " + std::string(text_));
    text_.remove_prefix(end - text_.data());
    return number;
  }
  // The letter that begins the next segment of a path; 0 at the end.
  char Letter() {
    SkipBlanks();
    if (text_.empty()) return 0;
    char letter = text_.front();
    text_.remove_prefix(1);
    return letter;
  }
  std::string_view Rest() const { return text_.substr(std::min<size_t>(1, text_.size())); }

 private:
  void SkipBlanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }

  std::string_view text_;
};

// Parses "#rrggbb".
Color ReadColor(std::string_view text) {
  unsigned value = 0;
  if (text.size() != 7 || text[0] != '#' ||
      std::from_chars(text.data() + 1, text.data() + 7, value, 16).ptr != text.data() + 7)
    throw std::runtime_error("a color was expected: " + std::string(text));
  Color color;
  for (int i = 0; i < 3; ++i) color.channels[i] = static_cast<uint8_t>(value >> (16 - 8 * i));
  return color;
}

void AddCurve(std::vector<Point>* points, Point bend, Point end) {
  Point begin = points->back();
  for (int i = 1; i <= kPiecesOfCurve; ++i) {
    double t = static_cast<double>(i) / kPiecesOfCurve, a = (1 - t) * (1 - t), b = 2 * t * (1 - t);
    points->push_back(
        {a * begin.x + b * bend.x + t * t * end.x, a * begin.y + b * bend.y + t * t * end.y});
  }
}

Polyline RoundRect(double x, double y, double w, double h, double radius) {
  radius = std::max(0.0, std::min({radius, w / 2, h / 2}));
  Polyline line{{}, true};
  if (radius == 0) {
    line.points = {{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}};
    return line;
  }
  const Point centers[] = {{x + w - radius, y + radius},
                           {x + w - radius, y + h - radius},
                           {x + radius, y + h - radius},
                           {x + radius, y + radius}};
  for (int corner = 0; corner < 4; ++corner) {
    for (int i = 0; i <= kPiecesOfCurve; ++i) {
      double angle = M_PI / 2 * (corner - 1 + static_cast<double>(i) / kPiecesOfCurve);
      line.points.push_back({centers[corner].x + radius * std::cos(angle),
                             centers[corner].y + radius * std::sin(angle)});
    }
  }
  return line;
}

Point ReadPoint(Words* words) {
  double x = words->Number();
  return {x, words->Number()};
}

std::vector<Polyline> ReadPath(Words* words) {
  std::vector<Polyline> lines;
  while (char letter = words->Letter()) {
    if (letter == 'R') {
      Point at = ReadPoint(words), size = ReadPoint(words);
      lines.push_back(RoundRect(at.x, at.y, size.x, size.y, words->Number()));
    } else if (letter == 'M') {
      lines.push_back({{ReadPoint(words)}, false});
    } else if (letter == 'L' && !lines.empty()) {
      lines.back().points.push_back(ReadPoint(words));
    } else if (letter == 'Q' && !lines.empty()) {
      Point bend = ReadPoint(words);
      AddCurve(&lines.back().points, bend, ReadPoint(words));
    } else {
      throw std::runtime_error(std::string("a path has no '") + letter + "' here");
    }
  }
  return lines;
}

std::vector<double> ReadDash(std::string_view text) {
  std::vector<double> dash;
  if (text == "-") return dash;
  while (!text.empty()) {
    std::string_view number = text.substr(0, text.find(','));
    dash.push_back(Words(number).Number());
    text.remove_prefix(std::min(text.size(), number.size() + 1));
  }
  return dash;
}

void PaintStroke(Words words, Canvas* canvas) {
  Color color = ReadColor(words.Next());
  color.opacity = words.Number();
  double width = words.Number();
  std::vector<double> dash = ReadDash(words.Next());
  canvas->Stroke(ReadPath(&words), width, dash, color);
}

void PaintText(Words words, Canvas* canvas) {
  Color color = ReadColor(words.Next());
  Lettering lettering;
  lettering.size = words.Number();
  lettering.bold = words.Number() != 0;
  lettering.centered = words.Number() != 0;
  lettering.stroke = words.Number();
  Point at = ReadPoint(&words);
  canvas->Write(words.Rest(), at, lettering, color);
}

void PaintLine(std::string_view line, Canvas* canvas) {
  Words words(line);
  std::string_view what = words.Next();
  if (what == "fill") {
    Color color = ReadColor(words.Next());
    canvas->Fill(ReadPath(&words), color);
  } else if (what == "stroke") {
    PaintStroke(words, canvas);
  } else if (what == "text") {
    PaintText(words, canvas);
  } else {
    throw std::runtime_error("nothing is painted by '" + std::string(what) + "'");
  }
}

std::string_view TakeLine(std::string_view* text) {
  std::string_view line = text->substr(0, text->find('\n'));
  text->remove_prefix(std::min(text->size(), line.size() + 1));
  return line;
}

}  // namespace

Result Paint(std::string_view calls, double most_pixels, GrapnelPictureSize* size) {
  Words first(TakeLine(&calls));
  if (first.Next() != "size") return {false, "a picture begins with its size"};
  double width = std::max(1.0, first.Number()), height = std::max(1.0, first.Number());
  // The scale is below 1 if the picture would be too large.
  size->scale =
      std::min({1.0, kMostSide / std::max(width, height), std::sqrt(most_pixels / width / height)});
  size->columns = std::max(1, static_cast<int>(std::ceil(width * size->scale)));
  size->rows = std::max(1, static_cast<int>(std::ceil(height * size->scale)));
  Canvas canvas(size->columns, size->rows, size->scale);
  while (!calls.empty()) PaintLine(TakeLine(&calls), &canvas);
  return {true, std::move(canvas).TakePixels()};
}

}  // namespace grapnel_picture
