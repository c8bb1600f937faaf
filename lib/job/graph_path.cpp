#include "lib/job/graph_path.h"

#include "lib/support/file.h"

namespace grapnel {
namespace {

constexpr size_t kMostColons = 64;  // more than any path or stage name has

}  // namespace

GraphPath ReadGraphPath(llvm::StringRef text) {
  if (FileExists(text)) return {text.str(), ""};
  llvm::StringRef path = text;
  for (size_t i = 0; i < kMostColons; ++i) {
    size_t colon = path.rfind(':');
    if (colon == llvm::StringRef::npos) break;
    path = path.take_front(colon);
    llvm::StringRef title = text.drop_front(colon + 1);
    if (!path.empty() && !title.empty() && FileExists(path)) return {path.str(), title.str()};
  }
  return {text.str(), ""};
}

Expected<GraphPath> ReadGraphPath(llvm::StringRef text, llvm::StringRef title, llvm::StringRef by) {
  GraphPath named = ReadGraphPath(text);
  if (title.empty() || named.title == title) return named;
  if (named.title.empty()) return GraphPath{named.path, title.str()};
  return MakeError("{0}: names the graph '{1}', but {2} names '{3}': give only one", named.path,
                   named.title, by, title);
}

}  // namespace grapnel
