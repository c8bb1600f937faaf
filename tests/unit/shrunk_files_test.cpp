#include "lib/support/shrunk_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <numeric>

#include "lib/support/file.h"

namespace grapnel {
namespace {

// Without the handler the process would end here.
TEST(ShrunkFiles, ReadAsZeros) {
  std::string path = testing::TempDir() + "shrunk_" + std::to_string(getpid());
  constexpr size_t kSize = 100000;
  llvm::cantFail(WriteFile(path, std::string(kSize, 'x')));
  auto file = llvm::cantFail(FileBytes::Open(path));
  ReadZerosBehindFileEnds();
  ASSERT_EQ(truncate(path.c_str(), 10), 0);
  llvm::StringRef bytes = file->bytes();
  EXPECT_EQ(bytes[0], 'x');
  EXPECT_EQ(bytes[kSize - 1], '\0');
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0), 10 * 'x');
  unlink(path.c_str());
}

}  // namespace
}  // namespace grapnel
