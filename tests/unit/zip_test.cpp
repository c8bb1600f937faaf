// Paths that lead into zip archives, and archives that are damaged.
#include "lib/support/zip.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "lib/support/file.h"
#include "tests/unit/zip_files.h"

namespace grapnel {
namespace {

class ZipTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = testing::TempDir() + "zip_" + name + "_" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
    zip_ = folder_ + "/x.zip";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Put(llvm::StringRef bytes) const {
    std::ofstream(zip_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  // Writes the archive, with one byte changed in its last directory entry.
  void PutChanged(std::string bytes, size_t at, char value) const {
    bytes[bytes.rfind(kEntryMark.str()) + at] = value;
    Put(bytes);
  }
  std::string Read(const std::string& member) const {
    auto file = FileBytes::Open(zip_ + "/" + member);
    return file ? (*file)->bytes().str() : "error: " + TextOf(file.takeError());
  }
  // Returns the error of opening a member, without the name of the archive that it starts with.
  std::string ErrorOf(const std::string& member) const {
    auto file = FileBytes::Open(zip_ + "/" + member);
    if (file) return "no error";
    std::string text = TextOf(file.takeError());
    llvm::StringRef rest = text;
    return rest.consume_front(zip_ + ": ") ? rest.str() : "without its name: " + text;
  }

  std::string folder_, zip_;
};

const std::string kNumbers("\0\xff\x80 trailing zeros \0\0", 21);

TEST_F(ZipTest, PathsLeadToMembers) {
  Put(MakeZip({{"a.npy", kNumbers},
               {"assets/words.txt", "one two", true},
               {"assets/", ""},
               {"empty", ""},
               {"empty_deflated", "", true}}));
  EXPECT_EQ(Read("a.npy"), kNumbers);
  EXPECT_EQ(Read("assets/words.txt"), "one two");
  EXPECT_EQ(Read("./assets//words.txt"), "one two");
  EXPECT_EQ(Read("empty"), "");
  EXPECT_EQ(Read("empty_deflated"), "");
  for (const char* name : {"a.npy", "assets/words.txt"}) {
    EXPECT_TRUE(FileExists(zip_ + "/" + name));
    EXPECT_EQ(llvm::cantFail(FileBytes::Open(zip_ + "/" + name))->name(), zip_ + "/" + name);
  }
  EXPECT_TRUE(FileExists(zip_ + "/"));
  EXPECT_TRUE(IsZip(Read("")));
  for (const char* name : {"A.npy", "assets", "assets/", "words.txt", "a.npy/b", "../x.zip"})
    EXPECT_FALSE(FileExists(zip_ + "/" + name)) << name;
  EXPECT_FALSE(IsDirectory(zip_));
  EXPECT_EQ(llvm::cantFail(ListZip(MakeZip({{"b", ""}, {"a/", ""}, {"a/c", ""}}))),
            (std::vector<std::string>{"a/c", "b"}));
  std::filesystem::create_symlink(zip_, folder_ + "/link");
  EXPECT_TRUE(FileExists(folder_ + "/link/a.npy"));
}

TEST_F(ZipTest, ALargeMemberIsAPartOfTheMappedArchive) {
  std::string large;
  while (large.size() < 1000000) large += std::to_string(large.size()) + ",";
  Put(MakeZip({{"a", "x"}, {"large", large}, {"packed", large, true}}));
  auto stored = llvm::cantFail(FileBytes::Open(zip_ + "/large"));
  EXPECT_EQ(stored->bytes(), large);
  stored->ReleasePages(stored->bytes());
  EXPECT_EQ(stored->bytes(), large);
  EXPECT_FALSE(stored->CheckWhole());
  EXPECT_EQ(Read("packed"), large);
  EXPECT_EQ(Read("a"), "x");
  ASSERT_EQ(truncate(zip_.c_str(), 1000), 0);
  EXPECT_NE(TextOf(stored->CheckWhole()).find("was cut short"), std::string::npos);
}

TEST_F(ZipTest, MissingMembersAreNamed) {
  Put(MakeZip({{"feed_0.npy", "x"}, {"graph.pb", "y"}}));
  EXPECT_EQ(ErrorOf("feed_1.npy"),
            "file of the zip archive 'feed_1.npy' not found; did you mean 'feed_0.npy'?");
  EXPECT_EQ(ErrorOf("../feed_0.npy").find("file of the zip archive '../feed_0.npy' not found"), 0u);
}

TEST_F(ZipTest, OtherFilesAndFoldersStayWhatTheyAre) {
  Put("hello");
  EXPECT_EQ(ErrorOf("a"), "without its name: " + zip_ + "/a: cannot open: Not a directory");
  EXPECT_FALSE(FileExists(zip_ + "/a"));
  std::filesystem::remove(zip_);
  EXPECT_EQ(ErrorOf("a"),
            "without its name: " + zip_ + "/a: cannot open: No such file or directory");
  std::filesystem::create_directory(zip_);
  std::ofstream(zip_ + "/a") << "in a folder";
  EXPECT_EQ(Read("a"), "in a folder");
  EXPECT_TRUE(FileExists(zip_ + "/a"));
  EXPECT_FALSE(FileExists(zip_ + "/b"));
}

TEST_F(ZipTest, CutOffArchivesAreErrors) {
  std::string whole = MakeZip({{"a", "hello"}, {"b", std::string(1000, 'b'), true}});
  for (size_t size = 4; size < whole.size(); ++size) {
    Put(whole.substr(0, size));
    EXPECT_EQ(ErrorOf("a"), "the zip archive is cut off: it has no directory") << size;
    EXPECT_FALSE(FileExists(zip_ + "/a"));
  }
  // The end is there, but bytes before it are missing.
  Put(whole.substr(0, 40) + whole.substr(60));
  EXPECT_NE(ErrorOf("a"), "no error");
}

TEST_F(ZipTest, WrongChecksumsAreErrors) {
  for (bool is_deflated : {false, true}) {
    std::string bytes = MakeZip({{"a", "hello hello", is_deflated}});
    for (size_t i = 31; i < bytes.rfind(kEntryMark.str()); ++i) {
      std::string damaged = bytes;
      damaged[i] ^= 1;
      Put(damaged);
      if (is_deflated && Read("a") == "hello hello") continue;  // an unused bit of the stream
      std::string error = ErrorOf("a");
      EXPECT_EQ(error.find("'a': "), 0u) << error;
      if (!is_deflated)
        EXPECT_EQ(error, "'a': is damaged: its checksum differs from the one in the archive");
    }
  }
}

TEST_F(ZipTest, UnsupportedMembersAreErrors) {
  std::string bytes = MakeZip({{"a", "hello", true}});
  PutChanged(bytes, kFlagsAt, 1);
  EXPECT_EQ(ErrorOf("a"), "'a': is encrypted");
  PutChanged(bytes, kMethodAt, 14);
  EXPECT_EQ(ErrorOf("a"),
            "'a': is compressed with zip method 14; 0 (stored) or 8 (deflated) was expected");
  PutChanged(bytes, kSizeAt, 6);
  EXPECT_EQ(ErrorOf("a"), "'a': does not expand to the size that the archive states");
  PutChanged(bytes, kSizeAt, 4);
  EXPECT_EQ(ErrorOf("a"), "'a': is damaged: its checksum differs from the one in the archive");
}

// The seconds it takes to read each of `count` files, all from one directory.
double SecondsToReadAll(int count) {
  std::vector<ZipFile> files;
  for (int i = 0; i < count; ++i) files.push_back({"feed_" + std::to_string(i) + ".npy", "x"});
  auto archive = FileBytes::FromString(MakeZip(files), "x.zip");
  auto began = std::chrono::steady_clock::now();
  ZipDirectory directory(archive->bytes());
  for (const ZipFile& file : files) {
    auto entry = directory.Read(archive, file.name);
    EXPECT_TRUE(entry && entry->bytes == "x") << file.name;
    if (!entry) llvm::consumeError(entry.takeError());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

TEST_F(ZipTest, ManyMembersAreReadInLinearTime) {
  constexpr int kFew = 2000, kTimes = 16;
  double few = std::min(SecondsToReadAll(kFew), SecondsToReadAll(kFew));
  double many = SecondsToReadAll(kFew * kTimes);
  EXPECT_LT(many,
            few * kTimes * 5);  // a search of the whole directory for each would take 16 times
}

TEST_F(ZipTest, ADamagedDirectoryKnowsTheFilesBeforeTheDamage) {
  std::string bytes = MakeZip({{"a", "1"}, {"b", "2"}});
  bytes[bytes.rfind(kEntryMark.str())] = 'Q';
  Put(bytes);
  EXPECT_EQ(Read("a"), "1");
  EXPECT_EQ(ErrorOf("b"), "the directory of the zip archive is damaged");
}

#if !__has_feature(address_sanitizer)
TEST_F(ZipTest, AMemberThatMemoryHasNoRoomForIsAnError) {
  Put(MakeZip({{"bomb", std::string(size_t{300} << 20, '\0'), true}, {"small", "x"}}));
  rlimit before;
  getrlimit(RLIMIT_AS, &before);
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages;
  rlimit limit = {pages * sysconf(_SC_PAGESIZE) + (size_t{500} << 20), before.rlim_max};
  setrlimit(RLIMIT_AS, &limit);
  std::string error = ErrorOf("bomb"), small = Read("small");
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(error.find("'bomb': expands to more than 2"), 0u) << error;
  EXPECT_NE(error.find("expand it first, with unzip"), std::string::npos) << error;
  EXPECT_EQ(small, "x");
}
#endif

}  // namespace
}  // namespace grapnel
