// The flow of values in a module, through calls, branches and loops.
#ifndef GRAPNEL_LIB_DOCTOR_FLOW_H_
#define GRAPNEL_LIB_DOCTOR_FLOW_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// A tensor of the main graph or of a function's body.
struct BodyPort {
  const Graph* graph = nullptr;
  Port port = {kNoNode, 0};

  BodyPort() = default;
  BodyPort(const Graph& body, Port at) : graph(&body), port(at) {}
  BodyPort(const Node& node, int index)
      : graph(&node.graph()), port{node.id(), static_cast<int32_t>(index)} {}
  explicit operator bool() const { return port.node != kNoNode; }
  bool operator==(const BodyPort& other) const {
    return graph == other.graph && port == other.port;
  }
  bool operator!=(const BodyPort& other) const { return !(*this == other); }
  Node node() const { return {graph, port.node}; }
  std::pair<const Graph*, uint64_t> key() const {
    return {graph, uint64_t{port.node} << 32 | static_cast<uint32_t>(port.index)};
  }
};

// A set of tensors, and of the nodes that compute them.
class PortSet {
 public:
  bool Insert(const BodyPort& port);  // false: already present
  bool Has(const BodyPort& port) const { return ports_.count(port.key()) > 0; }
  bool HasNode(const Node& node) const { return nodes_.count({&node.graph(), node.id()}) > 0; }
  bool empty() const { return ports_.empty(); }

 private:
  llvm::DenseSet<std::pair<const Graph*, uint64_t>> ports_;
  llvm::DenseSet<std::pair<const Graph*, NodeId>> nodes_;
};

// The data edges of a module, across calls, branches and loops; control edges are ignored. All
// calls of a function are merged, so there may be connections here that no single call has, but
// none of PartitionedCall, If, Case, While and calls by name is missing. The module is borrowed and
// must not change. The cost of each list is its length.
class Flow {
 public:
  // Cost: linear in the number of nodes.
  explicit Flow(const Module& module);

  // Returns the tensors from which `port` is directly computed: the inputs of its node. For a
  // function's argument, these are the callers' inputs and, in a loop's body, the result of the
  // previous iteration. For an output of a call, they are the result with its index of each called
  // function and the input that selects a branch; for a loop, also its input and the condition's
  // result. A loop variable that the body returns unchanged comes only from the loop's input.
  std::vector<BodyPort> Before(const BodyPort& port) const;
  // Returns the tensors that are directly computed from `port`.
  std::vector<BodyPort> After(const BodyPort& port) const;
  // Returns the nodes that read `port`, each with the input slot. If a reader is a call or a result
  // of a function, returns instead the nodes that read the argument or the call's output.
  std::vector<std::pair<Node, int>> Readers(const BodyPort& port) const;

  // A predicate for Backward: true if the walk may go from a node's outputs to its input `slot`.
  using Passes = bool (*)(const Node& node, int slot);
  // Returns all tensors from which `ends` are computed, including `ends`. With `passes`, goes only
  // through inputs for which it is true, except through arguments, calls and IdentityN.
  PortSet Backward(llvm::ArrayRef<BodyPort> ends, Passes passes = nullptr) const;
  // Returns all tensors that are computed from `starts`, including `starts`.
  PortSet Forward(llvm::ArrayRef<BodyPort> starts) const;

  // Returns the origin of a tensor: walks back through nodes that forward an input unchanged
  // (Identity, StopGradient, a call); with `reshaped` also through Reshape, Transpose and casts
  // between floating-point dtypes. If several calls of a function pass tensors of one origin, such
  // as the variables of a model whose signatures call one network, that is the argument's origin.
  BodyPort Source(BodyPort port, bool reshaped = false) const;
  // Returns the origin of input `slot` of a node.
  BodyPort SourceOf(const Node& node, int slot, bool reshaped = false) const;

  const Module& module() const { return module_; }

 private:
  struct Site {
    Node caller;
    int shift;     // argument i is the caller's input i + shift
    bool is_body;  // a loop's body: results become arguments of the next iteration
    bool is_cond;  // a loop's condition: results are not outputs of the caller
  };
  struct Signature {
    std::vector<Port> arguments, results;  // results: the ports that the _Retvals read
    llvm::DenseMap<std::pair<NodeId, int32_t>, int> index_of_argument;
    llvm::DenseMap<std::pair<NodeId, int32_t>, int> index_of_result;  // by _Retval and input slot
    std::vector<Site> sites;
  };
  using Sources = llvm::DenseMap<std::pair<const Graph*, uint64_t>, BodyPort>;
  BodyPort Source(BodyPort port, bool reshaped, int depth, Sources* known) const;
  BodyPort CommonSource(llvm::ArrayRef<BodyPort> tensors, bool reshaped, int depth,
                        Sources* known) const;
  void AddCalls(const Node& node);
  // True if a loop's body returns argument `index` unchanged, as it usually does with the handle of
  // a variable.
  bool IsInvariant(const Graph& body, const Signature& signature, int index) const;
  const std::vector<std::pair<const Function*, Site>>* CallsOf(const Node& node) const;

  const Module& module_;
  llvm::DenseMap<const Graph*, Signature> signatures_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<std::pair<const Function*, Site>>>
      calls_;
};

// True if a gradient can flow from a node's outputs to its input `slot`. False for ops such as
// comparisons, ArgMax, rounding, casts to integers, Shape and StopGradient, and for inputs that are
// shapes, indices or the condition of a Select.
bool PassesGradient(const Node& node, int slot);
// True if outputs depend on the values of input `slot`, not only on its shape, as those of Shape or
// ZerosLike do.
bool PassesValue(const Node& node, int slot);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DOCTOR_FLOW_H_
