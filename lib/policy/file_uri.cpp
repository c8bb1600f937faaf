#include "lib/policy/file_uri.h"

#include "lib/support/file.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

// Resolves symbolic links in the directories of a path. If the file itself is a link, keeps the
// link's name, since the repository contains the link. A path whose directory does not exist is
// only made absolute.
std::string Resolved(llvm::StringRef file) {
  llvm::SmallString<128> whole = file, folder;
  fs::make_absolute(whole);
  // Resolves all of a directory's path, since its last component may be ".." or empty.
  if (IsDirectory(whole))
    return fs::real_path(whole, folder) ? whole.str().str() : folder.str().str();
  if (!fs::real_path(path::parent_path(whole), folder))
    return JoinPath(folder, path::filename(whole));
  path::remove_dots(whole, true);
  return whole.str().str();
}

// Returns the directory that contains ".git", which in worktrees and submodules is a file; "" if
// not found.
std::string RepositoryOf(llvm::StringRef folder) {
  for (; !folder.empty(); folder = path::parent_path(folder))
    if (fs::exists(JoinPath(folder, ".git"))) return folder.str();
  return "";
}

std::string Encoded(llvm::StringRef text) {
  std::string uri;
  for (char c : text) {
    bool is_plain = llvm::isAlnum(c) || llvm::StringRef("-._~/").contains(c);
    uri += is_plain ? std::string(1, c) : "%" + llvm::toHex(llvm::StringRef(&c, 1));
  }
  return uri;
}

}  // namespace

std::string FileUri(llvm::StringRef file) {
  // Without such a file, `file` means standard input, or a source file on the machine that built
  // the model.
  if (!fs::exists(file)) return (path::is_absolute(file) ? "file://" : "") + Encoded(file);
  const std::string whole = Resolved(file), here = Resolved(".");
  for (const std::string& root :
       {RepositoryOf(here), RepositoryOf(path::parent_path(whole)), here}) {
    llvm::StringRef rest = whole;
    if (!root.empty() && rest.consume_front(root) && rest.consume_front("/")) return Encoded(rest);
  }
  return "file://" + Encoded(whole);
}

}  // namespace grapnel
