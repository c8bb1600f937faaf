// Images and audio in files: damaged, truncated, or with false sizes.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

Tensor Pixels(int64_t height, int64_t width, int64_t channels) {
  return Iota<uint8_t>({height, width, channels});
}
Tensor Text(std::string text) { return Scalar<std::string>(std::move(text)); }

std::string Encoded(const char* op, Tensor image) {
  return Values<std::string>(OpRun(op).In(std::move(image)).Out({proto::DT_STRING}).One())[0];
}
OpRun Decoding(const char* op, std::string contents) {
  return OpRun(op).In(Text(std::move(contents))).Out({proto::DT_UINT8});
}

// A two-color image with three frames.
std::string Gif() {
  std::string gif("GIF89a\x02\0\x02\0\x80\0\0\x01\x02\x03\x04\x05\x06", 19);
  for (int i = 0; i < 3; ++i) gif += std::string(",\0\0\0\0\x02\0\x02\0\0\x02\x02\x84\x51\0", 15);
  return gif + ";";
}

std::string Wav() {
  return Values<std::string>(OpRun("EncodeWav")
                                 .In(Floats({4, 2}, {0, 1, -1, .5, 2, -2, 0, .25}))
                                 .In(Scalar(8000))
                                 .Out({proto::DT_STRING})
                                 .One())[0];
}

TEST(KernelDecodeImage, DamagedAnywhereIsNoCrash) {
  std::string files[] = {Encoded("EncodeJpeg", Pixels(9, 11, 3)),
                         Encoded("EncodePng", Pixels(5, 4, 3)), Gif()};
  for (const std::string& file : files) {
    EXPECT_EQ(Decoding("DecodeImage", file).ErrorText(), "no error");
    for (size_t size = 0; size < file.size() - 1; ++size)
      EXPECT_NE(Decoding("DecodeImage", file.substr(0, size)).ErrorText(), "no error") << size;
    for (size_t i = 0; i < file.size(); ++i) {
      for (char mask : {'\x01', '\x80', '\xff'}) {
        std::string damaged = file;
        damaged[i] ^= mask;
        llvm::consumeError(Decoding("DecodeImage", damaged).Try().takeError());
      }
    }
  }
}

// A single pixel with bytes 1, 2, 3, ...
std::string Bmp(int depth) {
  std::string bmp = "BM" + std::string(52, '\0') + std::string("\1\2\3\4").substr(0, depth);
  bmp[10] = 54;
  bmp[18] = bmp[22] = 1;
  bmp[28] = static_cast<char>(8 * depth);
  return bmp + std::string(4 - depth, '\0');
}

TEST(KernelDecodeImage, ChannelsOfABmp) {
  using Bytes = std::vector<uint8_t>;
  auto pixel = [](int depth, int channels) {
    return Values<uint8_t>(
        Decoding("DecodeBmp", Bmp(depth)).Attr("channels", attr::Int(channels)).One());
  };
  EXPECT_EQ(pixel(1, 0), Bytes({1}));
  EXPECT_EQ(pixel(1, 3), Bytes({1, 1, 1}));
  EXPECT_EQ(pixel(1, 4), Bytes({1, 1, 1, 255}));
  EXPECT_EQ(pixel(3, 0), Bytes({3, 2, 1}));
  EXPECT_EQ(pixel(3, 4), Bytes({3, 2, 1, 255}));
  EXPECT_EQ(pixel(4, 3), Bytes({3, 2, 1}));
  EXPECT_EQ(pixel(4, 4), Bytes({3, 2, 1, 4}));
  EXPECT_EQ(Decoding("DecodeBmp", Bmp(1)).Attr("channels", attr::Int(1)).ErrorText(),
            "channels attribute 1 is not supported for BMP");
  EXPECT_EQ(Decoding("DecodeBmp", Bmp(3) + "x").ErrorText(),
            "a BMP of 59 bytes has 1 x 1 pixels that start at byte 54: rows of 4 bytes, and no "
            "bytes after them, were expected");
}

TEST(KernelDecodeImage, ClaimsMoreThanItHolds) {
  std::string gif = Gif();
  gif.replace(6, 4, "\xff\xff\xff\xff");
  EXPECT_EQ(Decoding("DecodeGif", gif).ErrorText(),
            "65 bytes cannot hold 3 images of 65535 x 65535 pixels");
  std::string bmp = "BM" + std::string(52, '\0');
  bmp[10] = 54;
  bmp[28] = 24;
  bmp.replace(18, 8, "\xff\xff\xff\x7f\xff\xff\xff\x7f");
  EXPECT_EQ(Decoding("DecodeBmp", bmp).ErrorText(),
            "a BMP of 54 bytes has 2147483647 x 2147483647 pixels that start at byte 54: rows of "
            "6442450944 bytes, and no bytes after them, were expected");
  std::string jpeg = Encoded("EncodeJpeg", Pixels(8, 8, 3));
  size_t frame = jpeg.find("\xff\xc0");
  jpeg.replace(frame + 5, 4, "\xff\x00\xff\x00", 4);
  EXPECT_NE(Decoding("DecodeJpeg", jpeg).ErrorText().find("cannot hold"), std::string::npos);
}

// TensorFlow makes the image as large as the largest frame.
TEST(KernelDecodeImage, GifOfFramesSmallerThanItsScreen) {
  std::string gif = Gif();
  gif.replace(6, 4, std::string("\x09\0\x05\0", 4));
  EXPECT_EQ(Decoding("DecodeGif", gif).One().num_elements(), 3 * 2 * 2 * 3);
}

TEST(KernelDecodeImage, Errors) {
  std::string png = Encoded("EncodePng", Pixels(2, 2, 1));
  std::string jpeg = Encoded("EncodeJpeg", Pixels(2, 2, 1));
  EXPECT_EQ(Decoding("DecodeImage", "text").ErrorText(),
            "unknown image file format, one of JPEG, PNG, GIF, BMP required");
  EXPECT_EQ(Decoding("DecodeBmp", png).ErrorText(),
            "the data is not a BMP: use DecodeImage, which also reads JPEG, PNG and GIF");
  EXPECT_EQ(Decoding("DecodeJpeg", jpeg).Attr("channels", attr::Int(4)).ErrorText(),
            "channels attribute 4 is not supported for JPEG");
  EXPECT_EQ(Decoding("DecodeJpeg", jpeg).Attr("ratio", attr::Int(3)).ErrorText(),
            "ratio must be 1, 2, 4, or 8, got 3");
  EXPECT_EQ(Decoding("DecodeJpeg", Gif()).ErrorText(),
            "got 3 frames, but animated gifs can only be decoded by DecodeGif or DecodeImage");
  auto crop = [&](std::vector<int32_t> window) {
    return OpRun("DecodeAndCropJpeg")
        .In(Text(jpeg))
        .In(Vec<int32_t>(std::move(window)))
        .Out({proto::DT_UINT8})
        .ErrorText();
  };
  EXPECT_EQ(crop({0, 1, 2, 1}), "no error");
  EXPECT_EQ(crop({0, 1, 2, 2}), "crop window [0,1,2,2] is not inside of the image, 2 x 2");
  EXPECT_EQ(crop({0, INT32_MAX, 2, INT32_MAX}),
            "crop window [0,2147483647,2,2147483647] is not inside of the image, 2 x 2");
}

TEST(KernelWav, DamagedAnywhereIsNoCrash) {
  std::string wav = Wav();
  auto run = [](std::string contents) {
    return OpRun("DecodeWav").In(Text(std::move(contents))).Out({proto::DT_FLOAT, proto::DT_INT32});
  };
  std::string hasty = wav;
  ++hasty[28];
  EXPECT_EQ(run(hasty).ErrorText().find("bad bytes per second in WAV header"), 0u);
  EXPECT_EQ(Values<float>(run(wav).One()),
            (std::vector<float>{0, 32767.f / 32768, -1, .5, 32767.f / 32768, -1, 0, .25}));
  for (size_t size = 0; size < wav.size(); ++size)
    EXPECT_NE(run(wav.substr(0, size)).ErrorText(), "no error");
  for (size_t i = 0; i < wav.size(); ++i) {
    std::string damaged = wav;
    damaged[i] ^= '\xff';
    llvm::consumeError(run(damaged).Try().takeError());
  }
  EXPECT_EQ(run("RIFF").ErrorText(),
            "header mismatch: a WAV must start with RIFF, four bytes and WAVE");
}

}  // namespace
}  // namespace grapnel
