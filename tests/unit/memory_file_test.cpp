// In-memory files, read and written by name while they exist.
#include "lib/support/memory_file.h"

#include <gtest/gtest.h>

#include "lib/support/file.h"

namespace grapnel {
namespace {

std::string TextOfFile(const std::string& name) {
  auto file = FileBytes::Open(name);
  return file ? (*file)->bytes().str() : TextOf(file.takeError());
}

TEST(MemoryFile, IsReadByItsName) {
  auto file = llvm::cantFail(MemoryFile::Create("<a file>"));
  EXPECT_TRUE(file->empty());
  llvm::cantFail(file->Write("two "));
  llvm::cantFail(file->Write("words"));
  EXPECT_EQ(TextOfFile("<a file>"), "two words");
  EXPECT_EQ(TextOfFile("<a file>"), "two words");
}

TEST(MemoryFile, IsWrittenByItsName) {
  auto file = llvm::cantFail(MemoryFile::Create("<an output>"));
  llvm::cantFail(WriteFile("<an output>", "bytes"));
  EXPECT_EQ(TextOfFile("<an output>"), "bytes");
  EXPECT_FALSE(FileExists("<an output>"));
}

TEST(MemoryFile, WhatWasOpenedOutlivesIt) {
  auto file = llvm::cantFail(MemoryFile::Create("<a large file>"));
  std::string bytes(1 << 20, 'x');  // large enough to be mapped
  llvm::cantFail(file->Write(bytes));
  auto opened = llvm::cantFail(FileBytes::Open("<a large file>"));
  file.reset();
  EXPECT_EQ(opened->bytes(), bytes);
  EXPECT_FALSE(opened->CheckWhole());
  EXPECT_EQ(TextOfFile("<a large file>"), "<a large file>: cannot open: No such file or directory");
}

}  // namespace
}  // namespace grapnel
