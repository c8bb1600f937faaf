#include "lib/diff/diff.h"

#include "lib/diff/edit_list.h"
#include "lib/diff/function_match.h"
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

void Sort(Diff* diff) {
  llvm::stable_sort(diff->matched,
                    [](const MatchedPair& x, const MatchedPair& y) { return ByName(x.a, y.a); });
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
  llvm::StringRef all = name, own = node.name();
  return all.size() == own.size() ? "" : all.drop_back(own.size() + 1);
}

bool Diff::Same() const {
  return removed.empty() && added.empty() && groups.empty() &&
         llvm::all_of(matched, [](const MatchedPair& pair) { return pair.changes.empty(); }) &&
         llvm::all_of(functions, [](const FunctionEntry& function) {
           return function.changes.empty() && !function.a.empty() && !function.b.empty();
         });
}

Diff DiffModules(const Module& a, const Module& b, const DiffOptions& options) {
  ModuleView view_a(a, options.ignore), view_b(b, options.ignore);
  ModuleMatching matching(view_a, view_b, options.provenance);
  Diff diff = MakeEditList(view_a, view_b, matching, options);
  if (!options.only.empty()) Restrict(&diff, options.only);
  Sort(&diff);
  return diff;
}

}  // namespace grapnel
