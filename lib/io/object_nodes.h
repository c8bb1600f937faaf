// Finds the nodes of a SavedModel's main graph that stand for its objects.
#ifndef GRAPNEL_LIB_IO_OBJECT_NODES_H_
#define GRAPNEL_LIB_IO_OBJECT_NODES_H_

#include "lib/io/open.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

namespace proto {
class SavedObjectGraph;
}

class ObjectNodes {
 public:
  // Linear in the main graph and the objects. Both must outlive this object.
  ObjectNodes(const GraphInFile& graph, const proto::SavedObjectGraph& saved);
  // Returns the output of the main graph that has the value of an object, an index in
  // SavedObjectGraph.nodes: what a call passes for it; else the handle of the variable or table,
  // the constant, or the handle of the variable that holds an asset's path. The node is kNoNode if
  // the main graph has none.
  Port Of(int object) const;

 private:
  void AddVariables();
  void AddConstant(int object);
  void AddAsset(int object);
  void AddTable(int object);
  void Add(int object, Port port) {
    if (port.node != kNoNode) ports_.try_emplace(object, port);
  }

  const GraphInFile& graph_;
  const proto::SavedObjectGraph& saved_;
  llvm::DenseMap<int, Port> ports_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_OBJECT_NODES_H_
