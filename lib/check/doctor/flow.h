// Where values of a module come from and go to, through calls, branches and loops.
#ifndef GRAPNEL_LIB_CHECK_DOCTOR_FLOW_H_
#define GRAPNEL_LIB_CHECK_DOCTOR_FLOW_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// A tensor of a body.
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

// A set of tensors, and of the nodes that make them.
class PortSet {
 public:
  bool Insert(const BodyPort& port);  // false: it was there
  bool Has(const BodyPort& port) const { return ports_.count(port.key()) > 0; }
  bool HasNode(const Node& node) const { return nodes_.count({&node.graph(), node.id()}) > 0; }
  bool empty() const { return ports_.empty(); }

 private:
  llvm::DenseSet<std::pair<const Graph*, uint64_t>> ports_;
  llvm::DenseSet<std::pair<const Graph*, NodeId>> nodes_;
};

// Data edges only, each call of a function taken for all calls of it: what is not connected here is
// not connected. The module is borrowed and must not change. Each list costs what it holds.
class Flow {
 public:
  // Cost: linear in nodes.
  explicit Flow(const Module& module);

  // What the tensor is made of: the inputs of its node; of an argument what the callers give; of a
  // call's output what the function returns (of a loop's what goes in too).
  std::vector<BodyPort> Before(const BodyPort& port) const;
  // The outputs that are made of it.
  std::vector<BodyPort> After(const BodyPort& port) const;
  // Nodes that read it, with the slot; calls are passed through.
  std::vector<std::pair<Node, int>> Readers(const BodyPort& port) const;

  // Whether a gradient goes from input `slot` of a node to its outputs, for Closure.
  using Passes = bool (*)(const Node& node, int slot);
  // All that `ends` are made of, themselves among it; `passes`: only through such inputs.
  PortSet Backward(llvm::ArrayRef<BodyPort> ends, Passes passes = nullptr) const;
  // All that is made of `starts`.
  PortSet Forward(llvm::ArrayRef<BodyPort> starts) const;

  // Back through whatever hands its one input on unchanged (Identity, StopGradient, a call); with
  // `reshaped` through Reshape, Transpose and casts between floating-point numbers too.
  BodyPort Source(BodyPort port, bool reshaped = false) const;
  // The same of input `slot` of a node.
  BodyPort SourceOf(const Node& node, int slot, bool reshaped = false) const;

  const Module& module() const { return module_; }

 private:
  struct Site {
    Node caller;
    int shift;     // of the caller's inputs against the function's arguments
    bool is_body;  // of a loop: results come back as arguments
    bool is_cond;  // of a loop: results go nowhere
  };
  struct Signature {
    std::vector<Port> arguments, results;  // results: what each reads
    llvm::DenseMap<std::pair<NodeId, int32_t>, int> index_of_argument;
    llvm::DenseMap<std::pair<NodeId, int32_t>, int> index_of_result;  // by _Retval and its slot
    std::vector<Site> sites;
  };
  void AddCalls(const Node& node);
  // Whether a loop's body hands its argument back as it was, as it does with variables.
  bool IsInvariant(const Graph& body, const Signature& signature, int index) const;
  const std::vector<std::pair<const Function*, Site>>* CallsOf(const Node& node) const;

  const Module& module_;
  llvm::DenseMap<const Graph*, Signature> signatures_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<std::pair<const Function*, Site>>>
      calls_;
};

// Whether the op makes what it reads into nothing that a gradient could follow: comparisons,
// ArgMax, rounding, integers, StopGradient; shapes, indices and conditions of ops that select.
bool PassesGradient(const Node& node, int slot);
// Whether outputs depend on the values of input `slot`, and not on its shape alone.
bool PassesValue(const Node& node, int slot);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_FLOW_H_
