// Matches two modules body by body: first the functions, then the nodes of each pair of functions.
#ifndef GRAPNEL_LIB_DIFF_FUNCTION_MATCH_H_
#define GRAPNEL_LIB_DIFF_FUNCTION_MATCH_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/diff/matching.h"
#include "lib/library/function_library.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {

// The bodies of one module, ready to be matched. Body 0 is the main graph.
class ModuleView {
 public:
  // `names_only`: the view is for matching by names only, and has neither labels nor hashes.
  ModuleView(const Module& module, const IgnoreRules& ignore, bool names_only = false);

  int32_t size() const { return static_cast<int32_t>(bodies_.size()); }
  const BodyView& body(int32_t i) const { return *bodies_[i].view; }
  const Labels& labels(int32_t i) const { return bodies_[i].labels; }
  // A hash of everything that the body computes; does not depend on the names of nodes and
  // functions.
  uint64_t hash(int32_t i) const { return bodies_[i].hash; }
  llvm::StringRef name(int32_t i) const;  // the function's name; empty for the main graph
  int32_t Find(llvm::StringRef function) const;

 private:
  struct Body {
    std::unique_ptr<BodyView> view;
    Labels labels;
    uint64_t hash = 0;
  };
  std::vector<Body> bodies_;
  llvm::StringMap<int32_t> by_name_;
};

struct BodyPair {
  int32_t a, b;  // bodies
  std::unique_ptr<Matching> matching;
};

// With DiffOptions::by_name, pairs the main graphs and functions of the same name. Otherwise, pairs
// the main graphs, and functions that are called at matched nodes. Then pairs the remaining
// functions by the first of these that finds a partner: the same body, the same name, the same
// Python function traced for the same arguments, or the same name except for its numbers.
class ModuleMatching {
 public:
  ModuleMatching(const ModuleView& a, const ModuleView& b, const DiffOptions& options);

  const std::vector<BodyPair>& pairs() const { return pairs_; }  // main first
  // Returns the name of the function of B that is the partner of a function of A; empty without a
  // partner.
  llvm::StringRef InB(llvm::StringRef function_of_a) const;
  bool IsPairedA(int32_t body) const { return to_b_[body] != kNobody; }
  bool IsPairedB(int32_t body) const { return to_a_[body] != kNobody; }

 private:
  void Pair(int32_t a, int32_t b);
  void PairEqualNames();
  // Matches the paired bodies, then the functions that they call, until there are no more.
  void Follow();
  void PairCallees(const Matching& matching);
  bool PairLeftOver();
  bool PairLeftOver(bool callers);
  std::string TraceKey(const ModuleView& view, int32_t i);
  static std::vector<bool> CalledByLeftOver(const ModuleView& view, llvm::ArrayRef<int32_t> other);

  const ModuleView &a_, &b_;
  const DiffOptions& options_;
  std::vector<int32_t> to_b_, to_a_;
  std::vector<BodyPair> pairs_;
  size_t followed_ = 0;
  std::optional<FunctionLibrary> library_a_, library_b_;  // read when traces are compared
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_FUNCTION_MATCH_H_
