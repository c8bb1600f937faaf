#include "lib/ir/shared_scope.h"

#include <algorithm>

#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

class Shared {
 public:
  void Add(llvm::StringRef name) {
    size_t at = name.rfind('/');
    if (at == llvm::StringRef::npos) return;
    llvm::StringRef scope = name.take_front(at + 1);
    if (count_++ == 0) {
      scope_ = scope.str();
      return;
    }
    size_t most = std::min(scope_.size(), scope.size());
    size_t same =
        std::mismatch(scope_.begin(), scope_.begin() + most, scope.begin()).first - scope_.begin();
    scope_.resize(llvm::StringRef(scope_).take_front(same).rfind('/') + 1);  // npos + 1 is 0
  }

  std::string scope() const { return count_ > 1 ? scope_ : ""; }

 private:
  std::string scope_;
  int count_ = 0;
};

}  // namespace

std::string SharedScope(llvm::ArrayRef<std::string> names) {
  Shared shared;
  for (const std::string& name : names) shared.Add(name);
  return shared.scope();
}

std::string SharedScope(const Graph& graph) {
  Shared shared;
  for (Node node : graph.nodes())
    if (!IsVariable(node)) shared.Add(node.name());
  return shared.scope();
}

}  // namespace grapnel
