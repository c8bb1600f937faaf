#include "lib/render/draw_picture.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

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
  EXPECT_LT(svg.size(), 1000000u);  // the long name stands in tooltips, not in labels
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
  auto no_svg = PngOfSvg("<svg");
  EXPECT_EQ(TextOf(no_svg.takeError()).find("cannot draw: "), 0u);
}

TEST(Engine, AnSvgIsAsManyPixelsAsItSays) {
  auto png = PngOfSvg("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"70\" height=\"30\"/>");
  ASSERT_TRUE(static_cast<bool>(png)) << TextOf(png.takeError());
  EXPECT_EQ(png->bytes.substr(16, 8), std::string("\0\0\0\x46\0\0\0\x1e", 8));
  // One that has no room for as many is made smaller.
  auto wide = PngOfSvg("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"64000\" height=\"20\"/>");
  ASSERT_TRUE(static_cast<bool>(wide)) << TextOf(wide.takeError());
  EXPECT_EQ(wide->bytes.substr(16, 8), std::string("\0\0\x7d\0\0\0\0\x0a", 8));
  EXPECT_EQ(wide->scale, 0.5);
}

TEST(Engine, APngThatIsSmallerThanItsPictureSaysSo) {
  auto file = DrawPicture(Named(std::vector<std::string>(900, "a")), PictureFormat::kPng);
  ASSERT_TRUE(static_cast<bool>(file)) << TextOf(file.takeError());
  EXPECT_NE(file->warning.find("% of its size"), std::string::npos) << file->warning;
}

// LLVM's handlers of signals come and go while the engine is there.
TEST(Engine, NoSignalIsNeededToCollectWhatIsLeftOver) {
  Draw(Named({"a"}), PictureFormat::kSvg);  // when it opens, the engine takes what it may need
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
