// Computes the axes along which the gradient of a broadcast is summed, from the shapes of both
// sides.
//
//   Before:  Shape(x:[2,3]), Shape(w:[3]) -> BroadcastGradientArgs -> :0 y, :1 z
//   After:   BroadcastGradientArgs -^-> "ConstantFolding/<node>-bcastargs-0":Const []  -> y
//                                  -^-> "ConstantFolding/<node>-bcastargs-1":Const [0] -> z
//
// Refuses: unknown dimensions, because they may be 1 and so be broadcast, unless both sides are
// known to have the same dimension there.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The shape that the value of `port` describes: that of the input of a Shape node, or the value of
// a constant.
std::optional<Shape> ShapeHeld(Folding& rule, Port port) {
  Node node = rule.graph.node(port.node);
  if (node.op() == "Shape" && node.num_inputs() == 1 && !rule.edit.IsFed(node)) {
    Shape shape = rule.ShapeOf(node.input(0));
    return shape.known_rank() ? std::optional<Shape>(shape) : std::nullopt;
  }
  std::optional<std::vector<int64_t>> dims = rule.IntegersOf(port);
  return dims ? std::optional<Shape>(Shape(*dims)) : std::nullopt;
}

// True if the axes are certain although dimensions are unknown. Compares the shapes from the left,
// as Grappler does, not from the right, so that it rarely succeeds for different ranks with unknown
// dimensions.
bool IsDecided(const Shape& a, const Shape& b) {
  int common = std::min(a.rank(), b.rank());
  for (int i = 0; i < common; ++i) {
    bool known = a.IsKnown(i) && b.IsKnown(i);
    if (!known && (a.dim(i) != b.dim(i) || a.dim(i) == kUnknownDim)) return false;
  }
  for (const Shape* shape : {&a, &b}) {
    for (int i = common; i < shape->rank(); ++i) {
      if (!shape->IsKnown(i)) return false;
    }
  }
  return true;
}

using Axes = std::vector<int64_t>;

// The axes of the result along which each side has size 1, so that its gradient is summed there;
// none if the shapes are equal. nullopt if the shapes do not match.
std::optional<std::array<Axes, 2>> BroadcastAxes(const Shape& a, const Shape& b) {
  std::array<Axes, 2> axes;
  if (a == b) return axes;
  int rank = std::max(a.rank(), b.rank());
  auto dim_at = [rank](const Shape& shape, int i) {
    int own = i - (rank - shape.rank());
    return own < 0 ? 1 : shape.dim(own);
  };
  for (int i = 0; i < rank; ++i) {
    int64_t x = dim_at(a, i), y = dim_at(b, i);
    if (x != y && x != 1 && y != 1) return std::nullopt;
    if (x == 1) axes[0].push_back(i);
    if (y == 1) axes[1].push_back(i);
  }
  return axes;
}

Verdict MaterializeBroadcastGradientArgs(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2 || !node.HasDataUses()) return rule.NotMine();
  if (rule.Exists(Folding::NameFor(node, "-folded-1")) ||
      rule.Exists(Folding::NameFor(node, "-folded-2")))
    return rule.NotMine();
  std::optional<Shape> a = ShapeHeld(rule, node.input(0)), b = ShapeHeld(rule, node.input(1));
  if (!a || !b)
    return rule.Refuse(
        "the shape that '{0}' gives is not known\nmake the shapes of the inputs known",
        node.input_node(a ? 1 : 0).name());
  if (!IsDecided(*a, *b)) {
    return rule.Refuse(
        "the shapes {0} and {1} have unknown dimensions, which may be 1\n"
        "make the shapes of the inputs known",
        a->ToString(), b->ToString());
  }
  std::optional<std::array<Axes, 2>> axes = BroadcastAxes(*a, *b);
  if (!axes) return rule.NotMine();
  DataType type = node.GetType("T", proto::DT_INT32);
  for (int port = 0; port < 2; ++port) {
    std::string name = Folding::NameFor(node, "-bcastargs-" + llvm::Twine(port));
    Node made = rule.graph.Find(name);
    if (!made && node.UsesOf(port).empty()) continue;
    if (!made) {
      const Axes& own = (*axes)[port];
      made = rule.edit.AddConstant(name,
                                   Literal::Integers(type, {static_cast<int64_t>(own.size())}, own),
                                   node.device(), node);
    }
    rule.edit.RedirectPort({node.id(), port}, {made.id(), 0});
  }
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kValues,
     .after = kFirst,
     .name = "broadcast_gradient_args",
     .ops = {"BroadcastGradientArgs"},
     .help = "writes the axes of a broadcast's gradient as constants",
     .refuses =
         "shapes that are not known; unknown dimensions, unless both sides have the same one",
     .apply = MaterializeBroadcastGradientArgs});

}  // namespace
}  // namespace grapnel::constant_folding
