// Files that other processes truncate, and files that are replaced while others read them.
#include "lib/support/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "lib/support/memory.h"

namespace grapnel {
namespace {

constexpr size_t kLarge = 3000000;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* name = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = testing::TempDir() + name + "_" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  std::string Put(const std::string& name, const std::string& bytes) const {
    std::ofstream(Path(name), std::ios::binary) << bytes;
    return Path(name);
  }
  std::string Get(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Count() const { return llvm::cantFail(ListDirectory(folder_)).size(); }
  mode_t Mode(const std::string& name) const {
    struct stat info = {};
    stat(Path(name).c_str(), &info);
    return info.st_mode & 07777;
  }

  std::string folder_;
};

// A reader that has checked a file may crash on zeros that come without a SIGBUS.
TEST_F(FileTest, AFaultAfterAFileWasCutIsTheFiles) {
  constexpr int kTold = 7;
  auto end = [this](bool is_cut) {
    std::string path = Put("faulty", std::string(kLarge, 'x'));
    auto file = llvm::cantFail(FileBytes::Open(path));
    OnCutFile([](const char*) { std::_Exit(kTold); });
    if (is_cut && truncate(path.c_str(), 1) != 0) std::_Exit(1);
    std::raise(SIGSEGV);
  };
  EXPECT_EXIT(end(true), testing::ExitedWithCode(kTold), "");
  EXPECT_EXIT(
      end(false), [](int status) { return !WIFEXITED(status) || WEXITSTATUS(status) != kTold; },
      "");
}

TEST_F(FileTest, WhatWasLetGoIsReadAgain) {
  std::string bytes;
  while (bytes.size() < kLarge) bytes += std::to_string(bytes.size()) + ",";
  auto mapped = llvm::cantFail(FileBytes::Open(Put("large", bytes)));
  for (size_t from : {size_t{0}, size_t{1}, size_t{5000}}) {
    mapped->ReleasePages(mapped->bytes().drop_front(from));
    EXPECT_EQ(mapped->bytes(), bytes);
  }
  mapped->ReleasePages({});
  mapped->ReleasePages(mapped->bytes().slice(10, 20));
  EXPECT_EQ(mapped->bytes(), bytes);
  auto owned = FileBytes::FromString(bytes, "memory");
  owned->ReleasePages(owned->bytes());
  EXPECT_EQ(owned->bytes(), bytes);
}

// Without the handler the process would end here.
TEST_F(FileTest, CutShortIsAnErrorAndZeros) {
  std::string path = Put("cut", std::string(kLarge, 'x'));
  auto file = llvm::cantFail(FileBytes::Open(path));
  EXPECT_FALSE(file->CheckWhole());
  ASSERT_EQ(truncate(path.c_str(), 10), 0);
  llvm::StringRef bytes = file->bytes();
  EXPECT_EQ(bytes[0], 'x');
  EXPECT_EQ(bytes[kLarge - 1], '\0');
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), 0), 10 * 'x');
  std::string error = TextOf(file->CheckWhole());
  EXPECT_EQ(error, path +
                       ": was cut short while it was read: 10 of 3000000 bytes are left; try "
                       "again when it is complete");
  EXPECT_EQ(TextOf(CheckOpenFiles()), error);
  EXPECT_EQ(TextOf(WriteFile(Path("out"), "made of it")), error);
  EXPECT_FALSE(FileExists(Path("out")));
  file.reset();
  EXPECT_FALSE(CheckOpenFiles());
  EXPECT_EQ(TextOf(CheckClosedFiles()), error);
}

// The missing bytes are in the last remaining page: no fault reports them.
TEST_F(FileTest, CutShortByOneByte) {
  std::string path = Put("cut", std::string(kLarge, 'x'));
  auto file = llvm::cantFail(FileBytes::Open(path));
  ASSERT_EQ(truncate(path.c_str(), kLarge - 1), 0);
  EXPECT_TRUE(llvm::StringRef(TextOf(file->CheckWhole())).contains("was cut short"));
}

// The file has its old length again when checked, but the bytes read were different.
TEST_F(FileTest, CutShortForATime) {
  std::string path = Put("cut", std::string(kLarge, 'x'));
  auto file = llvm::cantFail(FileBytes::Open(path));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(file->bytes()[5000], '\0');
  ASSERT_EQ(truncate(path.c_str(), kLarge), 0);
  EXPECT_TRUE(
      llvm::StringRef(TextOf(file->CheckWhole())).contains("bytes disappeared while it was read"));
}

TEST_F(FileTest, ReplacedIsWhole) {
  std::string path = Put("whole", std::string(kLarge, 'x'));
  auto file = llvm::cantFail(FileBytes::Open(path));
  llvm::cantFail(WriteFile(path, "new"));
  EXPECT_FALSE(file->CheckWhole());
  EXPECT_EQ(file->bytes()[kLarge - 1], 'x');
}

TEST_F(FileTest, ManyMappingsAtATime) {
  std::string path = Put("many", std::string(kLarge, 'x'));
  std::vector<std::shared_ptr<const FileBytes>> files;
  files.reserve(200);
  for (int i = 0; i < 200; ++i) files.push_back(llvm::cantFail(FileBytes::Open(path)));
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  for (const auto& file : files) EXPECT_EQ(file->bytes()[kLarge / 2], '\0');
}

// A fault outside of mapped files ends the process, as it would without the handler.
TEST_F(FileTest, OthersFaultsStayTheirs) {
  auto file = llvm::cantFail(FileBytes::Open(Put("large", std::string(kLarge, 'x'))));
  llvm::cantFail(WriteFile(Put("older", "text"), "replaced"));  // which also installs signal
                                                                // handlers
  EXPECT_EXIT(
      {
        int fd = open(Put("other", std::string(kLarge, 'x')).c_str(), O_RDWR);
        void* other = mmap(nullptr, kLarge, PROT_READ, MAP_PRIVATE, fd, 0);
        ASSERT_EQ(ftruncate(fd, 0), 0);
        _exit(*static_cast<volatile char*>(other));
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(FileTest, ModeAndLinksStay) {
  Put("script", "old");
  std::filesystem::create_symlink("script", Path("link"));
  std::filesystem::create_symlink(folder_ + "/./link", Path("chain"));
  chmod(Path("script").c_str(), 0751);
  for (auto until : {AtomicFile::Until::kUnnamed, AtomicFile::Until::kNamed}) {
    auto file = llvm::cantFail(AtomicFile::Create(Path("chain"), until));
    file->os() << "new";
    EXPECT_EQ(Get("script"), "old");
    llvm::cantFail(file->Commit());
    EXPECT_EQ(Get("script"), "new");
    EXPECT_EQ(Mode("script"), 0751u);
    EXPECT_TRUE(std::filesystem::is_symlink(Path("chain")));
    EXPECT_TRUE(std::filesystem::is_symlink(Path("link")));
    EXPECT_EQ(Count(), 3u);
    Put("script", "old");
  }
}

TEST_F(FileTest, ANewFileHasTheModeThatUmaskLeaves) {
  mode_t before = umask(027);
  for (auto until : {AtomicFile::Until::kUnnamed, AtomicFile::Until::kNamed}) {
    llvm::cantFail(llvm::cantFail(AtomicFile::Create(Path("new"), until))->Commit());
    EXPECT_EQ(Mode("new"), 0640u);
    unlink(Path("new").c_str());
  }
  umask(before);
}

TEST_F(FileTest, ALinkThatLeadsNowhereNamesTheNewFile) {
  std::filesystem::create_symlink("new", Path("link"));
  llvm::cantFail(WriteFile(Path("link"), "text"));
  EXPECT_EQ(Get("new"), "text");
  std::filesystem::create_symlink("loop", Path("loop"));
  EXPECT_EQ(TextOf(WriteFile(Path("loop"), "")),
            Path("loop") + ": cannot write: Too many levels of symbolic links");
}

TEST_F(FileTest, WhatIsNotCommittedLeavesNothing) {
  Put("old", "old");
  for (auto until : {AtomicFile::Until::kUnnamed, AtomicFile::Until::kNamed}) {
    llvm::cantFail(AtomicFile::Create(Path("old"), until))->os() << std::string(kLarge, 'x');
    llvm::cantFail(AtomicFile::Create(Path("new"), until))->os() << std::string(kLarge, 'x');
  }
  EXPECT_EQ(Get("old"), "old");
  EXPECT_EQ(Count(), 1u);
}

// The leftovers of a process that is ended while it writes, by any signal that allows cleanup.
TEST_F(FileTest, SignalsLeaveNothing) {
  for (auto until : {AtomicFile::Until::kUnnamed, AtomicFile::Until::kNamed}) {
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGABRT}) {
      EXPECT_EXIT(
          {
            auto file = llvm::cantFail(AtomicFile::Create(Path("new"), until));
            file->os() << std::string(kLarge, 'x');
            signal == SIGABRT ? std::abort() : static_cast<void>(raise(signal));
          },
          testing::KilledBySignal(signal), "");
      EXPECT_EQ(Count(), 0u) << signal;
    }
  }
}

// SIGKILL leaves a name; the next process that writes there removes it, but not that of a running
// one.
TEST_F(FileTest, LeftOversAreClearedAway) {
  int started[2], finish[2];
  ASSERT_EQ(pipe(started) | pipe(finish), 0);
  char byte = 0;
  pid_t busy = fork();
  if (busy == 0) {
    auto file = llvm::cantFail(AtomicFile::Create(Path("busy"), AtomicFile::Until::kNamed));
    bool is_fine = write(started[1], &byte, 1) == 1 && read(finish[0], &byte, 1) == 1;
    _exit(is_fine && !file->Commit() ? 0 : 1);
  }
  ASSERT_EQ(read(started[0], &byte, 1), 1);
  pid_t killed = fork();
  if (killed == 0) {
    auto file = llvm::cantFail(AtomicFile::Create(Path("new"), AtomicFile::Until::kNamed));
    file->os() << std::string(kLarge, 'x');
    raise(SIGKILL);
  }
  waitpid(killed, nullptr, 0);
  EXPECT_EQ(Count(), 2u);
  llvm::cantFail(WriteFile(Path("other"), "text"));
  EXPECT_EQ(Count(), 2u);  // "other", and the file being written
  ASSERT_EQ(write(finish[1], &byte, 1), 1);
  int status = 1;
  waitpid(busy, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(FileExists(Path("busy")));
  EXPECT_EQ(Count(), 2u);
  for (int fd : {started[0], started[1], finish[0], finish[1]}) close(fd);
}

TEST_F(FileTest, PipesAndDescriptorsAreWrittenAsTheyAre) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  int reader = open(Path("fifo").c_str(), O_RDONLY | O_NONBLOCK);
  llvm::cantFail(WriteFile(Path("fifo"), "through"));
  char text[16];
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(Path("fifo")));

  int fd = open(Path("log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  ASSERT_EQ(write(fd, "first ", 6), 6);
  llvm::cantFail(WriteFile("/dev/fd/" + std::to_string(fd), "second"));
  close(fd);
  EXPECT_EQ(Get("log"), "first second");
}

// The kernel copies large pieces of a mapped file; small ones and other bytes are written.
TEST_F(FileTest, PiecesOfAMappedFileArriveInOrder) {
  std::string source(kLarge, '\0');
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 31 % 251);
  auto file = llvm::cantFail(FileBytes::Open(Put("source", source)));
  llvm::StringRef mapped = file->bytes();
  auto write = [&](const std::string& path) {
    auto out = llvm::cantFail(AtomicFile::Create(path));
    out->os() << "head" << mapped.substr(12345, 1000000) << "between" << mapped.substr(7, 100)
              << mapped << source << "tail";
    EXPECT_EQ(out->os().tell(), 4 + 1000000 + 7 + 100 + 2 * kLarge + 4);
    return TextOf(out->Commit());
  };
  std::string expected = "head" + source.substr(12345, 1000000) + "between" +
                         source.substr(7, 100) + source + source + "tail";
  EXPECT_EQ(write(Path("out")), "");
  EXPECT_TRUE(Get("out") == expected);
  // A file that is opened for appending does not take such copies.
  int log = open(Path("log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  EXPECT_EQ(write("/dev/fd/" + std::to_string(log)), "");
  close(log);
  EXPECT_TRUE(Get("log") == expected);
  // The path is now that of another file; the mapped one is intact.
  Put("new", std::string(kLarge, 'n'));
  ASSERT_EQ(std::rename(Path("new").c_str(), Path("source").c_str()), 0);
  EXPECT_EQ(write(Path("out")), "");
  EXPECT_TRUE(Get("out") == expected);
}

TEST_F(FileTest, ACopyOfATruncatedFileIsAnError) {
  auto file = llvm::cantFail(FileBytes::Open(Put("source", std::string(kLarge, 'x'))));
  auto out = llvm::cantFail(AtomicFile::Create(Path("out")));
  ASSERT_EQ(truncate(Path("source").c_str(), kLarge / 2), 0);
  out->os() << file->bytes();
  EXPECT_TRUE(llvm::StringRef(TextOf(out->Commit())).contains("was cut short"));
  out.reset();
  EXPECT_FALSE(FileExists(Path("out")));
}

TEST_F(FileTest, LinkFileReplaces) {
  Put("a", "new");
  Put("b", "old");
  llvm::cantFail(LinkFile(Path("a"), Path("b")));
  llvm::cantFail(LinkFile(Path("a"), Path("b")));
  EXPECT_EQ(Get("b"), "new");
  EXPECT_EQ(Count(), 2u);
}

TEST(Memory, IsSome) { EXPECT_GT(AvailableMemory(), uint64_t{1} << 20); }

}  // namespace
}  // namespace grapnel
