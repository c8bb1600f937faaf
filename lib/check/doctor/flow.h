// The flow of values in a module, through calls, branches and loops.
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

// Follows data edges only, and merges all calls of a function: what is not connected here is not
// connected. The module is borrowed and must not change. Each list costs as much as its length.
class Flow {
 public:
  // Cost: linear in nodes.
  explicit Flow(const Module& module);

  // Returns the tensors from which `port` is computed: the inputs of its node; for an argument the
  // values of the callers; for a call's output the results of the function (for a loop also its
  // inputs).
  std::vector<BodyPort> Before(const BodyPort& port) const;
  // Returns the outputs that are computed from it.
  std::vector<BodyPort> After(const BodyPort& port) const;
  // Returns the nodes that read it, with the slot; looks through calls.
  std::vector<std::pair<Node, int>> Readers(const BodyPort& port) const;

  // True if a gradient flows from input `slot` of a node to its outputs, for Backward.
  using Passes = bool (*)(const Node& node, int slot);
  // Returns everything from which `ends` are computed, including themselves; `passes`: only through
  // such inputs.
  PortSet Backward(llvm::ArrayRef<BodyPort> ends, Passes passes = nullptr) const;
  // Returns everything computed from `starts`.
  PortSet Forward(llvm::ArrayRef<BodyPort> starts) const;

  // Walks back through nodes that pass their one input on unchanged (Identity, StopGradient, a
  // call); with `reshaped` also through Reshape, Transpose and casts between floating-point types.
  BodyPort Source(BodyPort port, bool reshaped = false) const;
  // The same for input `slot` of a node.
  BodyPort SourceOf(const Node& node, int slot, bool reshaped = false) const;

  const Module& module() const { return module_; }

 private:
  struct Site {
    Node caller;
    int shift;     // offset of the caller's inputs from the function's arguments
    bool is_body;  // of a loop: results come back as arguments
    bool is_cond;  // of a loop: results are not passed on
  };
  struct Signature {
    std::vector<Port> arguments, results;  // results: the port that each reads
    llvm::DenseMap<std::pair<NodeId, int32_t>, int> index_of_argument;
    llvm::DenseMap<std::pair<NodeId, int32_t>, int> index_of_result;  // by _Retval and its slot
    std::vector<Site> sites;
  };
  void AddCalls(const Node& node);
  // True if a loop's body returns its argument unchanged, as it does with variables.
  bool IsInvariant(const Graph& body, const Signature& signature, int index) const;
  const std::vector<std::pair<const Function*, Site>>* CallsOf(const Node& node) const;

  const Module& module_;
  llvm::DenseMap<const Graph*, Signature> signatures_;
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::vector<std::pair<const Function*, Site>>>
      calls_;
};

// False if a gradient cannot flow through the input: comparisons, ArgMax, rounding, integers,
// StopGradient; shapes, indices and conditions of ops that select.
bool PassesGradient(const Node& node, int slot);
// True if outputs depend on the values of input `slot`, not only on its shape.
bool PassesValue(const Node& node, int slot);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DOCTOR_FLOW_H_
