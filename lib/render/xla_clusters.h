// Finds the nodes that XLA compiles together, from their attributes.
#ifndef GRAPNEL_LIB_RENDER_XLA_CLUSTERS_H_
#define GRAPNEL_LIB_RENDER_XLA_CLUSTERS_H_

#include <string>

#include "lib/ir/module.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// The XLA cluster of each node. A node's own attribute `_XlaCluster` (auto-clustering) or
// `_xla_compile_id` names its cluster. A function is compiled as a whole, with all functions it
// calls, if its own attributes or a call of it have `_XlaMustCompile` or `_XlaCompiledKernel`: the
// call and the bodies are in cluster "function NAME".
class XlaClusters {
 public:
  // Takes time linear in the module, which must outlive this object.
  explicit XlaClusters(const Module& module);
  // Returns the name of the node's cluster; empty if no attribute says that XLA compiles the node.
  std::string Of(const Node& node) const;
  // True if XLA compiles no node.
  bool empty() const { return !named_ && of_body_.empty(); }

 private:
  void Compile(const Function& function, const std::string& cluster);

  const Module& module_;
  llvm::DenseMap<const Graph*, std::string> of_body_;
  bool named_ = false;  // some node has _XlaCluster or _xla_compile_id
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_XLA_CLUSTERS_H_
