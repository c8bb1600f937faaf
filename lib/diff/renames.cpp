#include "lib/diff/renames.h"

#include <map>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using NameParts = llvm::SmallVector<llvm::StringRef, 8>;

// Removes the common end of two names, and returns the rest of both up to the first component that
// differs.
std::pair<std::string, std::string> OutermostRename(llvm::StringRef a, llvm::StringRef b) {
  NameParts of_a, of_b;
  a.split(of_a, '/');
  b.split(of_b, '/');
  while (!of_a.empty() && !of_b.empty() && of_a.back() == of_b.back()) {
    of_a.pop_back();
    of_b.pop_back();
  }
  size_t same = 0, shorter = std::min(of_a.size(), of_b.size());
  while (same < shorter && of_a[same] == of_b[same]) ++same;
  of_a.truncate(std::min(of_a.size(), same + 1));
  of_b.truncate(std::min(of_b.size(), same + 1));
  return {llvm::join(of_a, "/"), llvm::join(of_b, "/")};
}

}  // namespace

std::vector<Rename> RenamesOf(const Diff& diff) {
  std::map<std::pair<std::string, std::string>, size_t> counts;
  for (const MatchedPair& pair : diff.matched) {
    llvm::StringRef a = pair.a.node.name(), b = pair.b.node.name();
    if (a != b) ++counts[OutermostRename(a, b)];
  }
  std::vector<Rename> renames;
  renames.reserve(counts.size());
  for (const auto& [names, nodes] : counts) renames.push_back({names.first, names.second, nodes});
  llvm::stable_sort(renames, [](const Rename& x, const Rename& y) { return x.nodes > y.nodes; });
  return renames;
}

}  // namespace grapnel
