// HDF5 as Keras writes it, zip archives that contain it, and damaged files of both.
#include "lib/io/hdf5.h"

#include "lib/io/keras_weights.h"
#include "lib/support/zip.h"
#include "tests/io/testing.h"

namespace grapnel {
namespace {

std::shared_ptr<const FileBytes> Load(const char* name) {
  return Get(FileBytes::Open(std::string("testdata/keras/") + name));
}

TEST(Hdf5, ReadsGroupsArraysAndNames) {
  auto file = Load("trained.weights.h5");
  Hdf5File hdf5 = Get(Hdf5File::Open(file->bytes(), file));
  EXPECT_EQ(hdf5.groups().at("layers/block/first/vars").attributes.at("name"), "dense_6");
  EXPECT_EQ(hdf5.groups().at("vars").attributes.at("name"), "sequential_1");
  const Hdf5File::Array& kernel = hdf5.arrays().at("layers/dense/vars/0");
  EXPECT_EQ(kernel.dtype, proto::DT_FLOAT);
  EXPECT_EQ(llvm::ArrayRef<int64_t>(kernel.dims), llvm::ArrayRef<int64_t>({3, 4}));
  // The beginning of 1 + numpy.random.RandomState(2).rand(3, 4).
  Literal value = Get(hdf5.Read("layers/dense/vars/0"));
  float first;
  std::memcpy(&first, value.bytes().data(), sizeof first);
  EXPECT_FLOAT_EQ(first, 1.4359949f);
  EXPECT_EQ(hdf5.arrays().at("optimizer/vars/0").dtype, proto::DT_INT64);
  EXPECT_EQ(ErrorOf(hdf5.Read("layers/dense/vars/2")), "has no array 'layers/dense/vars/2'");
}

TEST(Hdf5, CutAnywhereItIsAnErrorOrWhatIsThere) {
  auto file = Load("trained.weights.h5");
  for (size_t size = 0; size < file->bytes().size(); size += 13) {
    auto cut = FileBytes::FromString(file->bytes().take_front(size).str(), "cut.h5");
    auto hdf5 = Hdf5File::Open(cut->bytes(), cut);
    if (!hdf5) {
      EXPECT_NE(TextOf(hdf5.takeError()), "");
      continue;
    }
    for (const auto& [path, array] : hdf5->arrays()) {
      auto value = hdf5->Read(path);
      if (!value) EXPECT_NE(TextOf(value.takeError()).find("is cut off"), std::string::npos);
    }
  }
}

// Changes each byte in turn, which gives only errors or other values.
TEST(Hdf5, AnyByteMayBeWrong) {
  std::string bytes = Load("trained.weights.h5")->bytes().str();
  for (size_t i = 0; i < bytes.size(); i += 3) {
    for (char change : {'\x01', '\x80', '\xff'}) {
      bytes[i] ^= change;
      auto file = FileBytes::FromString(bytes, "x.h5");
      auto hdf5 = Hdf5File::Open(file->bytes(), file);
      if (!hdf5) llvm::consumeError(hdf5.takeError());
      bytes[i] ^= change;
    }
  }
}

TEST(Zip, GivesFilesThatAreStoredOrPacked) {
  auto plain = Load("trained.keras"), packed = Load("deflated.keras");
  ZipEntry stored = Get(ReadZipEntry(plain, "model.weights.h5"));
  EXPECT_EQ(stored.file, plain);  // a slice of the archive
  EXPECT_EQ(Get(ReadZipEntry(packed, "model.weights.h5")).bytes, stored.bytes);
  EXPECT_EQ(ErrorOf(ReadZipEntry(plain, "weights")),
            "file of the zip archive 'weights' not found; did you mean 'model.weights.h5'?");
}

TEST(Zip, DamageIsAnError) {
  std::string bytes = Load("deflated.keras")->bytes().str();
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= '\xff';
    auto entry = ReadZipEntry(FileBytes::FromString(bytes, "x.keras"), "model.weights.h5");
    if (!entry) EXPECT_NE(TextOf(entry.takeError()), "");
    auto cut = ReadZipEntry(FileBytes::FromString(bytes.substr(0, i), "x.keras"), "config.json");
    EXPECT_NE(ErrorOf(std::move(cut)), "no error");
    bytes[i] ^= '\xff';
  }
}

TEST(KerasWeights, SaysWhatAFileIsNot) {
  TempFolder folder;
  EXPECT_FALSE(IsKerasFile(folder.Write("x.index", "hello")));
  EXPECT_FALSE(IsKerasFile(folder / "not_there"));
  EXPECT_TRUE(IsKerasFile("testdata/keras/trained.keras"));
  std::string path = folder.Write("x.h5", "\x89HDF\r\n\x1a\n");
  EXPECT_EQ(ErrorOf(KerasWeights::Open(path)), "ends in its first block");
}

}  // namespace
}  // namespace grapnel
