// Interprets a graph as a neural network: finds its inputs, outputs, losses, layers, variables and
// their updates.
#ifndef GRAPNEL_LIB_DOCTOR_NETWORK_H_
#define GRAPNEL_LIB_DOCTOR_NETWORK_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/doctor/flow.h"
#include "lib/io/open.h"
#include "lib/ir/literal.h"
#include "lib/shape/module_shapes.h"

namespace grapnel {

// An op that changes a variable.
struct VariableUpdate {
  Node node;
  BodyPort gradient;  // gradient of the loss with respect to the variable; empty: not found
  BodyPort value;     // the value assigned, added or subtracted, or the gradient
};

struct NetworkVariable {
  BodyPort handle;              // VarHandleOp, VariableV2, or a placeholder of dtype resource
  std::string name;             // the variable's name in a session
  std::vector<BodyPort> reads;  // tensors that are the variable's value
  std::vector<VariableUpdate> updates;  // the updates that run, in the order of nodes
  std::optional<bool> trainable;        // nullopt: the file does not tell
  bool is_weight = false;  // weights of a layer in the forward pass, or a table that a Gather reads
  bool is_bias = false;    // the value is only added to other tensors
  // Returns `trainable` if it is known; else true if the variable has the weights of a layer or is
  // updated with a gradient.
  bool IsTrained() const;
};

// A node that multiplies by weights: MatMul, a convolution, an Einsum of two operands.
struct WeightedOp {
  Node node;
  int input_slot = 0, weight_slot = 1;
  int variable = -1;  // in Network::variables(); -1: a constant
  BodyPort weights;   // the origin of the weights: a read of the variable, or a constant
  BodyPort input;
  BodyPort output() const { return {node, 0}; }
};

// Analyzes the fetches and the nodes that they need, including those in functions, or the whole
// graph. The file and the module are borrowed and must not change.
class Network {
 public:
  struct Ends {
    std::vector<BodyPort> feeds;    // tensors that are fed, or inputs of a signature
    std::vector<BodyPort> fetches;  // in the main graph; empty: analyzes the whole graph
    std::vector<BodyPort> losses;   // named by the user; empty: Network searches for losses
  };
  Network(const GraphInFile& file, const Module& module, Ends ends);

  const Module& module() const { return module_; }
  const Flow& flow() const { return flow_; }
  const Ends& ends() const { return ends_; }
  // Returns the nodes that run: first those of the main graph, then those of each function, in the
  // order of each body.
  const std::vector<Node>& nodes() const { return nodes_; }
  bool Runs(const Node& node) const { return runs_.HasNode(node); }
  // True if the node belongs to the forward pass: a loss depends on it; or, if there is no loss, it
  // does not depend on a gradient.
  bool IsForward(const Node& node) const;
  // Returns the tensors whose values may differ from step to step: feeds, placeholders, outputs of
  // iterators, of readers and of look-ups in tables.
  const std::vector<BodyPort>& inputs() const { return inputs_; }

  // Returns the losses: named by the user, or found.
  const std::vector<BodyPort>& losses() const { return losses_; }
  bool HasGradients() const { return has_gradients_; }
  // True if several signatures share the graph, so that some nodes belong only to other signatures.
  bool IsShared() const { return is_shared_; }
  // True if the graph updates trained variables.
  bool Trains() const { return trains_; }
  const std::vector<NetworkVariable>& variables() const { return variables_; }
  // Returns the index of the variable whose value a tensor is, possibly cast or reshaped; -1 if it
  // is not the value of a variable.
  int VariableOf(BodyPort value) const;
  const std::vector<WeightedOp>& weighted_ops() const { return weighted_ops_; }

  // Returns the constant that a tensor is, looking through Identity and calls; null if it is not a
  // constant, or cannot be read.
  const Literal* ConstantOf(BodyPort port) const;
  Shape ShapeOf(BodyPort port) const;
  // Returns the terms of a sum, looking through Add, AddN, Identity, casts and reshapes.
  std::vector<BodyPort> TermsOf(BodyPort sum) const;
  // Returns the next layers: those that a layer's output reaches only through biases, activations,
  // reshapes and pooling.
  std::vector<const WeightedOp*> WeightedOpsAfter(const WeightedOp& layer) const;
  const WeightedOp* WeightedOpOf(const Node& node) const;
  // True if the gradient of a loss can flow to the variable.
  bool ReachesLoss(const NetworkVariable& variable) const;
  // True if a layer depends on the tensor.
  bool IsHidden(BodyPort output) const;
  // True if a batch normalization, or a part of one, reads `output` directly or through additions
  // and reshapes.
  bool IsNormalized(BodyPort output) const;
  // True for elementwise nonlinearities: Relu, Tanh, Sigmoid...
  static bool IsActivation(llvm::StringRef op);

 private:
  void FindWhatRuns();
  void FindInputs();
  void FindVariables(const GraphInFile& file);
  void AddUpdate(const Node& node, int variable);
  BodyPort GradientBefore(BodyPort value) const;
  void FindLosses();
  void FindWeightedOps();
  std::optional<WeightedOp> WeightedOpAt(const Node& node, int weight_slot, int input_slot) const;
  void FindGradientsOfWeightedOps();
  bool IsOnlyAdded(const NetworkVariable& variable) const;
  int HandleOf(BodyPort resource) const;
  int AddVariable(const BodyPort& handle);

  const Module& module_;
  Ends ends_;
  Flow flow_;
  std::unique_ptr<ModuleShapes> shapes_;
  std::vector<Node> nodes_;
  PortSet runs_, forward_, differentiable_, before_weighted_ops_, after_gradients_;
  std::vector<BodyPort> inputs_, losses_;
  bool has_gradients_ = false, trains_ = false, is_shared_ = false;
  std::vector<NetworkVariable> variables_;
  llvm::DenseMap<std::pair<const Graph*, uint64_t>, int> variable_of_handle_, variable_of_read_;
  std::vector<WeightedOp> weighted_ops_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, size_t> weighted_op_of_node_;
  mutable llvm::DenseMap<std::pair<const Graph*, NodeId>, std::unique_ptr<Literal>> literals_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_NETWORK_H_
