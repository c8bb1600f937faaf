#include "lib/io/model_lines.h"

#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

namespace path = llvm::sys::path;

bool IsSourceName(llvm::StringRef file) {
  for (const char* suffix : {".py", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".inc"}) {
    if (file.ends_with(suffix)) return true;
  }
  return false;
}

// Returns `model` if it is a folder, else the folder that contains it.
std::string FolderAt(llvm::StringRef model) {
  if (IsDirectory(model)) return model.str();
  std::string folder = path::parent_path(model).str();
  return folder.empty() ? "." : folder;
}

// True if the path leads to a regular file that is small enough to be source code.
bool MayRead(const std::string& file) {
  constexpr uint64_t kMost = 4 << 20;
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(file, status) &&
         status.type() == llvm::sys::fs::file_type::regular_file && status.getSize() <= kMost;
}

// True if `file` is below `folder`, after resolving symbolic links.
bool IsBelow(llvm::StringRef folder, const std::string& file) {
  llvm::SmallString<256> real_folder, real_file;
  if (llvm::sys::fs::real_path(folder, real_folder) || llvm::sys::fs::real_path(file, real_file))
    return false;
  return real_file.str().starts_with(real_folder) &&
         path::is_separator(real_file[real_folder.size()]);
}

// Returns the path of a source file on this machine. Resolves a relative path against the model's
// folder or the working directory; rejects relative paths with "..". Nullopt if there is no file
// that may be read.
std::optional<std::string> Located(llvm::StringRef model, llvm::StringRef file, SourceReach reach) {
  if (!IsSourceName(file) || file.contains('\0')) return std::nullopt;
  std::vector<std::string> places;
  if (path::is_absolute(file)) {
    places = {file.str()};
  } else {
    for (auto part = path::begin(file), end = path::end(file); part != end; ++part) {
      if (*part == "..") return std::nullopt;
    }
    places = {JoinPath(FolderAt(model), file), file.str()};
  }
  for (const std::string& place : places) {
    if (!MayRead(place)) continue;
    if (reach == SourceReach::kAnywhere || IsBelow(FolderAt(model), place) || IsBelow(".", place))
      return place;
  }
  return std::nullopt;
}

// Adds the debug info that TensorFlow writes into a SavedModel's folder as a separate file.
void AddBeside(llvm::StringRef model, LineTable* lines) {
  std::string beside = JoinPath(JoinPath(FolderAt(model), "debug"), "saved_model_debug_info.pb");
  if (!FileExists(beside)) return;
  auto file = FileBytes::Open(beside);
  if (file) {
    lines->Add((*file)->bytes().str());
  } else {
    llvm::consumeError(file.takeError());
  }
}

}  // namespace

LineTable LinesOf(const Model& model, const Module& module) {
  LineTable lines(module);
  if (model.kind == FileKind::kSavedModel && model.path != "-") AddBeside(model.path, &lines);
  return lines;
}

LineTable LinesOf(const Module& module, llvm::StringRef saved_model) {
  LineTable lines(module);
  if (!saved_model.empty()) AddBeside(saved_model, &lines);
  return lines;
}

std::optional<SourceText> ReadSourceText(llvm::StringRef model_path, const SourceFrame& frame,
                                         int around, SourceReach reach) {
  constexpr size_t kMostCharacters = 200;
  if (frame.line <= 0) return std::nullopt;
  std::optional<std::string> located = Located(model_path, frame.file, reach);
  if (!located) return std::nullopt;
  auto file = FileBytes::Open(*located);
  if (!file) {
    llvm::consumeError(file.takeError());
    return std::nullopt;
  }
  llvm::StringRef text = (*file)->bytes();
  if (text.contains('\0')) return std::nullopt;
  SourceText found;
  found.first = std::max(1, frame.line - around);
  for (int number = 1; !text.empty() && number <= frame.line + around; ++number) {
    auto [line, rest] = text.split('\n');
    if (number >= found.first)
      found.lines.push_back(Printable(line.rtrim('\r').take_front(kMostCharacters)));
    text = rest;
  }
  // The source file has no line of that number, so it was changed after the model was written.
  if (found.first + static_cast<int>(found.lines.size()) <= frame.line) return std::nullopt;
  return found;
}

}  // namespace grapnel
