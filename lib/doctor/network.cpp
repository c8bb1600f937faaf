#include "lib/doctor/network.h"

#include "lib/io/saved_variables.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// True for ops of optimizers: ResourceApplyAdam, ApplyMomentum, ResourceSparseApplyFtrl.
bool AppliesGradient(llvm::StringRef op) {
  return HasPrefix(op, "ResourceApply") || HasPrefix(op, "ResourceSparseApply") ||
         HasPrefix(op, "Apply") || HasPrefix(op, "SparseApply");
}

bool AssignsVariable(llvm::StringRef op) {
  static const llvm::StringSet<> kOps = {"AssignVariableOp",
                                         "AssignAddVariableOp",
                                         "AssignSubVariableOp",
                                         "Assign",
                                         "AssignAdd",
                                         "AssignSub",
                                         "ResourceScatterSub",
                                         "ResourceScatterAdd",
                                         "ResourceScatterUpdate",
                                         "ScatterSub",
                                         "ScatterAdd",
                                         "ScatterUpdate"};
  return kOps.contains(op);
}

// True for ops that occur only in the computation of gradients.
bool IsGradientOp(llvm::StringRef op) {
  return HasSuffix(op, "Grad") || HasSuffix(op, "GradV2") || HasSuffix(op, "GradV3") ||
         op.contains("BackpropFilter");
}

bool IsIterator(llvm::StringRef op) {
  return HasPrefix(op, "IteratorGetNext") || HasPrefix(op, "QueueDequeue") || op == "ReaderRead" ||
         op == "ReaderReadV2" || op == "ReadFile" || op == "LookupTableFindV2";
}

bool IsElementwise(llvm::StringRef op) {
  static const llvm::StringSet<> kOps = {
      "Mul",   "Sub",  "Add",    "AddV2", "Neg",     "RealDiv", "Div",      "Square", "Sqrt",
      "Rsqrt", "AddN", "Select", "Cast",  "Maximum", "Minimum", "SelectV2", "Pow"};
  return kOps.contains(op);
}

bool MultipliesByWeights(llvm::StringRef op) {
  static const llvm::StringSet<> kOps = {
      "MatMul", "BatchMatMul",           "BatchMatMulV2",       "BatchMatMulV3", "Conv2D",
      "Conv3D", "DepthwiseConv2dNative", "Conv2DBackpropInput", "Einsum"};
  return kOps.contains(op);
}

}  // namespace

bool NetworkVariable::IsTrained() const {
  if (trainable) return *trainable;
  return is_weight || llvm::any_of(updates, [](const VariableUpdate& u) {
           return AppliesGradient(u.node.op());
         });
}

Network::Network(const GraphInFile& file, const Module& module, Ends ends)
    : module_(module),
      ends_(std::move(ends)),
      flow_(module),
      shapes_(std::make_unique<ModuleShapes>(module)) {
  is_shared_ = file.signatures.size() > 1;
  FindWhatRuns();
  FindInputs();
  FindVariables(file);
  FindLosses();
  FindWeightedOps();
  for (NetworkVariable& variable : variables_) {
    variable.is_bias = IsOnlyAdded(variable);
    trains_ |= !variable.updates.empty() && variable.IsTrained();
  }
}

// Finds the nodes that run: follows data and control edges back from the fetches, and includes all
// nodes of called functions.
void Network::FindWhatRuns() {
  llvm::DenseSet<const Graph*> bodies;
  std::vector<const Graph*> called;
  auto call = [&](const Node& node) {
    auto take = [&](llvm::StringRef name) {
      const Function* function = module_.FindFunction(name);
      if (function && bodies.insert(&function->body).second) called.push_back(&function->body);
    };
    if (!MayCallFunctions(node) && !module_.FindFunction(node.op())) return;
    for (llvm::StringRef name : CalledFunctions(node)) take(name);
  };
  std::vector<bool> needed(module_.main.end_id(), ends_.fetches.empty());
  std::vector<NodeId> open;
  auto need = [&](NodeId id) {
    if (id == kNoNode || needed[id]) return;
    needed[id] = true;
    open.push_back(id);
  };
  llvm::DenseSet<NodeId> fed;
  for (const BodyPort& feed : ends_.feeds) fed.insert(feed.port.node);
  for (const BodyPort& fetch : ends_.fetches) need(fetch.port.node);
  while (!open.empty()) {
    NodeId id = open.back();
    open.pop_back();
    if (fed.count(id)) continue;
    for (Port input : module_.main.node(id).inputs()) need(input.node);
  }
  auto add = [&](const Node& node) {
    nodes_.push_back(node);
    runs_.Insert({node, 0});
    call(node);
  };
  for (Node node : module_.main.nodes()) {
    if (needed[node.id()]) add(node);
  }
  for (size_t i = 0; i < called.size(); ++i) {
    for (Node node : called[i]->nodes()) add(node);
  }
}

void Network::FindInputs() {
  PortSet fed;
  for (const BodyPort& feed : ends_.feeds) {
    fed.Insert(feed);
    inputs_.push_back(feed);
  }
  for (const Node& node : nodes_) {
    llvm::StringRef op = node.op();
    bool is_resource = node.GetType("dtype") == proto::DT_RESOURCE;
    if (HasPrefix(op, "Placeholder") && &node.graph() == &module_.main && !fed.HasNode(node)) {
      if (!is_resource) inputs_.emplace_back(node, 0);
    }
    int outputs = IsIterator(op) ? NumOutputs(node) : 0;
    for (int i = 0; i < outputs; ++i) inputs_.emplace_back(node, i);
    has_gradients_ |= IsGradientOp(op);
    has_gradients_ |= HasSuffix(op, "SoftmaxCrossEntropyWithLogits") && !node.UsesOf(1).empty();
    if (IsGradientOp(op)) {
      for (int i = 0; i < NumOutputs(node); ++i) after_gradients_.Insert({node, i});
    }
  }
}

int Network::HandleOf(BodyPort resource) const {
  BodyPort source = flow_.Source(resource);
  auto found = variable_of_handle_.find(source.key());
  return found == variable_of_handle_.end() ? -1 : found->second;
}

int Network::AddVariable(const BodyPort& handle) {
  NetworkVariable variable;
  variable.handle = handle;
  variable.name = NameOfVariable(handle.node());
  int index = static_cast<int>(variables_.size());
  variable_of_handle_[handle.key()] = index;
  if (handle.node().op() == "VariableV2" || handle.node().op() == "Variable") {
    variable.reads.push_back(handle);
    variable_of_read_[handle.key()] = index;
  }
  variables_.push_back(std::move(variable));
  return index;
}

void Network::FindVariables(const GraphInFile& file) {
  for (const Node& node : nodes_) {
    bool is_part = node.op() == "Placeholder" && node.GetType("dtype") == proto::DT_RESOURCE;
    if (IsVariable(node) || is_part) AddVariable({node, 0});
  }
  for (const SavedVariable& saved : VariablesOf(file)) {
    auto found = variable_of_handle_.find(BodyPort(module_.main, {saved.node, 0}).key());
    if (found == variable_of_handle_.end()) continue;
    variables_[found->second].trainable = saved.trainable;
    variables_[found->second].name = saved.name;
  }
  for (const Node& node : nodes_) {
    if (node.op() != "ReadVariableOp" && node.op() != "ResourceGather") continue;
    int variable = node.num_inputs() > 0 ? HandleOf({node.graph(), node.input(0)}) : -1;
    if (variable < 0) continue;
    variables_[variable].reads.emplace_back(node, 0);
    if (node.op() == "ReadVariableOp") variable_of_read_[BodyPort(node, 0).key()] = variable;
  }
  for (const Node& node : nodes_) {
    if (!AppliesGradient(node.op()) && !AssignsVariable(node.op())) continue;
    int variable = node.num_inputs() > 0 ? HandleOf({node.graph(), node.input(0)}) : -1;
    if (variable >= 0) AddUpdate(node, variable);
  }
}

void Network::AddUpdate(const Node& node, int variable) {
  VariableUpdate update;
  update.node = node;
  int slot = node.num_inputs() - 1;
  if (const OpInfo* info = DefinitionOf(node); info && AppliesGradient(node.op())) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      llvm::StringRef argument = ArgumentOfInput(node, *info, i);
      if (argument == "grad" || argument == "delta") slot = i;
    }
  }
  if (slot > 0 && node.input(slot).node != kNoNode) {
    update.value = {node.graph(), node.input(slot)};
    update.gradient =
        AppliesGradient(node.op()) ? flow_.Source(update.value) : GradientBefore(update.value);
  }
  variables_[variable].updates.push_back(update);
}

// Finds the gradient in an optimizer that consists of elementwise ops: walks back from the
// subtracted value through elementwise ops, ignoring constants and variables. Returns the only
// other tensor that it finds, such as the output of a MatMul or BiasAddGrad; empty if there is none
// or more than one.
BodyPort Network::GradientBefore(BodyPort value) const {
  PortSet seen;
  std::vector<BodyPort> open = {value}, found;
  while (!open.empty()) {
    BodyPort at = flow_.Source(open.back(), true);
    open.pop_back();
    if (!at || !seen.Insert(at)) continue;
    Node node = at.node();
    llvm::StringRef op = node.op();
    if (op == "Const" || op == "ReadVariableOp" || HasPrefix(op, "Placeholder") ||
        IsVariable(node) || op == "_Arg")
      continue;
    if (IsElementwise(op)) {
      llvm::append_range(open, flow_.Before(at));
    } else {
      found.push_back(at);
    }
  }
  return found.size() == 1 ? found[0] : BodyPort();
}

// Finds the losses, unless the user named them: fetched scalars from which a gradient can flow to a
// variable, or to an input if the graph computes gradients.
void Network::FindLosses() {
  losses_ = ends_.losses;
  std::vector<BodyPort> starts = inputs_;
  for (const NetworkVariable& variable : variables_) llvm::append_range(starts, variable.reads);
  PortSet made = flow_.Forward(starts);
  constexpr int kMostTried = 256;  // fetches to try: each costs a walk over the graph
  int tried = 0;
  for (const BodyPort& fetch : ends_.fetches) {
    if (!ends_.losses.empty() || tried == kMostTried) break;
    BodyPort source = flow_.Source(fetch);
    Shape shape = ShapeOf(source);
    bool is_scalar = shape.known_rank() && shape.NumElements() == 1;
    if (!IsFloating(TypeOfPort(*source.graph, source.port)) || !is_scalar) continue;
    if (!made.Has(source) || llvm::is_contained(losses_, source)) continue;
    ++tried;
    PortSet before = flow_.Backward({source}, PassesGradient);
    bool has_variable = llvm::any_of(variables_, [&](const NetworkVariable& variable) {
      return llvm::any_of(variable.reads, [&](const BodyPort& read) { return before.Has(read); });
    });
    bool has_input = llvm::any_of(
        inputs_, [&](const BodyPort& input) { return before.Has(flow_.Source(input)); });
    if (has_variable || (has_input && has_gradients_)) losses_.push_back(source);
  }
  if (losses_.empty()) return;
  forward_ = flow_.Backward(losses_);
  differentiable_ = flow_.Backward(losses_, PassesGradient);
}

bool Network::IsForward(const Node& node) const {
  if (!losses_.empty()) return forward_.HasNode(node);
  return !has_gradients_ || !after_gradients_.HasNode(node);
}

std::optional<WeightedOp> Network::WeightedOpAt(const Node& node, int weight_slot,
                                                int input_slot) const {
  WeightedOp layer;
  layer.node = node;
  layer.weight_slot = weight_slot;
  layer.input_slot = input_slot;
  layer.weights = flow_.SourceOf(node, weight_slot, true);
  layer.input = flow_.SourceOf(node, input_slot, true);
  layer.variable = VariableOf(layer.weights);
  if (layer.variable < 0 && !ConstantOf(layer.weights)) return std::nullopt;
  return layer;
}

void Network::FindWeightedOps() {
  if (losses_.empty() && has_gradients_) {
    // Extends after_gradients_ to all nodes that depend on a gradient, so that they are not taken
    // for layers.
    std::vector<BodyPort> gradients;
    for (const Node& node : nodes_) {
      if (!after_gradients_.HasNode(node)) continue;
      for (int i = 0; i < NumOutputs(node); ++i) gradients.emplace_back(node, i);
    }
    after_gradients_ = flow_.Forward(gradients);
  }
  for (const Node& node : nodes_) {
    if (!MultipliesByWeights(node.op()) || node.num_inputs() < 2 || !IsForward(node)) continue;
    std::optional<WeightedOp> layer =
        WeightedOpAt(node, 1, node.op() == "Conv2DBackpropInput" ? 2 : 0);
    // Either input of an Einsum may be the weights.
    if (!layer && node.op() == "Einsum" && node.num_inputs() == 2) layer = WeightedOpAt(node, 0, 1);
    if (!layer) continue;
    if (layer->variable >= 0) variables_[layer->variable].is_weight = true;
    weighted_op_of_node_[{&node.graph(), node.id()}] = weighted_ops_.size();
    weighted_ops_.push_back(*layer);
  }
  FindGradientsOfWeightedOps();
  std::vector<BodyPort> read;
  for (const WeightedOp& layer : weighted_ops_) {
    if (layer.input_slot < layer.node.num_inputs())
      read.emplace_back(layer.node.graph(), layer.node.input(layer.input_slot));
  }
  before_weighted_ops_ = flow_.Backward(read);
  for (const Node& node : nodes_) {
    if (node.op() != "GatherV2" && node.op() != "Gather") continue;
    int variable = IsForward(node) ? VariableOf(flow_.SourceOf(node, 0, true)) : -1;
    if (variable >= 0) variables_[variable].is_weight = true;
  }
}

// Finds gradients that do not reach the update directly, because the optimizer first stores them in
// variables of its own: a product of a layer's input and another tensor, with the shape of the
// layer's weights, is the gradient of these weights.
void Network::FindGradientsOfWeightedOps() {
  llvm::DenseMap<std::pair<const Graph*, uint64_t>, int> layer_of_input;
  for (const WeightedOp& layer : weighted_ops_) {
    if (layer.variable >= 0 && !variables_[layer.variable].updates.empty() &&
        !variables_[layer.variable].updates[0].gradient)
      layer_of_input[layer.input.key()] = layer.variable;
  }
  for (const Node& node : nodes_) {
    bool is_product = (node.op() == "MatMul" || node.op() == "Einsum") && !WeightedOpOf(node);
    if ((!is_product && !node.op().contains("BackpropFilter")) || node.num_inputs() < 2) continue;
    for (int slot : {0, 1}) {
      auto found = layer_of_input.find(flow_.SourceOf(node, slot, true).key());
      if (found == layer_of_input.end()) continue;
      NetworkVariable& variable = variables_[found->second];
      Shape wanted = ShapeOf(variable.reads.empty() ? BodyPort() : variable.reads[0]);
      if (!variable.updates[0].gradient && wanted.IsFullyKnown() && wanted == ShapeOf({node, 0}))
        variable.updates[0].gradient = {node, 0};
    }
  }
}

bool Network::IsOnlyAdded(const NetworkVariable& variable) const {
  bool is_added = false;
  std::vector<BodyPort> open = variable.reads;
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : flow_.Readers(at)) {
      if (!IsForward(reader)) continue;
      llvm::StringRef op = reader.op();
      bool adds = op == "BiasAdd" || op == "Add" || op == "AddV2";
      bool hands_on = op == "Identity" || op == "Reshape" || op == "Cast" || op == "ExpandDims";
      if (!adds && !hands_on) return false;
      is_added |= adds;
      BodyPort made(reader, 0);
      if (hands_on && seen.Insert(made)) open.push_back(made);
    }
  }
  return is_added;
}

// Searches for the variable's handle, since `variable.reads` lacks reads in functions that several
// nodes call: for these, it is not known which variable they read.
bool Network::ReachesLoss(const NetworkVariable& variable) const {
  return differentiable_.Has(variable.handle);
}

bool Network::IsHidden(BodyPort output) const { return before_weighted_ops_.Has(output); }

const WeightedOp* Network::WeightedOpOf(const Node& node) const {
  auto found = weighted_op_of_node_.find({&node.graph(), node.id()});
  return found == weighted_op_of_node_.end() ? nullptr : &weighted_ops_[found->second];
}

int Network::VariableOf(BodyPort value) const {
  value = flow_.Source(value, true);
  auto found = variable_of_read_.find(value.key());
  return found == variable_of_read_.end() ? -1 : found->second;
}

const Literal* Network::ConstantOf(BodyPort port) const {
  port = flow_.Source(port);
  if (!port || port.node().op() != "Const") return nullptr;
  auto [found, is_new] = literals_.try_emplace({port.graph, port.port.node});
  if (is_new) {
    auto literal = Literal::FromConst(port.node());
    if (literal)
      found->second = std::make_unique<Literal>(*literal);
    else
      llvm::consumeError(literal.takeError());
  }
  return found->second.get();
}

Shape Network::ShapeOf(BodyPort port) const {
  return port ? shapes_->Of(*port.graph).OfPort(port.port) : Shape();
}

std::vector<BodyPort> Network::TermsOf(BodyPort sum) const {
  std::vector<BodyPort> terms, open = {sum};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = flow_.Source(open.back(), true);
    open.pop_back();
    if (!at || !seen.Insert(at)) continue;
    llvm::StringRef op = at.node().op();
    if (op == "Add" || op == "AddV2" || op == "AddN" || op == "AccumulateNV2") {
      std::vector<BodyPort> parts = flow_.Before(at);
      open.insert(open.end(), parts.rbegin(), parts.rend());
    } else {
      terms.push_back(at);
    }
  }
  return terms;
}

bool Network::IsActivation(llvm::StringRef op) {
  static const llvm::StringSet<> kOps = {"Relu", "Relu6",   "LeakyRelu", "Elu",     "Selu",
                                         "Tanh", "Sigmoid", "Softplus",  "Softsign"};
  return kOps.contains(op);
}

std::vector<const WeightedOp*> Network::WeightedOpsAfter(const WeightedOp& layer) const {
  std::vector<const WeightedOp*> after;
  std::vector<BodyPort> open = {layer.output()};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : flow_.Readers(at)) {
      if (const WeightedOp* next = WeightedOpOf(reader)) {
        if (slot == next->input_slot && !llvm::is_contained(after, next)) after.push_back(next);
        continue;
      }
      llvm::StringRef op = reader.op();
      bool adds = op == "BiasAdd" || op == "Add" || op == "AddV2";
      BodyPort other = adds ? flow_.SourceOf(reader, 1 - slot, true) : BodyPort();
      bool adds_bias = adds && (VariableOf(other) >= 0 || ConstantOf(other));
      bool hands_on = op == "Identity" || op == "Reshape" || op == "Squeeze" || op == "Cast" ||
                      op == "ExpandDims" || op == "MaxPool" || op == "AvgPool";
      BodyPort made(reader, 0);
      if ((adds_bias || IsActivation(op) || (hands_on && slot == 0)) && seen.Insert(made))
        open.push_back(made);
    }
  }
  return after;
}

bool Network::IsNormalized(BodyPort output) const {
  std::vector<BodyPort> open = {output};
  PortSet seen;
  while (!open.empty()) {
    BodyPort at = open.back();
    open.pop_back();
    for (const auto& [reader, slot] : flow_.Readers(at)) {
      llvm::StringRef op = reader.op();
      if (HasPrefix(op, "FusedBatchNorm") || op == "SquaredDifference" || op == "Rsqrt")
        return true;
      bool goes_on = op == "BiasAdd" || op == "Add" || op == "AddV2" || op == "Reshape" ||
                     op == "Identity" || op == "Squeeze" || op == "ExpandDims" || op == "Cast";
      BodyPort made(reader, 0);
      if (goes_on && seen.Insert(made)) open.push_back(made);
    }
  }
  return false;
}

}  // namespace grapnel
