// Pairs nodes that do the same with the same inputs, and so differ only in their names.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "lib/diff/matching.h"

namespace grapnel {
namespace {

llvm::StringRef ScopeOf(const Side& side, int32_t i) {
  llvm::StringRef name = side.view->node(i).name();
  size_t slash = name.rfind('/');
  return slash == llvm::StringRef::npos ? llvm::StringRef() : name.take_front(slash);
}

// Maps each scope of A to the scope of B that contains the partners of most of its nodes.
class ScopeMap {
 public:
  explicit ScopeMap(const Side& a, const Side& b) {
    std::map<llvm::StringRef, std::map<llvm::StringRef, int>> votes;
    // The last pair of scopes: nodes of the same scope usually come one after the other.
    llvm::StringRef last_a, last_b;
    int* last = nullptr;
    for (int32_t i = 0; i < a.view->size(); ++i) {
      if (a.other[i] == kNobody) continue;
      llvm::StringRef of_a = ScopeOf(a, i), of_b = ScopeOf(b, a.other[i]);
      if (!last || of_a != last_a || of_b != last_b) last = &votes[of_a][of_b];
      ++*last;
      last_a = of_a;
      last_b = of_b;
    }
    for (const auto& [scope, partners] : votes) {
      auto most =
          std::max_element(partners.begin(), partners.end(),
                           [](const auto& x, const auto& y) { return x.second < y.second; });
      to_b_[scope] = most->first;
    }
  }
  std::optional<llvm::StringRef> InB(llvm::StringRef of_a) const {
    auto it = to_b_.find(of_a);
    if (it == to_b_.end()) return std::nullopt;
    return it->second;
  }

 private:
  std::map<llvm::StringRef, llvm::StringRef> to_b_;
};

// Returns a key for an unpaired node: its kind and its inputs, which are given by their partners or
// are constants. 0 if no input has a partner, or if an unpaired input is not a constant.
uint64_t SiblingKey(const Side& side, int32_t i, bool is_a) {
  bool known = false;
  uint64_t key = side.labels->kind[i];
  for (const BodyView::In& in : side.view->DataInputs(i)) {
    uint64_t one = 1;
    if (in.node != kNobody && side.other[in.node] != kNobody) {
      known = true;
      one = HashInto(2, is_a ? in.node : side.other[in.node]);
    } else if (in.node != kNobody && side.IsFree(in.node)) {
      if (!side.view->DataInputs(in.node).empty()) return 0;
      one = HashInto(3, side.labels->exact[in.node]);
    }
    key = HashInto(HashInto(key, one), static_cast<uint64_t>(in.port));
  }
  return known ? key : 0;
}

using Classes = std::map<uint64_t, std::vector<int32_t>>;

Classes ClassesOf(const Side& side, bool is_a) {
  Classes classes;
  for (int32_t i = 0; i < side.view->size(); ++i) {
    if (!side.IsFree(i)) continue;
    if (uint64_t key = SiblingKey(side, i, is_a)) classes[key].push_back(i);
  }
  return classes;
}

}  // namespace

void Matching::MatchSiblings() {
  Classes in_a = ClassesOf(a_, true), in_b = ClassesOf(b_, false);
  auto has_twin = [&](const auto& of_a) {
    auto of_b = in_b.find(of_a.first);
    return of_b != in_b.end() && of_b->second.size() == of_a.second.size();
  };
  if (std::none_of(in_a.begin(), in_a.end(), has_twin)) return;
  ScopeMap scopes(a_, b_);
  for (const auto& [key, of_a] : in_a) {
    auto found = in_b.find(key);
    if (found == in_b.end() || found->second.size() != of_a.size()) continue;
    const std::vector<int32_t>& of_b = found->second;
    std::map<llvm::StringRef, std::deque<int32_t>> by_scope;
    for (int32_t b : of_b) by_scope[ScopeOf(b_, b)].push_back(b);
    for (int32_t a : of_a) {
      std::optional<llvm::StringRef> scope = scopes.InB(ScopeOf(a_, a));
      auto there = scope ? by_scope.find(*scope) : by_scope.end();
      if (there == by_scope.end() || there->second.empty()) continue;
      Match(a, there->second.front());
      there->second.pop_front();
    }
    size_t next = 0;
    for (int32_t a : of_a) {
      if (!a_.IsFree(a)) continue;
      while (!b_.IsFree(of_b[next])) ++next;
      Match(a, of_b[next]);
    }
  }
}

}  // namespace grapnel
