#include "lib/watch/heat_map.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>

#include "lib/watch/number_array.h"

namespace grapnel {
namespace {

Tensor Make(Dims dims, std::vector<long double> values, DataType dtype = proto::DT_FLOAT) {
  NumberArray array;
  array.dtype = dtype;
  array.dims = std::move(dims);
  array.values = std::move(values);
  return llvm::cantFail(TensorOf(array));
}

Tensor Filled(Dims dims, long double value = 1) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  return Make(std::move(dims), std::vector<long double>(count, value));
}

// The image's pixels, as read by libpng.
struct Pixels {
  explicit Pixels(const HeatMap& map) {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_memory(&image, map.png.data(), map.png.size()));
    image.format = PNG_FORMAT_RGB;
    width = static_cast<int>(image.width);
    height = static_cast<int>(image.height);
    bytes.resize(PNG_IMAGE_SIZE(image));
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr));
    EXPECT_EQ(width, map.width);
    EXPECT_EQ(height, map.height);
  }
  std::string At(int x, int y) const {
    const uint8_t* at = &bytes[(static_cast<size_t>(y) * width + x) * 3];
    return llvm::formatv("{0},{1},{2}", at[0], at[1], at[2]).str();
  }
  int width = 0, height = 0;
  std::vector<uint8_t> bytes;
};

TEST(HeatMapTest, TheImageHasTitleAxesTilesAndScale) {
  HeatMap map = llvm::cantFail(HeatMapOf(Filled({2, 3, 4, 5})));
  EXPECT_EQ(map.down.axis, 2);
  EXPECT_EQ(map.across.size, 5);
  EXPECT_EQ(map.tiles, 6);
  EXPECT_EQ(map.tiles_across, 3);
  std::string svg = HeatMapSvg(map, "heads<2>");
  for (const char* word : {">heads&lt;2&gt;</text>", ">axis 3 \xe2\x86\x92</text>",
                           ">\xe2\x86\x90 axis 2</text>", ">axes 0, 1</text>", ">4</text>"})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
}

TEST(HeatMapTest, TheScaleSaysWhatTheColorsMean) {
  HeatMap map = llvm::cantFail(HeatMapOf(Make({1, 3}, {-2, 0, 1})));
  ASSERT_EQ(map.scale.size(), 9u);
  EXPECT_EQ(map.scale.front(), std::pair(-2.0, std::string("#2166ac")));
  EXPECT_EQ(map.scale[4], std::pair(0.0, std::string("#f7f7f7")));
  EXPECT_EQ(map.scale.back(), std::pair(2.0, std::string("#b2182b")));
  std::string svg = HeatMapSvg(map, "x");
  for (const char* word : {">-2</text>", ">0</text>", ">2</text>", "stop-color=\"#2166ac\""})
    EXPECT_NE(svg.find(word), std::string::npos) << word;
  EXPECT_TRUE(llvm::cantFail(HeatMapOf(Make({2}, {NAN, NAN}))).scale.empty());
}

TEST(HeatMapTest, NumbersOfTwoSignsGoFromBlueOverWhiteToRed) {
  HeatMap map = llvm::cantFail(HeatMapOf(Make({1, 4}, {-2, 0, 2, NAN})));
  EXPECT_EQ(map.layout, "axis 0 down, axis 1 across");
  EXPECT_EQ(map.colors, "blue -2, white 0, red 2; magenta: 1 element NaN or infinite");
  Pixels pixels(map);
  EXPECT_EQ(pixels.width, 160);
  EXPECT_EQ(pixels.height, 40);
  EXPECT_EQ(pixels.At(0, 0), "33,102,172");
  EXPECT_EQ(pixels.At(40, 39), "247,247,247");
  EXPECT_EQ(pixels.At(119, 0), "178,24,43");
  EXPECT_EQ(pixels.At(159, 0), "255,0,255");
}

TEST(HeatMapTest, NumbersOfOneSignGoFromVioletToYellow) {
  HeatMap map = llvm::cantFail(HeatMapOf(Make({2}, {3, 5}, proto::DT_INT32)));
  EXPECT_EQ(map.layout, "axis 0 across");
  EXPECT_EQ(map.colors, "violet 3, yellow 5");
  EXPECT_EQ(Pixels(map).At(0, 0), "68,1,84");
  EXPECT_EQ(Pixels(map).At(79, 0), "253,231,37");
  EXPECT_EQ(llvm::cantFail(HeatMapOf(Filled({3}))).colors, "all 1");
  EXPECT_EQ(llvm::cantFail(HeatMapOf(Filled({}, INFINITY))).colors,
            "no finite elements; magenta: 1 element NaN or infinite");
  // The largest numbers of a double differ by more than a double holds.
  HeatMap far = llvm::cantFail(HeatMapOf(Make({3}, {-1.7e308L, 0, 1.7e308L}, proto::DT_DOUBLE)));
  EXPECT_EQ(Pixels(far).At(41, 0), "247,247,247");
}

TEST(HeatMapTest, OtherAxesMakeTiles) {
  // 2 images of 3 by 4 with 5 channels: one row of tiles for each image.
  HeatMap map = llvm::cantFail(HeatMapOf(Filled({2, 3, 4, 5}), ImageAxes{1, 2}));
  EXPECT_EQ(map.layout, "axis 1 down, axis 2 across, 10 tiles by axes 0, 3");
  Pixels pixels(map);
  int cell = (pixels.width - 4) / 20;
  EXPECT_EQ(pixels.width, 5 * 4 * cell + 4);
  EXPECT_EQ(pixels.height, 2 * 3 * cell + 1);
  EXPECT_EQ(pixels.At(4 * cell, 0), "128,128,128") << "a gap";
  EXPECT_EQ(llvm::cantFail(HeatMapOf(Filled({7, 3, 4}))).layout,
            "axis 1 down, axis 2 across, 7 tiles by axis 0");
  EXPECT_EQ(llvm::cantFail(HeatMapOf(Filled({7, 3, 4}), ImageAxes{-1, 0})).layout,
            "axis 2 down, axis 0 across, 3 tiles by axis 1");
  // Each element at its position.
  std::vector<long double> values(24, 0);
  values[(1 * 3 + 2) * 4 + 3] = 1;
  map = llvm::cantFail(HeatMapOf(Make({2, 3, 4}, values)));
  Pixels placed(map);
  EXPECT_EQ(placed.At(placed.width - 1, placed.height - 1), "253,231,37");
}

TEST(HeatMapTest, LargeTensorsFit) {
  HeatMap map = llvm::cantFail(HeatMapOf(Filled({3000, 5000})));
  EXPECT_EQ(map.layout, "axis 0 down, axis 1 across, one pixel for 3 by 3 elements");
  EXPECT_EQ(map.width, 1667);
  EXPECT_EQ(map.height, 1000);
  // One bad element is visible.
  std::vector<long double> values(5000, 1);
  values[4321] = NAN;
  map = llvm::cantFail(HeatMapOf(Make({1, 5000}, values)));
  Pixels pixels(map);
  EXPECT_EQ(pixels.At(4321 / 3, 0), "255,0,255");
  map = llvm::cantFail(HeatMapOf(Filled({100000})));
  EXPECT_EQ(map.layout, "axis 0 across, 317 elements per row");
  EXPECT_EQ(map.width, 634);
  EXPECT_EQ(map.height, 632);
  map = llvm::cantFail(HeatMapOf(Filled({40000, 16, 16})));
  EXPECT_LE(map.width, 2048);
  EXPECT_LE(map.height, 2048);
  EXPECT_NE(map.layout.find("the first "), std::string::npos) << map.layout;
  map = llvm::cantFail(HeatMapOf(Filled({2, 5000, 1})));
  EXPECT_LE(map.height, 2048);
}

TEST(HeatMapTest, WhatIsNoPictureIsSaid) {
  EXPECT_EQ(TextOf(HeatMapOf(Filled({0, 3})).takeError()),
            "the tensor has no elements: its shape is [0,3]");
  EXPECT_EQ(TextOf(HeatMapOf(Filled({2, 3}), ImageAxes{0, 2}).takeError()),
            "axis 2 is out of range for shape [2,3]");
  EXPECT_EQ(TextOf(HeatMapOf(Filled({2, 3}), ImageAxes{1, -1}).takeError()),
            "axis 1 cannot go both down and across");
  EXPECT_FALSE(static_cast<bool>(
      HeatMapOf(llvm::cantFail(Tensor::FromLiteral(Literal::MakeStrings({1}, {"a"}))))));
  EXPECT_EQ(llvm::cantFail(ParseImageAxes(" 1, -2")).columns, -2);
  for (const char* text : {"", "1", "a,b", "1,2,3"})
    EXPECT_FALSE(static_cast<bool>(ParseImageAxes(text))) << text;
}

}  // namespace
}  // namespace grapnel
