#include "lib/io/layers/layer_outputs.h"

#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True for nodes whose value another layer may read without being a reader of the layer's result: a
// weight that two layers share.
bool IsWeight(const Node& node) {
  return node.op() == "Const" || node.op() == "ReadVariableOp" || node.op() == "VarHandleOp";
}

class Outputs {
 public:
  Outputs(const Draft& draft, const BodyLayers& found, bool shares_scopes)
      : draft_(draft), found_(found), graph_(*found.body->graph), shares_scopes_(shares_scopes) {}

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
      DropMasks(&outputs[layer]);
      if (shares_scopes_) DropEarlierCalls(&outputs[layer]);
    }
    HandOn(&outputs);
    return outputs;
  }

 private:
  // A layer also hands on a mask of what it computed.
  void DropMasks(std::vector<Port>* outputs) const {
    auto is_mask = [&](Port port) { return TypeOfPort(graph_, port) == proto::DT_BOOL; };
    if (!llvm::all_of(*outputs, is_mask)) llvm::erase_if(*outputs, is_mask);
  }

  // Drops the port "dense/BiasAdd" if there is "dense/BiasAdd_1".
  void DropEarlierCalls(std::vector<Port>* outputs) const {
    llvm::erase_if(*outputs, [&](Port port) {
      llvm::StringRef name = graph_.node(port.node).name();
      return llvm::any_of(*outputs, [&](Port later) {
        return later.index == port.index && port.node < later.node &&
               IsNumbered(graph_.node(later.node).name(), WithoutNumber(name));
      });
    });
  }

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
  const bool shares_scopes_;
  // By layer and call. Calls are numbered by their scopes, so the last call has the largest number.
  std::map<int, std::map<int, std::set<Port>>> read_;
};

}  // namespace

std::vector<std::vector<Port>> OutputsOfLayers(const Draft& draft, const BodyLayers& found,
                                               bool shares_scopes) {
  return Outputs(draft, found, shares_scopes).Find();
}

}  // namespace grapnel
