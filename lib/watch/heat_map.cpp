#include "lib/watch/heat_map.h"

#include <png.h>

#include <array>
#include <cmath>

#include "lib/support/text.h"
#include "lib/watch/number_array.h"

namespace grapnel {
namespace {

using Number = NumberArray::Number;
using Color = std::array<uint8_t, 3>;

constexpr int64_t kMostPixels = 2048;  // limit of each side
constexpr int64_t kUsualPixels = 720;  // small tensors are enlarged up to this size
constexpr int64_t kLargestCell = 40;
// If there are several tiles, tiles smaller than this are dropped rather than reduced further.
constexpr int64_t kSmallestTile = 16;
constexpr int64_t kLongVector = 128;  // longer vectors wrap into rows
constexpr Color kBad = {255, 0, 255}, kGap = {128, 128, 128}, kNothing = {210, 210, 210};
// The color scales: Matplotlib's viridis, and ColorBrewer's RdBu reversed.
constexpr Color kOneSign[] = {{68, 1, 84},    {72, 40, 120},  {62, 73, 137},  {49, 104, 142},
                              {38, 130, 142}, {31, 158, 137}, {53, 183, 121}, {110, 206, 88},
                              {181, 222, 43}, {253, 231, 37}};
constexpr Color kTwoSigns[] = {{33, 102, 172},  {67, 147, 195},  {146, 197, 222},
                               {209, 229, 240}, {247, 247, 247}, {253, 219, 199},
                               {244, 165, 130}, {214, 96, 77},   {178, 24, 43}};

// Returns the color at `place` of a scale, from 0 (first color) to 1 (last color).
Color ColorAt(llvm::ArrayRef<Color> scale, double place) {
  double at = std::clamp(place, 0.0, 1.0) * static_cast<double>(scale.size() - 1);
  size_t i = std::min(static_cast<size_t>(at), scale.size() - 2);
  Color color;
  for (size_t c = 0; c < 3; ++c) {
    double from = scale[i][c], to = scale[i + 1][c];
    color[c] =
        static_cast<uint8_t>(std::lround(from + (to - from) * (at - static_cast<double>(i))));
  }
  return color;
}

// Maps numbers to colors.
class Scale {
 public:
  explicit Scale(llvm::ArrayRef<Number> values) {
    for (Number value : values) {
      if (!std::isfinite(value)) {
        ++bad_;
        continue;
      }
      least_ = std::min(least_, value);
      most_ = std::max(most_, value);
    }
    reach_ = std::max(-least_, most_);
  }
  Color Of(Number value) const {
    if (!std::isfinite(value)) return kBad;
    if (has_two_signs()) return ColorAt(kTwoSigns, static_cast<double>(value / reach_ / 2 + 0.5));
    // Halve both numbers first, so that the difference does not overflow.
    Number width = most_ / 2 - least_ / 2;
    if (width == 0) return ColorAt(kOneSign, 0.5);
    return ColorAt(kOneSign, static_cast<double>((value / 2 - least_ / 2) / width));
  }
  // Returns numbers at equal distances, with their colors.
  std::vector<std::pair<double, std::string>> Stops() const {
    std::vector<std::pair<double, std::string>> stops;
    if (least_ > most_) return stops;
    bool two = has_two_signs();
    Number from = two ? -reach_ : least_, to = two ? reach_ : most_;
    size_t count = from == to ? 1 : two ? std::size(kTwoSigns) : std::size(kOneSign);
    for (size_t i = 0; i < count; ++i) {
      Number place = count == 1 ? 0 : static_cast<Number>(i) / static_cast<Number>(count - 1);
      Number value = from * (1 - place) + to * place;
      Color color = Of(value);
      stops.push_back(
          {static_cast<double>(value), llvm::formatv("#{0:x-2}{1:x-2}{2:x-2}", unsigned{color[0]},
                                                     unsigned{color[1]}, unsigned{color[2]})
                                           .str()});
    }
    return stops;
  }
  std::string Text() const {
    std::string text;
    if (least_ > most_) {
      text = "no finite elements";
    } else if (has_two_signs()) {
      text = "blue " + NumberIn(-reach_) + ", white 0, red " + NumberIn(reach_);
    } else if (least_ == most_) {
      text = "all " + NumberIn(least_);
    } else {
      text = "violet " + NumberIn(least_) + ", yellow " + NumberIn(most_);
    }
    if (bad_ > 0) text += "; magenta: " + Plural(bad_, std::string("element")) + " NaN or infinite";
    return text;
  }

 private:
  bool has_two_signs() const { return least_ < 0 && most_ > 0; }
  static std::string NumberIn(Number number) { return NumberText(static_cast<double>(number), 6); }
  Number least_ = INFINITY, most_ = -INFINITY, reach_ = 0;
  int64_t bad_ = 0;
};

// The arrangement of a tensor's elements in tiles, each with rows and columns. The tensor offset of
// an element is its tile's offset plus row * row_stride plus column * column_stride.
struct MapLayout {
  int64_t rows = 1, columns = 1, row_stride = 0, column_stride = 0;
  std::vector<int64_t> tiles;  // offset of each tile's first element
  int64_t across = 1;          // number of tiles side by side
  int64_t joined = 1;          // a cell shows joined x joined elements
  int64_t cell = 1;            // a cell has cell x cell pixels
  int64_t size = 0;            // number of elements in the tensor

  int64_t tile_width() const { return (columns + joined - 1) / joined * cell; }
  int64_t tile_height() const { return (rows + joined - 1) / joined * cell; }
  int64_t down() const { return (static_cast<int64_t>(tiles.size()) + across - 1) / across; }
  int64_t width() const { return across * (tile_width() + 1) - 1; }
  int64_t height() const { return down() * (tile_height() + 1) - 1; }
  bool Fits() const { return width() <= kMostPixels && height() <= kMostPixels; }
};

int64_t SideOf(int64_t count) {
  auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(count)));
  while (side * side < count) ++side;
  return side;
}

// Returns the offsets of all combinations of indices along `axes`; the last axis varies fastest.
std::vector<int64_t> Offsets(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides,
                             llvm::ArrayRef<int> axes) {
  std::vector<int64_t> offsets = {0};
  for (int axis : axes) {
    std::vector<int64_t> more;
    more.reserve(offsets.size() * dims[axis]);
    for (int64_t offset : offsets) {
      for (int64_t i = 0; i < dims[axis]; ++i) more.push_back(offset + i * strides[axis]);
    }
    offsets = std::move(more);
  }
  return offsets;
}

// Joins elements in cells until the image is small enough, and drops tiles if that does not
// suffice. Enlarges the cells of small tensors.
void Resize(MapLayout* layout) {
  int64_t tiles = static_cast<int64_t>(layout->tiles.size());
  while (!layout->Fits() &&
         (tiles == 1 || std::min(layout->rows, layout->columns) / layout->joined > kSmallestTile))
    ++layout->joined;
  if (!layout->Fits()) {
    layout->across = std::clamp<int64_t>(kMostPixels / (layout->tile_width() + 1), 1, tiles);
    int64_t down = std::max<int64_t>(kMostPixels / (layout->tile_height() + 1), 1);
    layout->tiles.resize(std::min(tiles, layout->across * down));
    while (!layout->Fits()) ++layout->joined;
  }
  int64_t side = std::max(layout->width(), layout->height());
  if (layout->joined == 1) layout->cell = std::clamp<int64_t>(kUsualPixels / side, 1, kLargestCell);
  while (!layout->Fits() && layout->cell > 1) --layout->cell;
}

std::string TextOfAxes(llvm::ArrayRef<int> axes) {
  std::string text = axes.size() == 1 ? "axis " : "axes ";
  for (size_t i = 0; i < axes.size(); ++i) text += (i ? ", " : "") + std::to_string(axes[i]);
  return text;
}

Expected<MapLayout> LayOut(llvm::ArrayRef<int64_t> dims, std::optional<ImageAxes> wanted,
                           HeatMap* map) {
  std::string* text = &map->layout;
  MapLayout layout;
  int rank = static_cast<int>(dims.size());
  layout.size = 1;
  std::vector<int64_t> strides(rank);
  for (int i = rank; i-- > 0; layout.size *= dims[i]) strides[i] = layout.size;
  layout.tiles = {0};
  layout.column_stride = 1;
  if (rank < 2) {
    if (wanted && rank == 0) return MakeError("a scalar has no axes");
    bool is_long = layout.size > kLongVector;
    layout.columns = is_long ? SideOf(layout.size) : layout.size;
    layout.rows = (layout.size + layout.columns - 1) / layout.columns;
    layout.row_stride = layout.columns;
    *text = rank == 0 ? "one number" : "axis 0 across";
    if (rank == 1) map->across = {0, layout.columns};
    if (is_long) *text += ", " + std::to_string(layout.columns) + " elements per row";
  } else {
    int place[2] = {wanted ? wanted->rows : -2, wanted ? wanted->columns : -1};
    for (int& axis : place) {
      int given = axis;
      if (axis < 0) axis += rank;
      if (axis < 0 || axis >= rank)
        return MakeError("axis {0} is out of range for shape {1}", given, DimsText(dims));
    }
    if (place[0] == place[1]) return MakeError("axis {0} cannot go both down and across", place[0]);
    layout.rows = dims[place[0]];
    layout.columns = dims[place[1]];
    layout.row_stride = strides[place[0]];
    layout.column_stride = strides[place[1]];
    std::vector<int> others;
    for (int i = 0; i < rank; ++i) {
      if (i != place[0] && i != place[1]) others.push_back(i);
    }
    layout.tiles = Offsets(dims, strides, others);
    map->down = {place[0], layout.rows};
    map->across = {place[1], layout.columns};
    map->tile_axes = others;
    auto count = static_cast<int64_t>(layout.tiles.size());
    *text =
        "axis " + std::to_string(place[0]) + " down, axis " + std::to_string(place[1]) + " across";
    if (!others.empty())
      *text += ", " + Plural(count, std::string("tile")) + " by " + TextOfAxes(others);
    // If two or more axes make tiles, the last of these axes goes across; otherwise choose the
    // number of tiles side by side that makes the image about square.
    double squares =
        std::sqrt(static_cast<double>(count * layout.rows) / static_cast<double>(layout.columns));
    layout.across = others.size() > 1 && dims[others.back()] > 1 && count > dims[others.back()]
                        ? dims[others.back()]
                        : std::clamp<int64_t>(std::llround(squares), 1, count);
  }
  auto before = layout.tiles.size();
  Resize(&layout);
  if (layout.joined > 1)
    *text += llvm::formatv(", one pixel for {0} by {0} elements", layout.joined).str();
  if (layout.tiles.size() < before)
    *text += ", the first " + std::to_string(layout.tiles.size()) + " of them";
  return layout;
}

// Returns the mean of a cell's elements; NaN if an element is infinite or NaN; nullopt if the cell
// has no elements.
std::optional<Number> CellOf(const MapLayout& layout, llvm::ArrayRef<Number> values, int64_t tile,
                             int64_t row, int64_t column) {
  Number sum = 0;
  int64_t count = 0;
  int64_t bottom = std::min(layout.rows, (row + 1) * layout.joined);
  int64_t right = std::min(layout.columns, (column + 1) * layout.joined);
  for (int64_t y = row * layout.joined; y < bottom; ++y) {
    for (int64_t x = column * layout.joined; x < right; ++x) {
      int64_t at = layout.tiles[tile] + y * layout.row_stride + x * layout.column_stride;
      if (at >= layout.size) continue;  // the last row of a wrapped vector may be shorter
      if (!std::isfinite(values[at])) return NAN;
      sum += values[at];
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<Number>(count);
}

std::vector<Color> Paint(const MapLayout& layout, llvm::ArrayRef<Number> values,
                         const Scale& scale) {
  int64_t width = layout.width(), height = layout.height();
  std::vector<Color> pixels(width * height, kGap);
  int64_t rows = layout.tile_height() / layout.cell, columns = layout.tile_width() / layout.cell;
  for (size_t tile = 0; tile < layout.tiles.size(); ++tile) {
    int64_t top = static_cast<int64_t>(tile) / layout.across * (layout.tile_height() + 1);
    int64_t left = static_cast<int64_t>(tile) % layout.across * (layout.tile_width() + 1);
    for (int64_t i = 0; i < rows * columns; ++i) {
      std::optional<Number> value =
          CellOf(layout, values, static_cast<int64_t>(tile), i / columns, i % columns);
      Color color = value ? scale.Of(*value) : kNothing;
      int64_t y = top + i / columns * layout.cell, x = left + i % columns * layout.cell;
      for (int64_t dy = 0; dy < layout.cell; ++dy)
        std::fill_n(pixels.begin() + (y + dy) * width + x, layout.cell, color);
    }
  }
  return pixels;
}

Expected<std::string> ColorPng(llvm::ArrayRef<Color> pixels, int64_t width, int64_t height) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image, bytes.data(), &size, /*convert_to_8_bit=*/0, pixels.data(),
                                 /*row_stride=*/0, nullptr))
    return MakeError("the picture cannot be written: {0}", image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace

Expected<ImageAxes> ParseImageAxes(llvm::StringRef text) {
  ImageAxes axes;
  auto [rows, columns] = text.split(',');
  if (rows.trim().getAsInteger(10, axes.rows) || columns.trim().getAsInteger(10, axes.columns))
    return MakeError(
        "'{0}': two axes were expected, as in 1,2: the one that goes down and the one that goes "
        "across",
        text);
  return axes;
}

Expected<HeatMap> HeatMapOf(const Tensor& tensor, std::optional<ImageAxes> axes) {
  ASSIGN_OR_RETURN(NumberArray array, RealNumbers(tensor));
  if (array.values.empty())
    return MakeError("the tensor has no elements: its shape is {0}", DimsText(array.dims));
  HeatMap map;
  ASSIGN_OR_RETURN(MapLayout layout, LayOut(array.dims, axes, &map));
  Scale scale(array.values);
  map.colors = scale.Text();
  map.scale = scale.Stops();
  map.tile_width = static_cast<int>(layout.tile_width());
  map.tile_height = static_cast<int>(layout.tile_height());
  map.tiles = static_cast<int>(layout.tiles.size());
  map.tiles_across = static_cast<int>(layout.across);
  map.width = static_cast<int>(layout.width());
  map.height = static_cast<int>(layout.height());
  std::vector<Color> pixels = Paint(layout, array.values, scale);
  ASSIGN_OR_RETURN(map.png, ColorPng(pixels, map.width, map.height));
  return map;
}

}  // namespace grapnel
