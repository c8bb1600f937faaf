// Keeps compiled source files on disk, so that a file is compiled once and not for every command.
// Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_COMPILE_CACHE_H_
#define GRAPNEL_LIB_JOB_COMPILE_CACHE_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/support/error.h"

namespace grapnel {

// The cached results of one command for one source file. A result is found by the contents of the
// source and of the headers that the compiler read (except the system's), by the command, and by
// path, size and time of this program and of the compiler. So nothing needs to be invalidated, and
// several processes may use a folder at once: they write equal files, each complete when it
// appears. A cache that cannot be read or written finds and keeps nothing, without an error.
class CompileCache {
 public:
  // The most bytes in the folder; beyond them, files are removed (Trim).
  static constexpr uint64_t kMostBytes = 256 << 20;

  // `command`: the compiler, by its path, and its arguments except the files. `folder`: "" caches
  // nothing.
  CompileCache(llvm::StringRef source, llvm::ArrayRef<std::string> command,
               std::string folder = Folder());

  // Copies the result to `to` and returns what the compiler said; nullopt if there is none.
  std::optional<std::string> Fetch(const std::string& to) const;
  // Keeps the result `made`. `inputs`: the file that the compiler wrote with -MMD -MF. Does nothing
  // if a file that was read has changed since this CompileCache was made, or in the same moment.
  void Keep(const std::string& made, const std::string& inputs, llvm::StringRef said) const;

  // Returns XDG_CACHE_HOME/grapnel/compiled, by default in ~/.cache; "" without a home, or if the
  // folder cannot be made or other users may write to it.
  static std::string Folder();
  // Removes files of a folder until at most `most` bytes are left; those that were not used for
  // longest go first.
  static void Trim(const std::string& folder, uint64_t most);

 private:
  std::string Result(llvm::ArrayRef<std::string> inputs) const;

  std::string folder_, list_;  // `list_`: the file with the names of the inputs
  std::string key_;            // empty: nothing is cached
  int64_t began_ = 0;          // nanoseconds since 1970
};

// Returns the files that a rule of make depends on: "x.o: a.cpp \\\n  my\ header.h" gives a.cpp and
// "my header.h".
std::vector<std::string> InputsOfRule(llvm::StringRef rule);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_COMPILE_CACHE_H_
