#include "lib/io/layers/layer_outputs.h"

#include <map>
#include <set>

namespace grapnel {
namespace {

// True for nodes whose value another layer may read without being a reader of the layer's result: a
// weight that two layers share.
bool IsWeight(const Node& node) {
  return node.op() == "Const" || node.op() == "ReadVariableOp" || node.op() == "VarHandleOp";
}

class Outputs {
 public:
  Outputs(const Draft& draft, const BodyLayers& found)
      : draft_(draft), found_(found), graph_(*found.body->graph) {}

  std::vector<std::vector<Port>> Find() && {
    for (NodeId id : found_.body->nodes) {
      for (Port port : graph_.node(id).inputs()) {
        if (port.node != kNoNode && !port.IsControl()) Leave(port, found_.of_node[id]);
      }
    }
    for (Port port : found_.body->outputs) {
      if (port.node != kNoNode) Leave(port, -1);
    }
    std::vector<std::vector<Port>> outputs(draft_.layers.size());
    for (const auto& [layer, calls] : read_) {
      const std::set<Port>& last = calls.rbegin()->second;
      outputs[layer].assign(last.begin(), last.end());
    }
    HandOn(&outputs);
    return outputs;
  }

 private:
  // Notes that a node of the layer `reader` reads the port.
  void Leave(Port port, int reader) {
    Node node = graph_.node(port.node);
    if (found_.scopes.Of(port.node) < 0 || IsWeight(node)) return;
    int common = draft_.Common(found_.of_node[port.node], reader);
    for (int layer = found_.of_node[port.node]; layer != common && layer >= 0;
         layer = draft_.layers[layer].parent) {
      auto [itself, call] = draft_.CallOf(found_, draft_.layers[layer].parent, port.node);
      read_[layer][call].insert(port);
    }
  }

  // Sets the outputs of layers whose nodes nothing reads: the first tensor that they read.
  void HandOn(std::vector<std::vector<Port>>* outputs) {
    for (NodeId id : found_.body->nodes) {
      int layer = found_.of_node[id];
      if (layer < 0 || !(*outputs)[layer].empty()) continue;
      Node node = graph_.node(id);
      for (int i = 0; i < node.num_inputs(); ++i) {
        Port port = node.input(i);
        if (port.node == kNoNode || found_.of_node[port.node] == layer ||
            found_.body->handles.count(port) || IsWeight(graph_.node(port.node)))
          continue;
        (*outputs)[layer] = {port};
        break;
      }
    }
  }

  const Draft& draft_;
  const BodyLayers& found_;
  const Graph& graph_;
  // By layer and call. Calls are numbered by their scopes, so the last call has the largest number.
  std::map<int, std::map<int, std::set<Port>>> read_;
};

}  // namespace

std::vector<std::vector<Port>> OutputsOfLayers(const Draft& draft, const BodyLayers& found) {
  return Outputs(draft, found).Find();
}

}  // namespace grapnel
