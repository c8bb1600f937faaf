// A graph as a neural network: inputs, outputs, losses, layers, variables and their updates.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_NETWORK_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_NETWORK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/check/doctor/flow.h"
#include "lib/io/open.h"
#include "lib/ir/literal.h"
#include "lib/shape/module_shapes.h"

namespace grapnel {

// An op that changes a variable.
struct VariableUpdate {
  Node node;
  BodyPort gradient;  // of the loss by the variable, if it was found; else empty
  BodyPort value;     // the value assigned, added or subtracted, or the gradient
};

struct NetworkVariable {
  BodyPort handle;   // VarHandleOp, VariableV2; a resource placeholder in a part of a graph
  std::string name;  // as in a session
  std::vector<BodyPort> reads;          // its values
  std::vector<VariableUpdate> updates;  // those that run, in order
  std::optional<bool> trainable;        // if the file has it
  bool is_weight = false;               // the weight of a layer in the forward part
  bool is_bias = false;                 // it is only added
  // True if the file says so; else if it is a layer's or gets a gradient.
  bool IsTrained() const;
};

// A node that multiplies by weights: MatMul, a convolution, an Einsum of two operands.
struct Layer {
  Node node;
  int input_slot = 0, weight_slot = 1;
  int variable = -1;  // in Network::variables(); -1: a constant or a computed value
  BodyPort weights;   // the origin of its value: a read of the variable, a constant
  BodyPort input;
  BodyPort output() const { return {node, 0}; }
};

// Analyzes the fetches and the nodes that they need, including functions. All arguments are
// borrowed and must not change.
class Network {
 public:
  struct Ends {
    std::vector<BodyPort> feeds;    // tensors that are fed, or that a signature takes
    std::vector<BodyPort> fetches;  // of the main graph; empty: analyzes the whole graph
    std::vector<BodyPort> losses;   // named by the user; empty: searches for them
  };
  Network(const GraphInFile& file, const Module& module, Ends ends);

  const Module& module() const { return module_; }
  const Flow& flow() const { return flow_; }
  const Ends& ends() const { return ends_; }
  // The nodes that run, those of the main graph first, each body in its order.
  const std::vector<Node>& nodes() const { return nodes_; }
  bool Runs(const Node& node) const { return runs_.HasNode(node); }
  // True if the losses depend on the node; without a loss, if no gradient precedes it.
  bool IsForward(const Node& node) const;
  // Feeds, placeholders and iterators: the values that differ from step to step.
  const std::vector<BodyPort>& inputs() const { return inputs_; }

  // The scalars whose gradients the graph computes.
  const std::vector<BodyPort>& losses() const { return losses_; }
  bool HasGradients() const { return has_gradients_; }
  // True if the graph has parts that other signatures run.
  bool IsShared() const { return is_shared_; }
  // True if weights are updated.
  bool Trains() const { return trains_; }
  const std::vector<NetworkVariable>& variables() const { return variables_; }
  // The variable of which a tensor is the value, through casts and the like; -1: not one variable.
  int VariableOf(BodyPort value) const;
  const std::vector<Layer>& layers() const { return layers_; }

  // The constant value of a tensor, through Identity and calls; null if it is not constant.
  const Literal* ConstantOf(BodyPort port) const;
  Shape ShapeOf(BodyPort port) const;
  // The terms of a sum: through Add, AddN, Identity and casts.
  std::vector<BodyPort> TermsOf(BodyPort sum) const;
  // The layers that a layer's output reaches only through biases and elementwise functions.
  std::vector<const Layer*> LayersAfter(const Layer& layer) const;
  const Layer* LayerOf(const Node& node) const;
  // True if a gradient flows from a loss to the variable.
  bool ReachesLoss(const NetworkVariable& variable) const;
  // True if a layer depends on it.
  bool IsHidden(BodyPort output) const;
  // True if an output reaches a batch normalization first.
  bool IsNormalized(BodyPort output) const;
  // True for an elementwise function that bounds or cuts: Relu, Tanh, Sigmoid...
  static bool IsActivation(llvm::StringRef op);

 private:
  void FindWhatRuns();
  void FindInputs();
  void FindVariables(const GraphInFile& file);
  void AddUpdate(const Node& node, int variable);
  BodyPort GradientBefore(BodyPort value) const;
  void FindLosses();
  void FindLayers();
  std::optional<Layer> LayerAt(const Node& node, int weight_slot, int input_slot) const;
  void FindGradientsOfLayers();
  bool IsOnlyAdded(const NetworkVariable& variable) const;
  int HandleOf(BodyPort resource) const;
  int AddVariable(const BodyPort& handle);

  const Module& module_;
  Ends ends_;
  Flow flow_;
  std::unique_ptr<ModuleShapes> shapes_;
  std::vector<Node> nodes_;
  PortSet runs_, forward_, differentiable_, before_layers_, after_gradients_;
  std::vector<BodyPort> inputs_, losses_;
  bool has_gradients_ = false, trains_ = false, is_shared_ = false;
  std::vector<NetworkVariable> variables_;
  llvm::DenseMap<std::pair<const Graph*, uint64_t>, int> variable_of_handle_, variable_of_read_;
  std::vector<Layer> layers_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, size_t> layer_of_node_;
  mutable llvm::DenseMap<std::pair<const Graph*, NodeId>, std::unique_ptr<Literal>> literals_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_NETWORK_H_
