#include "lib/io/value.h"

#include "lib/support/npy.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

TEST(NpyLiteral, EveryDtypeComesBack) {
  TempFolder folder;
  for (int number = 1; number <= 33; ++number) {
    DataType dtype = static_cast<DataType>(number);
    size_t size = DataTypeSize(dtype);
    if (size == 0) continue;
    std::string bytes;
    for (size_t i = 0; i < 6 * size; ++i)
      bytes.push_back(static_cast<char>(dtype == proto::DT_BOOL ? i % 2 : i));
    Literal literal = Literal::Make(dtype, {2, 3}, bytes);
    std::string path = folder / (DataTypeName(dtype).str() + ".npy");
    ASSERT_FALSE(Failed(SaveNpyLiteral(path, literal)));
    Literal back = Get(LoadNpyLiteral(path, dtype));
    EXPECT_TRUE(back.SameValue(literal)) << DataTypeName(dtype).str();
  }
}

TEST(NpyLiteral, SplatsScalarsAndEmptyOnes) {
  TempFolder folder;
  Literal splat = Literal::Make(proto::DT_FLOAT, {3, 2}, llvm::StringRef("\0\0\x80\x3f", 4));
  Literal scalar = Literal::Scalar(proto::DT_INT64, -5);
  Literal empty = Literal::Make(proto::DT_DOUBLE, {0, 4}, "");
  for (const Literal& literal : {splat, scalar, empty}) {
    ASSERT_FALSE(Failed(SaveNpyLiteral(folder / "x.npy", literal)));
    EXPECT_TRUE(Get(LoadNpyLiteral(folder / "x.npy")).SameValue(literal));
  }
}

TEST(NpyLiteral, Strings) {
  TempFolder folder;
  Literal strings = Literal::MakeStrings({2, 2}, {"a", "", "longer", std::string("\0b", 2)});
  ASSERT_FALSE(Failed(SaveNpyLiteral(folder / "x.npy", strings)));
  EXPECT_EQ(Get(ReadNpy(folder / "x.npy")).type, "S6");
  EXPECT_TRUE(Get(LoadNpyLiteral(folder / "x.npy")).SameValue(strings));
  ASSERT_FALSE(Failed(WriteNpy(folder / "u.npy", "U2", {2},
                               llvm::StringRef("\xe9\0\0\0\0\0\0\0\x11\xf6\1\0x\0\0\0", 16))));
  Literal text = Get(LoadNpyLiteral(folder / "u.npy"));
  EXPECT_EQ(text.strings(), (std::vector<std::string>{"\xc3\xa9", "\xf0\x9f\x98\x91x"}));
  ASSERT_FALSE(Failed(SaveNpyLiteral(folder / "e.npy", Literal::MakeStrings({0}, {}))));
  EXPECT_EQ(Get(LoadNpyLiteral(folder / "e.npy")).num_elements(), 0);
}

TEST(NpyLiteral, ExpectedDtypeDecides) {
  TempFolder folder;
  ASSERT_FALSE(Failed(WriteNpy(folder / "v2.npy", "V2", {1}, "\x80\x3f")));
  ASSERT_FALSE(Failed(WriteNpy(folder / "u2.npy", "u2", {1}, "\x80\x3f")));
  ASSERT_FALSE(Failed(WriteNpy(folder / "v1.npy", "V1", {1}, "x")));
  ASSERT_FALSE(Failed(WriteNpy(folder / "i8.npy", "i8", {1}, "12345678")));
  EXPECT_EQ(Get(LoadNpyLiteral(folder / "v2.npy")).AsDouble(0), 1.0);
  EXPECT_EQ(Get(LoadNpyLiteral(folder / "u2.npy")).dtype(), proto::DT_UINT16);
  EXPECT_EQ(Get(LoadNpyLiteral(folder / "u2.npy", proto::DT_BFLOAT16)).AsDouble(0), 1.0);
  EXPECT_EQ(Get(LoadNpyLiteral(folder / "v1.npy", proto::DT_FLOAT8_E5M2)).dtype(),
            proto::DT_FLOAT8_E5M2);
  EXPECT_EQ(Get(LoadNpyLiteral(folder / "i8.npy", proto::DT_INT64_REF)).dtype(), proto::DT_INT64);
  EXPECT_EQ(ErrorOf(LoadNpyLiteral(folder / "i8.npy", proto::DT_FLOAT)),
            folder / "i8.npy: holds int64, float was expected");
  EXPECT_EQ(ErrorOf(LoadNpyLiteral(folder / "v1.npy")),
            folder / "v1.npy: holds V1, a dtype that TensorFlow has was expected");
  EXPECT_EQ(ErrorOf(LoadNpyLiteral(folder / "i8.npy", proto::DT_STRING)),
            folder / "i8.npy: holds int64, string was expected");
  EXPECT_EQ(ErrorOf(LoadNpyLiteral(folder / "none.npy")).find(folder / "none.npy: cannot open"),
            0u);
}

}  // namespace
}  // namespace grapnel
