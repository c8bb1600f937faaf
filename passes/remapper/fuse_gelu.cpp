// Fuses MatMul with its bias and the GELU after it.
//
//   Before:  t = BiasAdd(MatMul(x, w), b);  y = 0.5 * t * (1 + Erf(t * 0.7071))
//   After:   y = _FusedMatMul(x, w, b) {fused_ops=[BiasAdd, GeluExact]}
//
// likewise y = t * (0.5 * Erfc(-t * 0.7071)), which is tf.nn.gelu once the arithmetic optimizer has
// moved its 0.5; and in the tanh form, once MatMul and bias are fused, [BiasAdd, GeluApproximate].
//
// Refuses: constants other than GELU's (TensorFlow lets them be off by 0.01); a transposed first
// input; nodes off the CPU; inner nodes that are fetched, read from outside or have control edges.
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// A pattern match in progress.
class Gelu {
 public:
  Gelu(Remapper& rule, const Node& root) : rule_(rule), root_(root) {}

  // Mul(Mul(t, 0.5), Add(Erf(Mul(t, 0.7071)), 1)), where the 0.5 may be multiplied with either
  // factor; or Mul(t, Mul(0.5, Erfc(Mul(Neg(t), 0.7071)))) exactly.
  bool MatchExact() {
    return MatchHalves([this](const Node& node) { return IsErf(node); }) ||
           Binary(root_, {"Mul"},
                  [&](Port a, Port b) { return IsValue(b) && IsHalfOfErfc(At(a)); });
  }
  // As the first form of MatchExact, with Tanh(0.7979 * (t + (0.044715 * t) * Square(t))) in place
  // of Erf.
  bool MatchApproximate() {
    return MatchHalves([this](const Node& node) { return IsTanh(node); });
  }

  // After a match: the node for t, and the other matched nodes, including the root.
  Node value;
  std::vector<Node> inner;

 private:
  using Pattern = llvm::function_ref<bool(const Node&)>;

  // Matches a binary op of these names, with its inputs in either order.
  bool Binary(const Node& node, llvm::ArrayRef<llvm::StringRef> ops,
              llvm::function_ref<bool(Port, Port)> match) {
    if (!llvm::is_contained(ops, node.op()) || node.num_inputs() != 2) return false;
    size_t met = inner.size();
    Node before = value;
    for (int i = 0; i < 2; ++i) {
      if (match(node.input(i), node.input(1 - i))) {
        inner.push_back(node);
        return true;
      }
      inner.resize(met);
      value = before;
    }
    return false;
  }

  bool IsValue(Port port) {
    if (port.index != 0) return false;
    Node node = At(port);
    if (value) return value == node;
    if (node.op() != "BiasAdd" && node.op() != "_FusedMatMul") return false;
    value = node;
    return true;
  }

  bool IsNumber(Port port, float expected) {
    std::optional<float> number = rule_.ScalarOf(port);
    if (!number) return false;
    // Allows the rounding of a float, or of a bfloat16.
    float tolerance = root_.GetType("T") == proto::DT_FLOAT ? 1e-5f : 4e-3f;
    return std::abs(*number - expected) <= tolerance * expected;
  }

  Node At(Port port) { return rule_.graph.node(port.node); }

  bool ValueTimes(const Node& node, float number) {
    return Binary(node, {"Mul"}, [&](Port a, Port b) { return IsNumber(b, number) && IsValue(a); });
  }

  bool MatchHalves(Pattern function) {
    auto one_plus = [&](const Node& node) {
      return Binary(node, {"Add", "AddV2"},
                    [&](Port a, Port b) { return IsNumber(b, 1) && function(At(a)); });
    };
    auto half_of_sum = [&](const Node& node) {
      return Binary(node, {"Mul"},
                    [&](Port a, Port b) { return IsNumber(b, 0.5) && one_plus(At(a)); });
    };
    return Binary(root_, {"Mul"},
                  [&](Port a, Port b) { return IsValue(b) && half_of_sum(At(a)); }) ||
           Binary(root_, {"Mul"},
                  [&](Port a, Port b) { return ValueTimes(At(b), 0.5) && one_plus(At(a)); });
  }

  bool IsErf(const Node& node) {
    if (node.op() != "Erf" || !ValueTimes(node.input_node(0), 0.70710678f)) return false;
    inner.push_back(node);
    return true;
  }

  bool IsHalfOfErfc(const Node& half) {
    auto is_negative = [&](const Node& neg) {
      if (neg.op() != "Neg" || !IsValue(neg.input(0))) return false;
      inner.push_back(neg);
      return true;
    };
    auto is_erfc = [&](const Node& erfc) {
      if (erfc.op() != "Erfc" || !Binary(erfc.input_node(0), {"Mul"}, [&](Port a, Port b) {
            return IsNumber(b, 0.70710678f) && is_negative(At(a));
          }))
        return false;
      inner.push_back(erfc);
      return true;
    };
    return Binary(half, {"Mul"},
                  [&](Port a, Port b) { return IsNumber(b, 0.5) && is_erfc(At(a)); });
  }

  bool IsTanh(const Node& node) {
    if (node.op() != "Tanh") return false;
    auto cube = [&](const Node& product) {
      return Binary(product, {"Mul"}, [&](Port a, Port b) {
        Node square = At(b);
        if (square.op() != "Square" || !IsValue(square.input(0)) || !ValueTimes(At(a), 0.044715f))
          return false;
        inner.push_back(square);
        return true;
      });
    };
    auto sum = [&](const Node& add) {
      return Binary(add, {"AddV2"}, [&](Port a, Port b) { return IsValue(a) && cube(At(b)); });
    };
    if (!Binary(node.input_node(0), {"Mul"},
                [&](Port a, Port b) { return IsNumber(b, 0.79788456f) && sum(At(a)); }))
      return false;
    inner.push_back(node);
    return true;
  }

  Remapper& rule_;
  const Node& root_;
};

Verdict FuseGelu(Remapper& rule, const Node& root) {
  Gelu exact(rule, root), approximate(rule, root);
  bool is_exact = exact.MatchExact() && exact.value.op() == "BiasAdd" &&
                  exact.value.input_node(0).op() == "MatMul";
  bool is_approximate =
      !is_exact && approximate.MatchApproximate() && approximate.value.op() == "_FusedMatMul";
  if (!is_exact && !is_approximate) return rule.NotMine();
  Gelu& match = is_exact ? exact : approximate;
  Node value = match.value, matmul = is_exact ? value.input_node(0) : value;
  match.inner.push_back(value);
  if (is_exact) match.inner.push_back(matmul);
  if (!rule.TakesAlone(root, match.inner) || !IsFusable(rule, root, matmul) ||
      !rule.HasOneDnn(root))
    return rule.Refused();
  if (matmul.GetBool("transpose_a"))
    return rule.Refuse("'{0}' transposes its first input\ntranspose it before", matmul.name());
  auto fused = matmul.FindAttr("fused_ops");
  if (is_approximate && (!fused || fused->AsStrings() != std::vector<llvm::StringRef>{"BiasAdd"}))
    return rule.NotMine("'{0}' fuses more than a bias\nuse no activation before the GELU",
                        matmul.name());
  Port inputs[] = {matmul.input(0), matmul.input(1), is_exact ? value.input(1) : matmul.input(2)};
  RemapAttrs attrs =
      FusedAttrsOf(rule, matmul, {"BiasAdd", is_exact ? "GeluExact" : "GeluApproximate"}, 1);
  rule.Become(root, "_FusedMatMul", matmul.device(), inputs, attrs);
  llvm::erase(match.inner, root);
  rule.RemoveInOrder(match.inner);
  return rule.Done();
}

// A quick filter: in every form of GELU, one factor of the product is itself a product.
bool MayFuseGelu(const Node& root) {
  for (int i = 0; i < root.num_inputs(); ++i) {
    Node input = root.input_node(i);
    if (input && input.op_id() == root.op_id()) return true;
  }
  return false;
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_swish",
              .name = "fuse_gelu",
              .ops = {"Mul"},
              .help = "MatMul, bias and GELU become _FusedMatMul",
              .refuses = "constants other than GELU's, a transposed first input, inner nodes that "
                         "are fetched, read from outside or have control edges, nodes off the CPU",
              .pattern = "(t:BiasAdd(MatMul), Mul(0.5, Add|AddV2(Erf(Mul(t, 0.70710678)), 1)));"
                         "(Mul(t:BiasAdd(MatMul), 0.5), Add|AddV2(Erf(Mul(t, 0.70710678)), 1));"
                         "(t:BiasAdd(MatMul), Mul(0.5, Erfc(Mul(Neg(t), 0.70710678))));"
                         "(t:BiasAdd|_FusedMatMul, Mul(0.5, Add|AddV2(Tanh(Mul(0.79788456, "
                         "AddV2(t, Mul(Mul(t, 0.044715), Square(t))))), 1)))",
              .apply = FuseGelu,
              .may_apply = MayFuseGelu});

}  // namespace
}  // namespace grapnel::remapper
