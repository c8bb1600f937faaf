#include "lib/trace/gradient_rule.h"

#include <map>

namespace grapnel {
namespace {

// Filled before main() begins, and only read from then on.
std::map<std::string, GradientEntry, std::less<>>& Registry() {
  static auto* const kRegistry = new std::map<std::string, GradientEntry, std::less<>>;
  return *kRegistry;
}

}  // namespace

bool RegisterGradient(const GradientEntry& entry) {
  bool added = Registry().try_emplace(entry.op, entry).second;
  assert(added && "two rules for one op");
  return added;
}

const GradientEntry* FindGradient(llvm::StringRef op) {
  auto it = Registry().find(std::string_view(op.data(), op.size()));
  return it == Registry().end() ? nullptr : &it->second;
}

std::vector<const GradientEntry*> AllGradients() {
  std::vector<const GradientEntry*> entries;
  for (const auto& [op, entry] : Registry()) entries.push_back(&entry);
  return entries;
}

}  // namespace grapnel
