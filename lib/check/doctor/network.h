// A graph as who trains it sees it: inputs, outputs, losses, layers, variables and what updates
// them.
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
  BodyPort gradient;  // of the loss by the variable, as far as it was found; else none
  BodyPort value;     // what is assigned, added, subtracted, or the gradient
};

struct NetworkVariable {
  BodyPort handle;   // VarHandleOp, VariableV2; a placeholder of a resource in a part of a graph
  std::string name;  // as a session has it
  std::vector<BodyPort> reads;          // its value
  std::vector<VariableUpdate> updates;  // those that run, in order
  std::optional<bool> trainable;        // where the file says so
  bool is_weight = false;               // a layer's, in the forward part
  bool is_bias = false;                 // it is only added
  // The file says so; else it is a layer's or gets a gradient.
  bool IsTrained() const;
};

// A node that multiplies by weights: MatMul, a convolution, an Einsum of two.
struct Layer {
  Node node;
  int input_slot = 0, weight_slot = 1;
  int variable = -1;  // in Network::variables(); -1: a constant, or something computed
  BodyPort weights;   // where its value comes from: a read of the variable, a constant
  BodyPort input;
  BodyPort output() const { return {node, 0}; }
};

// Made of what is fetched and what that needs, functions too. All that it is given is borrowed and
// must not change.
class Network {
 public:
  struct Ends {
    std::vector<BodyPort> feeds;    // tensors that are given, or that a signature takes
    std::vector<BodyPort> fetches;  // of the main graph; none: the whole graph is looked at
    std::vector<BodyPort> losses;   // as a person named them; none: they are looked for
  };
  Network(const GraphInFile& file, const Module& module, Ends ends);

  const Module& module() const { return module_; }
  const Flow& flow() const { return flow_; }
  const Ends& ends() const { return ends_; }
  // Nodes that run, the main graph's first, each body in its order.
  const std::vector<Node>& nodes() const { return nodes_; }
  bool Runs(const Node& node) const { return runs_.HasNode(node); }
  // Those that what is lost is made of; without a loss those that no gradient is before.
  bool IsForward(const Node& node) const;
  // Feeds, placeholders and iterators: what differs from one step to the next.
  const std::vector<BodyPort>& inputs() const { return inputs_; }

  // Scalars that the gradients are of.
  const std::vector<BodyPort>& losses() const { return losses_; }
  bool HasGradients() const { return has_gradients_; }
  // Whether the graph has parts that other signatures run.
  bool IsShared() const { return is_shared_; }
  // Whether weights are updated.
  bool Trains() const { return trains_; }
  const std::vector<NetworkVariable>& variables() const { return variables_; }
  // The one that a tensor is the value of, through casts and the like; -1: none, or several.
  int VariableOf(BodyPort value) const;
  const std::vector<Layer>& layers() const { return layers_; }

  // The constant that a tensor is, through Identity and calls; null: none.
  const Literal* ConstantOf(BodyPort port) const;
  Shape ShapeOf(BodyPort port) const;
  // What adds up to it: through Add, AddN, Identity and casts.
  std::vector<BodyPort> TermsOf(BodyPort sum) const;
  // Layers that a layer's output reaches through biases and functions of single elements alone.
  std::vector<const Layer*> LayersAfter(const Layer& layer) const;
  const Layer* LayerOf(const Node& node) const;
  // Whether a gradient goes from a loss to the variable.
  bool ReachesLoss(const NetworkVariable& variable) const;
  // Whether a layer is made of it.
  bool IsHidden(BodyPort output) const;
  // Whether a normalization by the batch is what an output reaches first.
  bool IsNormalized(BodyPort output) const;
  // A function of single elements that bounds or cuts: Relu, Tanh, Sigmoid...
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
