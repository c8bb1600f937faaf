#include "lib/doctor/cross_entropy.h"

#include <optional>

namespace grapnel {
namespace {

BodyPort InputOf(const Node& node, int slot) {
  if (slot >= node.num_inputs() || node.input(slot).node == kNoNode) return {};
  return {node.graph(), node.input(slot)};
}

Node NodeBefore(const Flow& flow, const Node& node, int slot) {
  BodyPort source = flow.SourceOf(node, slot);
  return source ? source.node() : Node();
}

// Matches a binary cross-entropy with logits x and labels z, max(x, 0) - x * z + log1p(exp(-|x|)),
// from its Log1p.
std::optional<CrossEntropy> BinaryAt(const Network& network, const Node& log1p) {
  const Flow& flow = network.flow();
  Node exp = NodeBefore(flow, log1p, 0);
  if (!exp || exp.op() != "Exp") return std::nullopt;
  Node inner = NodeBefore(flow, exp, 0);
  if (!inner || (inner.op() != "Select" && inner.op() != "SelectV2" && inner.op() != "Neg"))
    return std::nullopt;
  for (const auto& [sum, slot] : flow.Readers({log1p, 0})) {
    if (sum.op() != "Add" && sum.op() != "AddV2") continue;
    Node difference = NodeBefore(flow, sum, 1 - slot);
    if (!difference || difference.op() != "Sub") continue;
    Node product = NodeBefore(flow, difference, 1);
    Node positive = NodeBefore(flow, difference, 0);
    if (!product || product.op() != "Mul" || !positive) continue;
    for (int i : {0, 1}) {
      BodyPort logits = flow.SourceOf(product, i);
      bool is_read = false;
      for (int j = 0; j < positive.num_inputs(); ++j)
        is_read |= flow.SourceOf(positive, j) == logits;
      if (is_read)
        return CrossEntropy{CrossEntropy::kBinary, log1p, InputOf(product, i),
                            InputOf(product, 1 - i)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<CrossEntropy> CrossEntropiesOf(const Network& network) {
  std::vector<CrossEntropy> found;
  for (const Node& node : network.nodes()) {
    bool is_sparse = node.op() == "SparseSoftmaxCrossEntropyWithLogits";
    if (is_sparse || node.op() == "SoftmaxCrossEntropyWithLogits") {
      found.push_back({is_sparse ? CrossEntropy::kSparse : CrossEntropy::kDense, node,
                       InputOf(node, 0), InputOf(node, 1)});
    } else if (node.op() == "Log1p") {
      if (auto binary = BinaryAt(network, node)) found.push_back(*binary);
    }
  }
  return found;
}

}  // namespace grapnel
