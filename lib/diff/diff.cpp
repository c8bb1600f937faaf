#include "lib/diff/diff.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "lib/diff/edit_list.h"
#include "lib/diff/fates.h"
#include "lib/diff/function_match.h"
#include "lib/support/side_by_side.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool ByName(const NodeEntry& x, const NodeEntry& y) { return x.name < y.name; }

void Restrict(Diff* diff, const OnlyFilters& only) {
  auto fits = [&](const NodeEntry& node) {
    return only.Fits(node.name, node.node.op(), node.function());
  };
  auto unwanted = [&](const NodeEntry& node) { return !fits(node); };
  llvm::erase_if(diff->matched,
                 [&](const MatchedPair& pair) { return !fits(pair.a) && !fits(pair.b); });
  llvm::erase_if(diff->removed, unwanted);
  llvm::erase_if(diff->added, unwanted);
  llvm::erase_if(diff->groups, [&](const GroupEntry& group) {
    return llvm::none_of(group.a, fits) && llvm::none_of(group.b, fits);
  });
  llvm::erase_if(diff->functions, [&](const FunctionEntry& function) {
    return !only.Fits(function.a, "", function.a) && !only.Fits(function.b, "", function.b);
  });
}

// Returns the indices of `pairs`, sorted by the names of A's nodes; may sort on two threads.
std::vector<uint32_t> OrderOf(llvm::ArrayRef<MatchedPair> pairs, bool side_by_side) {
  std::vector<uint32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  auto by_name = [&](uint32_t x, uint32_t y) { return ByName(pairs[x].a, pairs[y].a); };
  auto middle = order.begin() + order.size() / 2;
  SideBySide(
      side_by_side && pairs.size() > kNodesWorthThreads,
      [&] { std::stable_sort(order.begin(), middle, by_name); },
      [&] { std::stable_sort(middle, order.end(), by_name); });
  std::inplace_merge(order.begin(), middle, order.end(), by_name);
  return order;
}

void SortDiff(Diff* diff, bool side_by_side) {
  std::vector<MatchedPair> matched;
  matched.reserve(diff->matched.size());
  for (uint32_t i : OrderOf(diff->matched, side_by_side))
    matched.push_back(std::move(diff->matched[i]));
  diff->matched = std::move(matched);
  llvm::stable_sort(diff->removed, ByName);
  llvm::stable_sort(diff->added, ByName);
  for (GroupEntry& group : diff->groups) {
    llvm::stable_sort(group.a, ByName);
    llvm::stable_sort(group.b, ByName);
  }
  llvm::stable_sort(diff->groups, [](const GroupEntry& x, const GroupEntry& y) {
    return ByName(x.a[0], y.a[0]);
  });
}

}  // namespace

llvm::StringRef NodeEntry::function() const {
  llvm::StringRef own = node.name();
  return name.size() == own.size() ? "" : name.drop_back(own.size() + 1);
}

bool Diff::Same() const {
  return removed.empty() && added.empty() && groups.empty() && opened.empty() && counted.empty() &&
         llvm::all_of(matched, [](const MatchedPair& pair) { return pair.changes.empty(); }) &&
         llvm::all_of(functions, [](const FunctionEntry& function) {
           return function.changes.empty() && !function.a.empty() && !function.b.empty();
         });
}

Diff DiffModules(const Module& a, const Module& b, const DiffOptions& options) {
  std::optional<ModuleView> view_a, view_b;
  SideBySide(
      options.side_by_side && a.main.num_nodes() + b.main.num_nodes() > kNodesWorthThreads,
      [&] { view_a.emplace(a, options.ignore, options.by_name); },
      [&] { view_b.emplace(b, options.ignore, options.by_name); });
  ModuleMatching matching(*view_a, *view_b, options);
  Diff diff = MakeEditList(*view_a, *view_b, matching, options);
  if (!options.only.empty()) Restrict(&diff, options.only);
  SortDiff(&diff, options.side_by_side);
  if (options.by_name) FindOutcomes(a, b, &diff);
  return diff;
}

}  // namespace grapnel
