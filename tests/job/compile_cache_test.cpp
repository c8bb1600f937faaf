#include "lib/job/compile_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "lib/support/file.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

TEST(CompileCache, ReadsTheInputsOfARule) {
  EXPECT_EQ(InputsOfRule("x.so: a.cpp \\\n  my\\ header.h b$$c.h \\\n /usr/d.h\n"),
            (std::vector<std::string>{"a.cpp", "my header.h", "b$c.h", "/usr/d.h"}));
  EXPECT_TRUE(InputsOfRule("").empty());
  EXPECT_TRUE(InputsOfRule("x.so:").empty());
}

TEST(CompileCache, KeepsTheFilesThatWereUsedLast) {
  llvm::SmallString<128> made;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("cache", made));
  std::string folder = made.str().str();
  for (int i = 0; i < 4; ++i) {
    std::string path = JoinPath(folder, std::to_string(i));
    llvm::cantFail(WriteFile(path, std::string(100, 'x')));
    timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};  // accessed, changed
    utimensat(AT_FDCWD, path.c_str(), times, 0);
  }
  CompileCache::Trim(folder, 400);
  EXPECT_EQ(llvm::cantFail(ListDirectory(folder)).size(), 4u);
  CompileCache::Trim(folder, 250);
  EXPECT_EQ(llvm::cantFail(ListDirectory(folder)), (std::vector<std::string>{"2", "3"}));
  llvm::sys::fs::remove_directories(folder);
}

}  // namespace
}  // namespace grapnel
