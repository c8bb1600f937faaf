#include "lib/pass/near_misses.h"

#include "llvm/ADT/StringRef.h"

namespace grapnel {

std::string PlaceOf(const Refusal& refusal) {
  return refusal.function.empty() ? refusal.node : refusal.function + "/" + refusal.node;
}

bool IsUnlikeTensorFlow(const Refusal& refusal) {
  return llvm::StringRef(refusal.reason).contains("unlike TensorFlow");
}

void NearMisses::Add(const Refusal& refusal) {
  last_[{refusal.pass, refusal.rule, PlaceOf(refusal)}] = refusal;
}

std::vector<Refusal> NearMisses::Sorted() const {
  std::vector<Refusal> sorted;
  for (const auto& [where, refusal] : last_) sorted.push_back(refusal);
  return sorted;
}

}  // namespace grapnel
