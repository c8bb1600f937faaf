#include "lib/ir/node_selection.h"

#include "lib/ir/name_parts.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

bool NodeSelection::Has(llvm::StringRef name) const {
  if (names_.count(name.str()) != 0) return true;
  if (llvm::any_of(scopes_, [&](const std::string& scope) { return IsInScope(name, scope); }))
    return true;
  if (!end_.empty() && EndsWithParts(name, end_)) return true;
  return glob_ && AnyEnd(name, [&](llvm::StringRef end) { return glob_->Fits(end); });
}

bool NodeSelection::Has(const Node& node) const {
  std::string name = NameWithFunction(node);
  return function_names_.count(name) != 0 || Has(name);
}

std::string NameWithFunction(const Node& node) {
  const Function* function = FunctionOf(node.graph());
  return (function ? function->name() + "/" + node.name() : node.name()).str();
}

}  // namespace grapnel
