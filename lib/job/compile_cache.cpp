#include "lib/job/compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "lib/support/file.h"
#include "lib/support/plugin.h"
#include "lib/support/program_file.h"
#include "lib/support/text.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA256.h"

namespace grapnel {
namespace {

// Hashes texts, each with its size, so that two lists of texts with the same bytes differ.
class ContentHash {
 public:
  void Add(llvm::StringRef text) {
    sha_.update(std::to_string(text.size()) + ":");
    sha_.update(text);
  }
  std::string Hex() { return llvm::toHex(sha_.final(), /*LowerCase=*/true); }

 private:
  llvm::SHA256 sha_;
};

std::optional<std::string> ReadAll(const std::string& path) {
  auto file = FileBytes::Open(path);
  if (file) return (*file)->bytes().str();
  llvm::consumeError(file.takeError());
  return std::nullopt;
}

int64_t ChangedAt(const struct stat& info) {
  return info.st_mtim.tv_sec * int64_t{1000000000} + info.st_mtim.tv_nsec;
}

// Returns what identifies a program without reading it: its path, size and time.
std::string IdentityOf(const std::string& program) {
  struct stat info = {};
  if (stat(program.c_str(), &info) != 0) return program;
  return llvm::formatv("{0} {1} {2}", program, info.st_size, ChangedAt(info)).str();
}

void Touch(const std::string& path) { utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

bool Write(const std::string& path, llvm::StringRef text) {
  Error error = WriteFile(path, text);
  bool is_written = !error;
  llvm::consumeError(std::move(error));
  return is_written;
}

bool IsOwn(const std::string& folder) {
  struct stat info = {};
  return stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

std::string CompileCache::Folder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  std::string root;
  if (cache && cache[0] == '/')
    root = cache;
  else if (home && home[0] == '/')
    root = JoinPath(home, ".cache");
  else
    return "";
  std::string folder = JoinPath(root, "grapnel/compiled");
  auto only_own = llvm::sys::fs::owner_all;
  if (llvm::sys::fs::create_directories(folder, /*IgnoreExisting=*/true, only_own)) return "";
  return IsOwn(folder) ? folder : "";
}

CompileCache::CompileCache(llvm::StringRef source, llvm::ArrayRef<std::string> command,
                           std::string folder)
    : folder_(std::move(folder)),
      began_(std::chrono::duration_cast<std::chrono::nanoseconds>(
                 std::chrono::system_clock::now().time_since_epoch())
                 .count()) {
  auto text = folder_.empty() ? std::nullopt : ReadAll(source.str());
  if (!text) return;
  ContentHash hash;
  hash.Add(GRAPNEL_VERSION);
  hash.Add(GRAPNEL_ABI);
  hash.Add(IdentityOf(ProgramFile()));
  for (const std::string& word : command) {
    hash.Add(word);
    // "ccache g++": both are programs.
    bool is_program = !HasPrefix(word, "-");
    auto program = is_program ? llvm::sys::findProgramByName(word) : llvm::ErrorOr<std::string>("");
    if (program && !program->empty()) hash.Add(IdentityOf(*program));
  }
  for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH"}) {
    const char* value = std::getenv(name);
    hash.Add(value ? value : "");
  }
  llvm::SmallString<256> absolute(source);
  llvm::sys::fs::make_absolute(absolute);  // headers are looked for beside the source
  hash.Add(source);                        // __FILE__
  hash.Add(absolute);
  hash.Add(*text);
  key_ = hash.Hex();
  list_ = JoinPath(folder_, key_ + ".inputs");
}

// Returns the path of the result without its suffix; empty if an input cannot be read.
std::string CompileCache::Result(llvm::ArrayRef<std::string> inputs) const {
  ContentHash hash;
  hash.Add(key_);
  for (const std::string& input : inputs) {
    auto text = ReadAll(input);
    if (!text) return "";
    hash.Add(input);
    hash.Add(*text);
  }
  return JoinPath(folder_, hash.Hex());
}

std::optional<std::string> CompileCache::Fetch(const std::string& to) const {
  auto list = key_.empty() ? std::nullopt : ReadAll(list_);
  if (!list) return std::nullopt;
  llvm::SmallVector<llvm::StringRef, 32> lines;
  llvm::StringRef(*list).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string result = Result(std::vector<std::string>(lines.begin(), lines.end()));
  if (result.empty()) return std::nullopt;
  auto said = ReadAll(result + ".txt");
  if (!said || llvm::sys::fs::copy_file(result + ".so", to)) return std::nullopt;
  for (const std::string& used : {list_, result + ".so", result + ".txt"}) Touch(used);
  return said;
}

void CompileCache::Keep(const std::string& made, const std::string& inputs,
                        llvm::StringRef said) const {
  if (key_.empty()) return;
  auto rule = ReadAll(inputs), object = ReadAll(made);
  if (!rule || !object) return;
  std::vector<std::string> files = InputsOfRule(*rule);
  for (const std::string& file : files) {
    struct stat info = {};
    bool is_old = stat(file.c_str(), &info) == 0 && ChangedAt(info) < began_;
    if (!is_old || llvm::StringRef(file).contains('\n')) return;
  }
  std::string result = Result(files);
  // The list comes last: it makes the rest known.
  if (!files.empty() && !result.empty() && Write(result + ".so", *object) &&
      Write(result + ".txt", said) && Write(list_, llvm::join(files, "\n") + "\n"))
    Trim(folder_, kMostBytes);
}

void CompileCache::Trim(const std::string& folder, uint64_t most) {
  struct Entry {
    int64_t used;
    uint64_t bytes;
    std::string path;
  };
  auto names = ListDirectory(folder);
  if (!names) return llvm::consumeError(names.takeError());
  std::vector<Entry> entries;
  uint64_t bytes = 0;
  for (const std::string& name : *names) {
    std::string path = JoinPath(folder, name);
    struct stat info = {};
    if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    entries.push_back({ChangedAt(info), static_cast<uint64_t>(info.st_size), path});
    bytes += info.st_size;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry& entry : entries) {
    if (bytes <= most) return;
    unlink(entry.path.c_str());
    bytes -= entry.bytes;
  }
}

std::vector<std::string> InputsOfRule(llvm::StringRef rule) {
  std::vector<std::string> inputs;
  std::string word;
  auto end = [&] {
    if (!word.empty()) inputs.push_back(std::move(word));
    word.clear();
  };
  rule = rule.split(": ").second;
  for (size_t i = 0; i < rule.size(); ++i) {
    char c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\n';
    if (c == '\\' && next == '\n') {
      end();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n') {
      end();
    } else {
      word += c;
    }
  }
  end();
  return inputs;
}

}  // namespace grapnel
