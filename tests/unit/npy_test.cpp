#include "lib/support/npy.h"

#include <cstring>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

// A file of the given version, with `header` as its dictionary.
std::string File(int version, std::string header, const std::string& data) {
  header += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += static_cast<char>(header.size() >> 8 * i & 0xFF);
  return bytes + header + data;
}

Expected<NpyArray> Parse(const std::string& bytes) {
  return ParseNpy(FileBytes::FromString(bytes, "x.npy"));
}

NpyArray Good(const std::string& bytes) {
  auto array = Parse(bytes);
  if (array) return *array;
  ADD_FAILURE() << TextOf(array.takeError());
  return {};
}

std::string Bad(const std::string& bytes) {
  auto array = Parse(bytes);
  return array ? "no error" : TextOf(array.takeError());
}

TEST(Npy, Versions) {
  for (int version : {1, 2, 3}) {
    NpyArray array =
        Good(File(version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }",
                  std::string("\1\0\2\0", 4)));
    EXPECT_EQ(array.type, "i2");
    EXPECT_EQ(array.dims, (std::vector<int64_t>{2, 1}));
    EXPECT_EQ(array.bytes, llvm::StringRef("\1\0\2\0", 4));
    // Nothing is copied if the bytes need no change.
    EXPECT_GE(array.bytes.data(), array.file->bytes().data());
    EXPECT_EQ(array.bytes.end(), array.file->bytes().end());
  }
  EXPECT_EQ(Bad(File(4, "{}", "")), "x.npy: has .npy version 4.0, 1 to 3 were expected");
}

TEST(Npy, HeadersAsOthersWriteThem) {
  // Any order of keys, double quotes, no trailing comma, Python 2's long integers, scalars.
  NpyArray array = Good(File(1, R"({"shape":(3L,),"descr":"|u1","fortran_order":False})", "abc"));
  EXPECT_EQ(array.dims, (std::vector<int64_t>{3}));
  EXPECT_EQ(array.bytes, "abc");
  array = Good(File(1, "{'descr': '=f8', 'fortran_order': True, 'shape': (), }", "12345678"));
  EXPECT_TRUE(array.dims.empty());
  EXPECT_EQ(array.bytes, "12345678");
  array = Good(File(
      1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807, 4), }", ""));
  EXPECT_EQ(array.bytes.size(), 0u);
}

TEST(Npy, FortranOrderIsTransposed) {
  // Column by column: 3 x 2 x 1, element "rc".
  NpyArray array = Good(
      File(1, "{'descr': '|S2', 'fortran_order': True, 'shape': (3, 2, 1), }", "001020011121"));
  EXPECT_EQ(array.bytes, "000110112021");
}

TEST(Npy, BigEndianIsSwapped) {
  EXPECT_EQ(
      Good(File(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", "abcdefgh")).bytes,
      "dcbahgfe");
  EXPECT_EQ(
      Good(File(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (), }", "abcdefgh")).bytes,
      "dcbahgfe");
  EXPECT_EQ(
      Good(File(1, "{'descr': '>U2', 'fortran_order': False, 'shape': (), }", "abcdefgh")).bytes,
      "dcbahgfe");
  EXPECT_EQ(
      Good(File(1, "{'descr': '>S4', 'fortran_order': False, 'shape': (2,), }", "abcdefgh")).bytes,
      "abcdefgh");
  NpyArray both =
      Good(File(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }", "aAbBcCdD"));
  EXPECT_EQ(both.bytes, "AaCcBbDd");
}

TEST(Npy, HostileFiles) {
  EXPECT_EQ(Bad(""), "x.npy: is empty, an .npy file was expected");
  EXPECT_EQ(Bad("hello"), "x.npy: is not an .npy file");
  const std::string good =
      File(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "12345678");
  for (size_t size = 0; size < good.size(); ++size) {
    std::string error = Bad(good.substr(0, size));
    EXPECT_NE(error, "no error") << size;
  }
  EXPECT_EQ(Bad(good.substr(0, good.size() - 1)),
            "x.npy: is cut off: its shape needs 8 bytes of data, and there are 7");
  auto shape = [](const std::string& text) {
    return Bad(
        File(1, "{'descr': '<f4', 'fortran_order': False, 'shape': " + text + ", }", "1234"));
  };
  EXPECT_EQ(shape("(4611686018427387904, 4)"),
            "x.npy: is cut off: its shape needs more than 2^63 bytes of data, and there are 4");
  EXPECT_EQ(shape("(-1,)"), "x.npy: its .npy header cannot be read: a dimension must be a number");
  EXPECT_EQ(shape("(99999999999999999999,)"),
            "x.npy: its .npy header cannot be read: a dimension must be a number");
  EXPECT_EQ(shape("(1 1)"), "x.npy: its .npy header cannot be read: a comma was expected");
  auto descr = [](const std::string& text) {
    return Bad(
        File(1, "{'descr': " + text + ", 'fortran_order': False, 'shape': (1,), }", "12345678"));
  };
  EXPECT_EQ(descr("'|'"), "x.npy: has dtype '|', which cannot be read");
  for (const char* objects : {"'|O'", "'|O8'"})
    EXPECT_EQ(descr(objects),
              "x.npy: holds pickled Python objects, numbers or strings were expected");
  EXPECT_EQ(
      descr("[('a', '<f4')]"),
      "x.npy: has a structured dtype, or one that is not a string: one plain type was expected");
  EXPECT_EQ(descr("'<M8'"), "x.npy: has dtype '<M8', which has no TensorFlow counterpart");
  EXPECT_EQ(descr("'<f3'"), "x.npy: has dtype '<f3', which has no TensorFlow counterpart");
  EXPECT_EQ(descr("'|S0'"), "x.npy: has dtype '|S0', whose elements have no bytes");
  EXPECT_EQ(descr("'|S4294967295'"),
            "x.npy: is cut off: its shape needs 4294967295 bytes of data, and there are 8");
}

TEST(Npy, WritesWhatItReads) {
  std::string path = testing::TempDir() + "/grapnel_npy_test.npy";
  for (const char* type : {"f4", "i8", "b1", "S3", "V2", "c16"}) {
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {4}, {2, 3}}) {
      int64_t count = 1;
      for (int64_t dim : dims) count *= dim;
      std::string bytes(count * std::atoi(type + 1), 'x');
      Error error = WriteNpy(path, type, dims, bytes);
      ASSERT_FALSE(static_cast<bool>(error));
      auto array = ReadNpy(path);
      ASSERT_TRUE(static_cast<bool>(array));
      EXPECT_EQ(array->type, type);
      EXPECT_EQ(array->dims, dims);
      EXPECT_EQ(array->bytes, bytes);
      // Aligns values in a mapped file, like NumPy.
      EXPECT_EQ((array->bytes.data() - array->file->bytes().data()) % 64, 0);
    }
  }
  std::remove(path.c_str());
  EXPECT_NE(
      TextOf(WriteNpy("/nowhere/x.npy", "f4", {}, "1234")).find("/nowhere/x.npy: cannot write"),
      std::string::npos);
}

TEST(Npy, RealFile) {
  auto array = ReadNpy("testdata/harmonic_mean/feed_0.npy");
  ASSERT_TRUE(static_cast<bool>(array)) << TextOf(array.takeError());
  EXPECT_EQ(array->type, "f4");
}

}  // namespace
}  // namespace grapnel
