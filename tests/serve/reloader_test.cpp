#include "lib/serve/routes/reloader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace grapnel {
namespace {

class FileWatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "watched.XXXXXX";
    folder_ = mkdtemp(name.data());
    Write("a.pb", "one");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
  }
  std::string folder_;
};

TEST_F(FileWatcherTest, ChangeIsToldOnceAndOnlyWhenItIsOver) {
  FileWatcher watcher({Path("a.pb")});
  EXPECT_FALSE(watcher.Changed());
  Write("a.pb", "three");
  EXPECT_FALSE(watcher.Changed());  // it may be half written
  Write("a.pb", "threefour");
  EXPECT_FALSE(watcher.Changed());
  EXPECT_TRUE(watcher.Changed());
  EXPECT_FALSE(watcher.Changed());
}

TEST_F(FileWatcherTest, FilesOfAFolderCount) {
  FileWatcher watcher({folder_});
  std::filesystem::create_directory(Path("deep"));
  Write("deep/new.pb", "x");
  watcher.Changed();
  EXPECT_TRUE(watcher.Changed());
  std::filesystem::remove(Path("deep/new.pb"));
  watcher.Changed();
  EXPECT_TRUE(watcher.Changed());
}

TEST_F(FileWatcherTest, FileThatGoesAndComesBack) {
  FileWatcher watcher({Path("a.pb")});
  std::filesystem::remove(Path("a.pb"));
  watcher.Changed();
  EXPECT_TRUE(watcher.Changed());
  Write("a.pb", "again, and longer");
  watcher.Changed();
  EXPECT_TRUE(watcher.Changed());
}

}  // namespace
}  // namespace grapnel
