#include "lib/diff/python_functions.h"

#include <map>

#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

constexpr size_t kMostTraces = 4;  // the most that a title lists

class Grouper {
 public:
  Grouper(const Diff& diff, const Module& a, const Module& b)
      : diff_(diff), a_(ReadFunctionLibrary(a)), b_(ReadFunctionLibrary(b)) {
    IndexOf(a_, &in_a_);
    IndexOf(b_, &in_b_);
  }

  std::vector<PythonFunctionChanges> Run() {
    CountNodes();
    for (const FunctionRow& row : a_.rows) {
      places_[KeyOf(row)] = groups_.size();
      groups_.push_back({row.name, row.role, {}, {}});
    }
    PairRows();
    for (size_t row = 0; row < a_.rows.size(); ++row) {
      for (int member : a_.rows[row].members) {
        if (const FunctionEntry* entry = entries_.lookup(a_.functions[member].function->name()))
          Add(*entry, &groups_[row]);
      }
    }
    AddThoseOfB();
    llvm::erase_if(groups_, [](const auto& group) { return group.functions.empty(); });
    return std::move(groups_);
  }

 private:
  using Numbers = llvm::StringMap<int>;

  static void IndexOf(const FunctionLibrary& library, Numbers* numbers) {
    for (size_t i = 0; i < library.functions.size(); ++i)
      (*numbers)[library.functions[i].function->name()] = static_cast<int>(i);
  }

  static std::string KeyOf(const FunctionRow& row) {
    return std::to_string(static_cast<int>(row.role)) + " " + row.name;
  }

  // Counts the nodes of each function, under the function's name in A, or in B if A does not have
  // it.
  void CountNodes() {
    for (const FunctionEntry& entry : diff_.functions) {
      (entry.a.empty() ? only_b_ : entries_)[entry.a.empty() ? entry.b : entry.a] = &entry;
      if (!entry.a.empty() && !entry.b.empty()) name_in_a_[entry.b] = entry.a;
    }
    for (const NodeEntry& node : diff_.removed) ++Counts(node, /*of_b=*/false).removed;
    for (const NodeEntry& node : diff_.added) ++Counts(node, /*of_b=*/true).added;
    for (const GroupEntry& group : diff_.groups)
      ++(group.b.empty() ? Counts(group.a[0], false) : Counts(group.b[0], true)).replaced;
    for (const MatchedPair& pair : diff_.matched) {
      ChangeCounts& counts = Counts(pair.a, false);
      ++(pair.changes.empty() ? counts.same : counts.changed);
    }
  }

  ChangeCounts& Counts(const NodeEntry& node, bool of_b) {
    llvm::StringRef function = node.function();
    auto paired = of_b ? name_in_a_.find(function) : name_in_a_.end();
    if (paired != name_in_a_.end()) return counts_[paired->second];
    return (of_b ? counts_of_b_ : counts_)[function];
  }

  // Pairs a row of B with the row of A that contains the partner of one of its functions (the first
  // that has one); otherwise with the row of the same name.
  void PairRows() {
    for (const FunctionRow& row : b_.rows) {
      std::optional<size_t> group;
      for (int member : row.members) {
        auto paired = name_in_a_.find(b_.functions[member].function->name());
        if (paired == name_in_a_.end() || !in_a_.count(paired->second)) continue;
        group = a_.functions[in_a_.lookup(paired->second)].row;
        break;
      }
      auto same = places_.find(KeyOf(row));
      if (!group && same != places_.end()) group = same->second;
      if (!group) {
        group = groups_.size();
        groups_.push_back({row.name, row.role, {}, {}});
      }
      group_of_b_.push_back(*group);
    }
  }

  void AddThoseOfB() {
    for (size_t row = 0; row < b_.rows.size(); ++row) {
      for (int member : b_.rows[row].members) {
        if (const FunctionEntry* entry = only_b_.lookup(b_.functions[member].function->name()))
          Add(*entry, &groups_[group_of_b_[row]]);
      }
    }
  }

  void Add(const FunctionEntry& entry, PythonFunctionChanges* group) {
    FunctionChanges one;
    one.a = entry.a;
    one.b = entry.b;
    one.is_changed = !entry.changes.empty();
    if (auto at = in_b_.find(entry.b); at != in_b_.end()) {
      one.role = b_.functions[at->second].role;
      one.number_b = b_.functions[at->second].name.number;
    }
    if (auto at = in_a_.find(entry.a); at != in_a_.end()) {
      one.role = a_.functions[at->second].role;
      one.number_a = a_.functions[at->second].name.number;
    }
    one.counts = entry.a.empty() ? counts_of_b_.lookup(entry.b) : counts_.lookup(entry.a);
    group->counts.removed += one.counts.removed;
    group->counts.added += one.counts.added;
    group->counts.changed += one.counts.changed;
    group->counts.replaced += one.counts.replaced;
    group->counts.same += one.counts.same;
    group->functions.push_back(std::move(one));
  }

  const Diff& diff_;
  const FunctionLibrary a_, b_;
  Numbers in_a_, in_b_;
  llvm::StringMap<const FunctionEntry*> entries_, only_b_;
  llvm::StringMap<std::string> name_in_a_;
  llvm::StringMap<ChangeCounts> counts_, counts_of_b_;
  std::map<std::string, size_t> places_;  // index of A's row, by KeyOf
  std::vector<size_t> group_of_b_;        // by row
  std::vector<PythonFunctionChanges> groups_;
};

std::string TraceText(const FunctionChanges& trace) {
  auto text = [](const std::optional<int64_t>& number) {
    return number ? std::to_string(*number) : std::string("without a number");
  };
  if (trace.b.empty()) return text(trace.number_a) + " only in A";
  if (trace.a.empty()) return text(trace.number_b) + " only in B";
  if (trace.number_a == trace.number_b) return text(trace.number_a);
  return text(trace.number_a) + " -> " + text(trace.number_b);
}

}  // namespace

std::string PythonFunctionChanges::Title() const {
  std::vector<std::string> traces;
  size_t more = 0;
  for (const FunctionChanges& function : functions) {
    bool is_trace = function.role == FunctionRole::kTrace;
    if (!is_trace || (!function.number_a && !function.number_b)) continue;
    if (traces.size() < kMostTraces)
      traces.push_back(TraceText(function));
    else
      ++more;
  }
  if (traces.empty()) return name;
  if (more > 0) traces.push_back(WithCommas(more) + " more");
  return name + (traces.size() == 1 ? " (trace " : " (traces ") + llvm::join(traces, ", ") + ")";
}

std::vector<PythonFunctionChanges> ChangesByPythonFunction(const Diff& diff, const Module& a,
                                                           const Module& b) {
  if (a.functions.empty() && b.functions.empty()) return {};
  return Grouper(diff, a, b).Run();
}

}  // namespace grapnel
