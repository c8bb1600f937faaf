#include "lib/library/body_hash.h"

#include "lib/ir/node_types.h"
#include "lib/proto/attr_value.pb.h"
#include "lib/support/hash.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {
namespace {

class Hasher {
 public:
  explicit Hasher(const Module& module) : module_(module) {}

  uint64_t Of(const Function& function, int depth = 0) {
    constexpr int kDeepest = 256;
    auto [it, is_new] = of_function_.try_emplace(&function, kInProgress);
    if (!is_new) return it->second;
    if (depth == kDeepest) return kInProgress;
    uint64_t hash = OfBody(function, depth);
    return of_function_[&function] = hash;
  }

 private:
  static constexpr uint64_t kInProgress = 5, kNoInput = 7;

  uint64_t OfBody(const Function& function, int depth) {
    const Graph& graph = function.body;
    std::vector<uint64_t> hashes(graph.end_id(), kNoInput);
    for (Node node : graph.nodes()) hashes[node.id()] = OfLabel(node, depth);
    std::vector<uint64_t> labels = hashes;
    std::vector<NodeId> order = TopologicalOrder(graph);
    for (Node node : graph.nodes(order))
      hashes[node.id()] = WithInputs(node, labels[node.id()], hashes);
    uint64_t sum = 0;
    for (Node node : graph.nodes()) {
      sum += MixHash(hashes[node.id()], 1);
      if (node.op() != "Merge") continue;  // the hashes of its back edges were not available
      for (const Port& port : node.inputs())
        if (port.node != kNoNode) sum += MixHash(hashes[port.node], hashes[node.id()]);
    }
    for (const auto& result : function.results) sum = MixHash(sum, hashes[result.node]);
    uint64_t controls = 0;
    for (const auto& [name, node] : function.control_results) controls += MixHash(hashes[node], 2);
    return MixHash(sum, controls);
  }

  // Combines `label` with the hashes of the node's data inputs, in order, and control inputs, in
  // any order.
  static uint64_t WithInputs(const Node& node, uint64_t label,
                             const std::vector<uint64_t>& hashes) {
    uint64_t hash = label;
    for (int i = 0; i < node.num_inputs(); ++i) {
      Port port = node.input(i);
      hash = MixHash(hash, port.node == kNoNode ? kNoInput : hashes[port.node] + port.index);
    }
    uint64_t controls = 0;
    for (int i = 0; i < node.num_controls(); ++i)
      if (Node from = node.control(i)) controls += MixHash(hashes[from.id()], 3);
    return MixHash(hash, controls);
  }

  uint64_t OfLabel(const Node& node, int depth) {
    const Function* called = module_.FindFunction(node.op());
    uint64_t hash = called ? Of(*called, depth + 1) : HashBytes(node.op());
    for (const auto& [key, value] : node.Attrs()) {
      if (key.starts_with("_")) continue;
      hash = WithValue(MixHash(hash, HashBytes(key)), value, depth);
    }
    return hash;
  }

  uint64_t WithValue(uint64_t hash, AttrView value, int depth) {
    proto::AttrValue parsed;
    if (value.FuncNames().empty() ||
        !parsed.ParsePartialFromArray(value.bytes().data(), static_cast<int>(value.bytes().size())))
      return MixHash(hash, HashBytes(value.bytes()));
    if (parsed.has_func()) return MixHash(hash, OfCallee(parsed.func(), depth));
    for (const auto& func : parsed.list().func()) hash = MixHash(hash, OfCallee(func, depth));
    return hash;
  }

  // Combines the hash of a function that an attribute names with the attributes passed to it, in
  // any order.
  uint64_t OfCallee(const proto::NameAttrList& func, int depth) {
    const Function* callee = module_.FindFunction(func.name());
    uint64_t hash = callee ? Of(*callee, depth + 1) : HashBytes(func.name());
    uint64_t passed = 0;
    for (const auto& [key, value] : func.attr()) {
      if (llvm::StringRef(key).starts_with("_")) continue;
      std::string bytes = value.SerializeAsString();
      passed += WithValue(HashBytes(key), AttrView(bytes), depth);
    }
    return passed == 0 ? hash : MixHash(hash, passed);
  }

  const Module& module_;
  llvm::DenseMap<const Function*, uint64_t> of_function_;
};

}  // namespace

std::vector<uint64_t> BodyHashes(const Module& module) {
  Hasher hasher(module);
  std::vector<uint64_t> hashes;
  hashes.reserve(module.functions.size());
  for (const auto& function : module.functions) hashes.push_back(hasher.Of(*function));
  return hashes;
}

}  // namespace grapnel
