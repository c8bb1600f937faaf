#include "lib/pass/near_misses.h"

#include <iterator>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

std::string PlaceOf(const Refusal& refusal) {
  return refusal.function.empty() ? refusal.node : refusal.function + "/" + refusal.node;
}

bool IsUnlikeTensorFlow(const Refusal& refusal) {
  return llvm::StringRef(refusal.reason).contains("unlike TensorFlow");
}

void NearMisses::Add(const Refusal& refusal) {
  last_[{PlaceOf(refusal), refusal.pass, refusal.rule}] = refusal;
}

void NearMisses::Rewrote(const Rewrite& rewrite) {
  std::string scope = rewrite.function.empty() ? "" : rewrite.function + "/";
  last_.erase({scope + rewrite.node, rewrite.pass, rewrite.rule});
  for (const std::string& node : rewrite.removed) {
    if (node == rewrite.node) continue;
    auto at = last_.lower_bound({scope + node, "", ""});
    while (at != last_.end() && std::get<0>(at->first) == scope + node)
      at = IsUnlikeTensorFlow(at->second) ? std::next(at) : last_.erase(at);
  }
}

std::vector<Refusal> NearMisses::Sorted() const {
  std::vector<Refusal> sorted;
  for (const auto& [where, refusal] : last_) sorted.push_back(refusal);
  llvm::stable_sort(sorted, [](const Refusal& a, const Refusal& b) {
    return std::tie(a.pass, a.rule) < std::tie(b.pass, b.rule);
  });
  return sorted;
}

}  // namespace grapnel
