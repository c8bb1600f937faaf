#include "lib/trace/gradient_rule.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace grapnel {
namespace {

// All gradient rules. They register before main() begins, and those of plugins before the first
// look-up. The registry has hundreds of entries that few programs need, so it is sorted at the
// first look-up.
class Registry {
 public:
  static Registry& Get() {
    static auto* const kRegistry = new Registry;
    return *kRegistry;
  }

  void Add(const GradientEntry& entry) {
    std::lock_guard lock(mutex_);
    entries_.push_back(entry);
  }

  std::vector<const GradientEntry*> Sorted() {
    std::lock_guard lock(mutex_);
    Sort();
    return sorted_;
  }

  const GradientEntry* Find(llvm::StringRef op) {
    std::lock_guard lock(mutex_);
    Sort();
    auto at = std::lower_bound(
        sorted_.begin(), sorted_.end(), op,
        [](const GradientEntry* entry, llvm::StringRef wanted) { return entry->op < wanted; });
    return at == sorted_.end() || (*at)->op != op ? nullptr : *at;
  }

 private:
  void Sort() {
    if (num_sorted_ == entries_.size()) return;
    num_sorted_ = entries_.size();
    sorted_.clear();
    for (const GradientEntry& entry : entries_) sorted_.push_back(&entry);
    // The sort is stable: of two rules for one op the first one is used.
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [](const GradientEntry* x, const GradientEntry* y) { return x->op < y->op; });
    assert(std::adjacent_find(sorted_.begin(), sorted_.end(),
                              [](const GradientEntry* x, const GradientEntry* y) {
                                return x->op == y->op;
                              }) == sorted_.end() &&
           "two rules for one op");
  }

  std::mutex mutex_;  // guards the members below
  std::deque<GradientEntry> entries_;
  std::vector<const GradientEntry*> sorted_;  // by op
  size_t num_sorted_ = 0;                     // of entries_
};

}  // namespace

bool RegisterGradient(const GradientEntry& entry) {
  Registry::Get().Add(entry);
  return true;
}

const GradientEntry* FindGradient(llvm::StringRef op) { return Registry::Get().Find(op); }

std::vector<const GradientEntry*> AllGradients() { return Registry::Get().Sorted(); }

}  // namespace grapnel
