// Finds the layers of an opened graph by name, and the layers of its nodes.
#ifndef GRAPNEL_LIB_JOB_LAYER_FINDER_H_
#define GRAPNEL_LIB_JOB_LAYER_FINDER_H_

#include <string>
#include <vector>

#include "lib/io/layers/layers.h"
#include "lib/job/opened_graph.h"

namespace grapnel {

class LayerFinder {
 public:
  // The layers of the file. `network`: the function of the file whose nodes are in the main graph
  // of `opened.module()`, perhaps as inlined; empty: there is none.
  LayerFinder(const OpenedGraph& opened, std::string network);

  const LayerTable& table() const { return table_; }
  // Returns the layer with this path ("encoder/conv"); without one, the layers whose path ends with
  // these whole parts.
  std::vector<int> Named(llvm::StringRef name) const;
  // Returns the layer of a node of the module; -1 if it belongs to none.
  int LayerOf(const Node& node) const;
  // Returns the nodes of a layer, and of the layers in it.
  std::vector<Node> NodesOf(int layer) const;
  // Returns the tensors that a layer computes for others. Of a layer that is called several times,
  // those of all calls.
  std::vector<std::pair<const Graph*, Port>> OutputsOf(int layer) const;

 private:
  Node Find(const LayerOutput& output) const;

  const Module& module_;
  const std::string network_;
  LayerTable table_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_LAYER_FINDER_H_
