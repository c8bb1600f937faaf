#include "lib/io/name_match.h"

#include <algorithm>
#include <map>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

struct Numbered {
  std::vector<uint64_t> numbers;  // one per component; 0: the component has no number
  int index;
};

// Removes the numbers from the components of a name: "net_1/dense_12" becomes "net/dense" with
// numbers 1 and 12.
std::string WithoutNumbers(llvm::StringRef name, std::vector<uint64_t>* numbers) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  name.split(parts, '/');
  for (llvm::StringRef& part : parts) {
    llvm::StringRef bare = part.rtrim("0123456789");
    uint64_t number = 0;
    bool is_numbered = bare.size() > 1 && bare.size() < part.size() && bare.ends_with("_") &&
                       !part.drop_front(bare.size()).getAsInteger(10, number);
    numbers->push_back(is_numbered ? number : 0);
    if (is_numbered) part = bare.drop_back();
  }
  return llvm::join(parts, "/");
}

using Groups = std::map<std::string, std::vector<Numbered>>;

Groups GroupsOf(llvm::ArrayRef<std::string> names) {
  Groups groups;
  for (size_t i = 0; i < names.size(); ++i) {
    Numbered name{{}, static_cast<int>(i)};
    std::string bare = WithoutNumbers(names[i], &name.numbers);
    groups[bare].push_back(std::move(name));
  }
  for (auto& [bare, group] : groups) {
    std::stable_sort(group.begin(), group.end(),
                     [](const Numbered& a, const Numbered& b) { return a.numbers < b.numbers; });
  }
  return groups;
}

}  // namespace

std::vector<int> MatchNames(llvm::ArrayRef<std::string> names, llvm::ArrayRef<std::string> others) {
  std::vector<int> like(names.size(), -1);
  llvm::StringMap<int> places;
  for (size_t i = 0; i < others.size(); ++i) places[others[i]] = static_cast<int>(i);
  Groups candidates = GroupsOf(others);
  for (const auto& [bare, group] : GroupsOf(names)) {
    auto found = candidates.find(bare);
    if (found == candidates.end()) continue;
    bool is_renumbered =
        found->second.size() == group.size() &&
        llvm::any_of(group, [&](const Numbered& name) { return !places.count(names[name.index]); });
    for (size_t i = 0; i < group.size(); ++i) {
      auto same = places.find(names[group[i].index]);
      if (is_renumbered) {
        like[group[i].index] = found->second[i].index;
      } else if (same != places.end()) {
        like[group[i].index] = same->second;
      }
    }
  }
  return like;
}

}  // namespace grapnel
