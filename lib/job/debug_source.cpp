#include "lib/job/debug_source.h"

#include "lib/support/file.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {
namespace {

Expected<llvm::SmallVector<std::string, 0>> LinesOf(const std::string& path) {
  ASSIGN_OR_RETURN(auto bytes, FileBytes::Open(path));
  llvm::SmallVector<llvm::StringRef, 0> lines;
  bytes->bytes().split(lines, '\n');
  return llvm::SmallVector<std::string, 0>(lines.begin(), lines.end());
}

}  // namespace

std::string PlaceText(const DebugLine& line) {
  std::string text = line.file + ":" + std::to_string(line.line);
  return line.function.empty() ? text : text + " in " + line.function;
}

std::string TextOfLine(const DebugLine& line) {
  auto lines = LinesOf(line.file);
  if (!lines) {
    llvm::consumeError(lines.takeError());
    return "";
  }
  if (line.line > static_cast<int>(lines->size())) return "";
  return llvm::StringRef((*lines)[line.line - 1]).trim().str();
}

Expected<std::string> LinesAround(const DebugLine& line, int count) {
  ASSIGN_OR_RETURN(auto lines, LinesOf(line.file));
  int size = static_cast<int>(lines.size());
  int first = std::max(1, line.line - count), last = std::min(size, line.line + count);
  if (last == size && size > 0 && lines.back().empty()) --last;
  std::string text;
  for (int i = first; i <= last; ++i)
    text += llvm::formatv("{0} {1,5}  {2}\n", i == line.line ? "->" : "  ", i, lines[i - 1]).str();
  return text;
}

}  // namespace grapnel
