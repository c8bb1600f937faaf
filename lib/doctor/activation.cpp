#include "lib/doctor/activation.h"

#include <cmath>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// The longest chain of ops to search: a GELU has at most six ops between its input and its Erf or
// Tanh.
constexpr int kMostSteps = 8;

std::optional<double> ScalarAt(const Network& network, const Node& node, int slot) {
  if (slot >= node.num_inputs()) return std::nullopt;
  const Literal* literal = network.ConstantOf(network.flow().SourceOf(node, slot, true));
  if (!literal || literal->num_elements() != 1) return std::nullopt;
  return literal->AsDouble(0);
}

// Returns the readers of `port` that have the op `op` ("Add" includes AddV2), each with the slot of
// its other input.
std::vector<std::pair<Node, int>> ReadersBy(const Network& network, const BodyPort& port,
                                            llvm::StringRef op) {
  std::vector<std::pair<Node, int>> readers;
  for (const auto& [reader, slot] : network.flow().Readers(port)) {
    bool fits = reader.op() == op || (op == "Add" && reader.op() == "AddV2");
    if (fits && network.IsForward(reader) && slot < 2) readers.emplace_back(reader, 1 - slot);
  }
  return readers;
}

// True if a chain of fewer than kMostSteps elementwise ops computes `from` from `x`.
bool IsMadeOf(const Network& network, const BodyPort& from, const BodyPort& x) {
  static const llvm::StringSet<> kOps = {"Mul", "RealDiv", "Div",    "Add", "AddV2",
                                         "Sub", "Neg",     "Square", "Pow"};
  std::vector<BodyPort> now = {from};
  for (int step = 0; step < kMostSteps && !now.empty(); ++step) {
    std::vector<BodyPort> before;
    PortSet seen;
    for (const BodyPort& port : now) {
      BodyPort source = network.flow().Source(port, true);
      if (source == x) return true;
      if (!source || !kOps.contains(source.node().op())) continue;
      for (const BodyPort& input : network.flow().Before(source)) {
        if (seen.Insert(input)) before.push_back(input);
      }
    }
    now = std::move(before);
  }
  return false;
}

// Matches a GELU around `core`, its Erf, Erfc or Tanh.
class Gelu {
 public:
  Gelu(const Network& network, const Node& core) : network_(network), core_(core) {}

  std::optional<Activation> Find() {
    if (core_.op() == "Erfc") return OfProduct({core_, 0}, true);
    for (const auto& [sum, other] : ReadersBy(network_, {core_, 0}, "Add")) {
      std::optional<double> one = ScalarAt(network_, sum, other);
      if (!one || std::abs(*one - 1) > 1e-3) continue;
      if (auto found = OfProduct({sum, 0}, true)) return found;
    }
    return std::nullopt;
  }

 private:
  // Matches a product of `gate` and the GELU's input; either of them may be multiplied by a
  // constant (1/2).
  std::optional<Activation> OfProduct(const BodyPort& gate, bool may_be_halved) {
    for (const auto& [product, other] : ReadersBy(network_, gate, "Mul")) {
      if (ScalarAt(network_, product, other)) {
        if (auto found = may_be_halved ? OfProduct({product, 0}, false) : std::nullopt)
          return found;
        continue;
      }
      BodyPort factor = network_.flow().SourceOf(product, other, true);
      for (const BodyPort& input : {factor, WithoutScale(factor)}) {
        if (input && IsMadeOf(network_, {core_.graph(), core_.input(0)}, input))
          return Activation{WithScale(product), "GELU", input};
      }
    }
    return std::nullopt;
  }

  // Returns x if `factor` is x times a constant scalar; else an empty port.
  BodyPort WithoutScale(const BodyPort& factor) const {
    if (!factor || factor.node().op() != "Mul") return {};
    for (int slot : {0, 1}) {
      if (ScalarAt(network_, factor.node(), slot))
        return network_.flow().SourceOf(factor.node(), 1 - slot, true);
    }
    return {};
  }

  // Returns the node that multiplies `product` by a constant scalar, if there is one; else
  // `product`.
  Node WithScale(const Node& product) const {
    auto readers = ReadersBy(network_, {product, 0}, "Mul");
    bool is_scaled = readers.size() == 1 && ScalarAt(network_, readers[0].first, readers[0].second);
    return is_scaled ? readers[0].first : product;
  }

  const Network& network_;
  const Node& core_;
};

}  // namespace

std::vector<Activation> ActivationsOf(const Network& network) {
  std::vector<Activation> activations;
  for (const Node& node : network.nodes()) {
    llvm::StringRef op = node.op();
    if (node.num_inputs() == 0 || !network.IsForward(node)) continue;
    std::optional<Activation> gelu;
    if (op == "Erf" || op == "Erfc" || op == "Tanh") gelu = Gelu(network, node).Find();
    if (gelu)
      activations.push_back(std::move(*gelu));
    else if (Network::IsActivation(op))
      activations.push_back({node, op.str(), network.flow().SourceOf(node, 0)});
  }
  return activations;
}

bool IsHiddenActivation(const Network& network, const Activation& activation) {
  if (!network.IsHidden(activation.output())) return false;
  return llvm::none_of(network.flow().Readers(activation.output()), [&](const auto& reader) {
    return reader.first.op() == "Mul" && network.IsForward(reader.first);
  });
}

}  // namespace grapnel
