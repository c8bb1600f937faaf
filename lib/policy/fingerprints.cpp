#include "lib/policy/fingerprints.h"

#include <map>
#include <optional>

#include "lib/diff/function_match.h"
#include "lib/ir/find.h"

namespace grapnel {
namespace {

class Cones {
 public:
  explicit Cones(const Module& module) : module_(module), view_(module, {}) {}

  // Returns the hash of the computation of the node with this name. If no node has it, but for
  // instance a variable, returns the hash of the name.
  uint64_t Of(const std::string& name) {
    auto node = FindNode(module_, name);
    if (!node) {
      llvm::consumeError(node.takeError());
      return HashText(name);
    }
    const Function* function = FunctionOf(node->graph());
    int32_t body = function ? view_.Find(function->name()) : 0;
    auto [cones, added] = cones_.try_emplace(body);
    if (added) cones->second = HashOfInputs(view_.body(body), view_.labels(body).kind, false).hash;
    return cones->second[view_.body(body).IndexOf(node->id())];
  }

 private:
  const Module& module_;
  const ModuleView view_;
  std::map<int32_t, std::vector<uint64_t>> cones_;  // by body
};

}  // namespace

void AddFingerprints(const Module& module, std::vector<PolicyFinding>* findings) {
  if (findings->empty()) return;
  Cones cones(module);
  std::map<uint64_t, uint64_t> alike;
  for (PolicyFinding& finding : *findings) {
    uint64_t of_node = finding.node.empty() ? HashText(finding.scope) : cones.Of(finding.node);
    uint64_t hash = HashInto(HashText(finding.check), of_node);
    hash = HashInto(hash, alike[hash]++);
    finding.fingerprint = llvm::formatv("{0:x-16}", hash).str();
  }
}

}  // namespace grapnel
