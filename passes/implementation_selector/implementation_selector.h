// Shared by the rules of the implementation selector: finds equivalent functions.
#ifndef GRAPNEL_PASSES_IMPLEMENTATION_SELECTOR_IMPLEMENTATION_SELECTOR_H_
#define GRAPNEL_PASSES_IMPLEMENTATION_SELECTOR_IMPLEMENTATION_SELECTOR_H_

#include <map>
#include <string>
#include <vector>

#include "lib/pass/rule.h"

namespace grapnel {

// One run over one body.
class Implementations : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "implementation_selector";
  using RuleContext::RuleContext;

  // True if the node's op can call a function at all.
  bool MayCall(const Node& node);
  // The functions that implement an interface, in library order. The library is scanned at the
  // first call, because most bodies have nothing to choose.
  llvm::ArrayRef<const Function*> FunctionsOf(const std::string& interface);

 private:
  std::map<std::string, std::vector<const Function*>> by_interface_;
  llvm::DenseMap<StringId, bool> may_call_;  // by op
};

// A string attribute of the function, or "" if it has none of that name.
std::string TextAttr(const Function& function, const char* key);

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_IMPLEMENTATION_SELECTOR_IMPLEMENTATION_SELECTOR_H_
