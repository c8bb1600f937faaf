#include "lib/render/draw_picture.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <csignal>
#include <string>
#include <vector>

#include "lib/render/engine/engine.h"
#include "lib/render/labels.h"

namespace grapnel {
namespace {

Picture Named(const std::vector<std::string>& names) {
  Picture picture;
  picture.title = names[0];
  picture.colors = {{"", "#ffffff"}};
  for (const std::string& name : names) {
    Box box;
    box.id = box.name = box.tooltip = Printable(name);
    box.title = "Op";
    picture.boxes.push_back(box);
  }
  for (uint32_t i = 0; i + 1 < names.size(); ++i) {
    PictureEdge edge;
    edge.from = i;
    edge.to = i + 1;
    picture.edges.push_back(edge);
  }
  return picture;
}

std::string Draw(const Picture& picture, PictureFormat format) {
  auto file = DrawPicture(picture, format);
  if (!file) {
    ADD_FAILURE() << TextOf(file.takeError());
    return "";
  }
  EXPECT_EQ(file->warning, "");
  return file->bytes;
}

TEST(Dot, NamesAreEscaped) {
  std::string dot =
      Draw(Named({"say \"hi\"", "a:0", "{b|c}", "<i>&amp;", "\xc3\xa9t\xc3\xa9", "back\\"}),
           PictureFormat::kDot);
  EXPECT_NE(dot.find("\"say \\\"hi\\\"\" -> \"a:0\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("\"a:0\" -> \"{b|c}\""), std::string::npos);
  EXPECT_NE(dot.find("&lt;i&gt;&amp;amp;"), std::string::npos);
  EXPECT_NE(dot.find(">\xc3\xa9t\xc3\xa9<"), std::string::npos) << dot;
  EXPECT_NE(dot.find("tooltip=\"back\\\\\""), std::string::npos);
}

TEST(Dot, WhateverTheNamesItCanBeDrawn) {
  std::string svg = Draw(Named({"say \"hi\"", "a:0", "{b|c}", "<i>&amp;", "\xc3\xa9t\xc3\xa9",
                                "back\\", "\\N", "node", "\xff\x01", std::string(100000, 'x')}),
                         PictureFormat::kSvg);
  EXPECT_NE(svg.find("a:0"), std::string::npos);
  EXPECT_NE(svg.find("&lt;i&gt;&amp;amp;"), std::string::npos);
  EXPECT_NE(svg.find("\\xff\\x01"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_LT(svg.size(), 1000000u);  // the long name is in tooltips, not in labels
}

TEST(Dot, NamesThatDifferBehindAZeroAreTwoNodes) {
  using namespace std::string_literals;
  Picture picture = Named({"a"s, "b"s, "c"s});
  picture.boxes[0].id = "zero\0"s;
  picture.boxes[1].id = "zero\0one"s;
  picture.boxes[2].id = "zero"s;
  std::string dot = Draw(picture, PictureFormat::kDot);
  EXPECT_NE(dot.find("\"zero|x00\" -> \"zero|x00one\""), std::string::npos) << dot;
  EXPECT_NE(dot.find("\"zero|x00one\" -> zero"), std::string::npos) << dot;
}

TEST(Dot, PngIsPng) { EXPECT_EQ(Draw(Named({"a", "b"}), PictureFormat::kPng).substr(1, 3), "PNG"); }

TEST(Dot, TheSamePictureGivesTheSameBytes) {
  Picture picture = Named({"a", "b", "c"});
  for (PictureFormat format : {PictureFormat::kDot, PictureFormat::kSvg, PictureFormat::kPng}) {
    EXPECT_EQ(Draw(picture, format), Draw(picture, format));
  }
}

TEST(DrawPicture, WhereverDataFlowsTheTitleIsOnTop) {
  Picture picture = Named({"a", "b"});
  Cluster frame;
  frame.id = frame.title = "around both";
  picture.clusters.push_back(frame);
  for (Box& box : picture.boxes) box.cluster = 0;
  for (Direction direction : {Direction::kDown, Direction::kUp, Direction::kRight}) {
    picture.direction = direction;
    std::string svg = Draw(picture, PictureFormat::kSvg);
    size_t title = svg.find(">around both</text>"), y = svg.rfind(" y=\"", title);
    ASSERT_NE(title, std::string::npos) << svg;
    int at = std::atoi(svg.c_str() + y + 4);
    for (const char* name : {">Op  a<", ">Op<"}) {
      size_t box = svg.find(name);
      if (box != std::string::npos)
        EXPECT_GT(std::atoi(svg.c_str() + svg.rfind(" y=\"", box) + 4), at);
    }
  }
}

TEST(Engine, WhatGoesWrongIsSaid) {
  auto missing = CallScript("nothing.js", "nothing", {});
  EXPECT_EQ(TextOf(missing.takeError()), "there is no module 'nothing.js'");
  auto absent = CallScript("spread.js", "nothing", {});
  EXPECT_FALSE(static_cast<bool>(absent));
  llvm::consumeError(absent.takeError());
  auto thrown = CallScript("picture_file.js", "pictureFile", {"{", ""});
  EXPECT_EQ(TextOf(thrown.takeError()).find("cannot draw: SyntaxError"), 0u);
  for (const char* calls :
       {"", "size 1 2\nfill red R0 0 1 1 0", "size 1 2\nfill #ffffff M0", "size 1 2\nx"}) {
    auto none = PngOfCalls(calls);
    EXPECT_EQ(TextOf(none.takeError()).find("cannot draw: "), 0u) << calls;
  }
}

TEST(Engine, APictureIsAsManyPixelsAsItSays) {
  auto png = PngOfCalls("size 70 30\n");
  ASSERT_TRUE(static_cast<bool>(png)) << TextOf(png.takeError());
  EXPECT_EQ(png->bytes.substr(16, 8), std::string("\0\0\0\x46\0\0\0\x1e", 8));
  // A picture with too many pixels is scaled down.
  auto wide = PngOfCalls("size 64000 20\n");
  ASSERT_TRUE(static_cast<bool>(wide)) << TextOf(wide.takeError());
  EXPECT_EQ(wide->bytes.substr(16, 8), std::string("\0\0\x7d\0\0\0\0\x0a", 8));
  EXPECT_EQ(wide->scale, 0.5);
}

// Red, green and blue of each pixel. Rows are stored as differences from the previous one:
// lib/io/png_writer.cpp.
std::vector<uint8_t> PixelsOf(const std::string& png, size_t columns, size_t rows) {
  size_t at = png.find("IDAT");
  std::vector<uint8_t> packed(png.begin() + at + 4, png.end()), all((3 * columns + 1) * rows),
      pixels;
  uLongf size = all.size();
  EXPECT_EQ(uncompress(all.data(), &size, packed.data(), packed.size()), Z_OK);
  for (size_t y = 0; y < rows; ++y) {
    for (size_t x = 0; x < 3 * columns; ++x) {
      uint8_t above = y == 0 ? 0 : pixels[pixels.size() - 3 * columns];
      pixels.push_back(above + all[y * (3 * columns + 1) + 1 + x]);
    }
  }
  return pixels;
}

std::vector<uint8_t> Painted(const std::string& calls, size_t columns, size_t rows) {
  auto png = PngOfCalls(calls);
  if (png) return PixelsOf(png->bytes, columns, rows);
  ADD_FAILURE() << TextOf(png.takeError());
  return {};
}

TEST(Engine, AreasAndLinesArePaintedWhereTheyAre) {
  std::vector<uint8_t> red = Painted("size 3 2\nfill #ff0000 R1 0 1 1 0\n", 3, 2);
  std::vector<uint8_t> white(18, 255), expected = white;
  expected[4] = expected[5] = 0;
  EXPECT_EQ(red, expected);
  std::vector<uint8_t> line = Painted("size 3 2\nstroke #000000 1 1 - M0 1.5L2 1.5\n", 3, 2);
  expected = white;
  for (int i = 9; i < 15; ++i) expected[i] = 0;
  EXPECT_EQ(line, expected);
  // Alternating dash and gap; at half opacity the background shows through.
  std::vector<uint8_t> dashes = Painted("size 3 1\nstroke #000000 0.5 1 1,1 M0 0.5L3 0.5\n", 3, 1);
  EXPECT_EQ(dashes, (std::vector<uint8_t>{128, 128, 128, 255, 255, 255, 128, 128, 128}));
}

TEST(Engine, WordsArePaintedOnTheirBaseLine) {
  auto is_dark = [](const std::string& calls, int from, int to) {
    std::vector<uint8_t> pixels = Painted(calls, 20, 20);
    int dark = 0;
    for (size_t i = 0; i < pixels.size(); i += 3) {
      int row = static_cast<int>(i) / 60;
      if (pixels[i] < 100) dark += row >= from && row < to ? 1 : 1000;
    }
    return dark;
  };
  int plain = is_dark("size 20 20\ntext #000000 12 0 0 0 2 15 H\n", 6, 15);
  EXPECT_GT(plain, 15);
  EXPECT_LT(plain, 100);
  EXPECT_GT(is_dark("size 20 20\ntext #000000 12 1 0 0 2 15 H\n", 6, 15), plain);
  EXPECT_EQ(Painted("size 20 20\ntext #000000 12 0 1 0 10 15 HH\n", 20, 20).size(), 1200u);
  EXPECT_EQ(is_dark("size 20 20\ntext #000000 12 0 0 0 2 15 \xff\xf0\n", 0, 20) > 0,
            true);  // no letters
}

TEST(Engine, APngThatIsSmallerThanItsPictureSaysSo) {
  auto file = DrawPicture(Named(std::vector<std::string>(900, "a")), PictureFormat::kPng);
  ASSERT_TRUE(static_cast<bool>(file)) << TextOf(file.takeError());
  EXPECT_NE(file->warning.find("% of its size"), std::string::npos) << file->warning;
}

// The engine runs while LLVM's signal handlers are installed and removed.
TEST(Engine, NoSignalIsNeededToCollectWhatIsLeftOver) {
  Draw(Named({"a"}), PictureFormat::kSvg);  // loads the engine and what it needs
  auto before = std::signal(SIGUSR1, SIG_IGN);
  std::string svg = Draw(Named(std::vector<std::string>(6000, "a")), PictureFormat::kSvg);
  std::signal(SIGUSR1, before);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST(Labels, PrintableKeepsUtf8AndNothingElse) {
  EXPECT_EQ(Printable("a/b:0 \xe2\x86\x92"), "a/b:0 \xe2\x86\x92");
  EXPECT_EQ(Printable("\xe2\x86"), "\\xe2\\x86");
  EXPECT_EQ(Printable("a\nb\x7f"), "a\\x0ab\\u007f");
}

TEST(Labels, UnknownDimensionsAreQuestionMarks) {
  EXPECT_EQ(TensorText(proto::DT_FLOAT, Shape({kUnknownDim, 28, -7})), "float[?,28,?]");
  EXPECT_EQ(TensorText(proto::DT_FLOAT, Shape::Unknown()), "float");
  EXPECT_EQ(TensorText(proto::DT_INVALID, Shape::Unknown()), "");
}

}  // namespace
}  // namespace grapnel
