// Writes known shapes as constants: the results of Shape, ShapeN, Size, Rank and TensorArraySizeV3.
// These ops share one rule, because their condition is the same.
//
//   Before:  x:[2,3] -> Shape -> y                      (Size, Rank and array sizes alike)
//   After:   x -^-> Shape:Const [2,3] -> y
//
//   Before:  x, z -> ShapeN -> :0 y, :1 w
//   After:   ShapeN -^-> "ConstantFolding/ShapeN-matshapes-0":Const -> y        and "-1" -> w
//
// The constant waits for the node that makes the tensor, as the replaced op did. Refuses: shapes
// that are not fully known (for Rank: an unknown rank), or too large for an int32 result; fed
// nodes, whose shape is not trusted; a TensorArray whose size is not constant, that may grow, or
// that has size 0, which would fail static checks.
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// Returns the shape as a vector; nullopt if a dimension is unknown or, for int32, is 2^31 - 1 or
// more.
std::optional<Literal> ShapeLiteral(const Shape& shape, DataType type) {
  if (!shape.IsFullyKnown()) return std::nullopt;
  for (int64_t dim : shape.dims()) {
    if (type == proto::DT_INT32 && dim >= INT32_MAX) return std::nullopt;
  }
  return Literal::Integers(type, {shape.rank()}, shape.dims());
}

std::optional<Literal> Answer(llvm::StringRef op, const Shape& shape, DataType type) {
  if (op == "Shape") return ShapeLiteral(shape, type);
  if (op == "Rank") {
    if (!shape.known_rank()) return std::nullopt;
    return Literal::Scalar(type, shape.rank());
  }
  std::optional<int64_t> elements = shape.NumElements();
  if (!elements || (type == proto::DT_INT32 && *elements >= INT32_MAX)) return std::nullopt;
  return Literal::Integers(type, {}, {*elements});
}

Verdict RefuseUnknown(Folding& rule, const Node& tensor) {
  return rule.Refuse(
      "the shape of '{0}' is not fully known, or does not fit the dtype of the result\n"
      "make the shapes of the inputs known, such as with --batch or --shape",
      tensor.name());
}

// Handles Shape, Size and Rank.
Verdict MaterializeOne(Folding& rule, const Node& node) {
  if (node.num_inputs() != 1) return rule.NotMine();
  DataType type = node.op() == "Rank" ? proto::DT_INT32 : node.GetType("out_type", proto::DT_INT32);
  std::optional<Literal> value = Answer(node.op(), rule.ShapeOf(node.input(0)), type);
  if (!value) return RefuseUnknown(rule, node.input_node(0));
  return rule.BecomeConstant(node, *value);
}

// Each output of ShapeN is a separate rewrite.
Verdict MaterializeEach(Folding& rule, const Node& node) {
  bool changed = false;
  DataType type = node.GetType("out_type", proto::DT_INT32);
  for (int port = 0; port < node.num_inputs(); ++port) {
    if (node.UsesOf(port).empty()) continue;
    std::optional<Literal> value = ShapeLiteral(rule.ShapeOf(node.input(port)), type);
    if (!value) {
      RefuseUnknown(rule, node.input_node(port));
      continue;
    }
    if (changed && !rule.NextRewrite(node)) break;
    std::string name = Folding::NameFor(node, "-matshapes-" + llvm::Twine(port));
    Node made = rule.graph.Find(name);
    if (!made) made = rule.edit.AddConstant(name, *value, node.device(), node);
    rule.edit.RedirectPort({node.id(), port}, {made.id(), 0});
    changed = true;
  }
  return changed ? rule.Done() : rule.NotMine();
}

Verdict MaterializeArraySize(Folding& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  Node array = rule.Input(node, 0);
  if (!array || array.num_inputs() == 0) return rule.NotMine();
  const Literal* size = rule.ConstantOf(array.input(0));
  if (!size || size->dtype() != proto::DT_INT32) return rule.NotMine();
  if (array.GetBool("dynamic_size"))
    return rule.Refuse("TensorArray '{0}' may grow\nuse dynamic_size=False", array.name());
  if (size->num_elements() != 1)
    return rule.Refuse("the size of TensorArray '{0}' is a tensor of shape {1}\nuse one number",
                       array.name(), DimsText(size->dims()));
  if (size->AsInt(0) == 0)
    return rule.Refuse("TensorArray '{0}' has size 0\nuse a size above 0", array.name());
  return rule.BecomeConstant(node, *size);
}

Verdict MaterializeShape(Folding& rule, const Node& node) {
  if (node.op() == "ShapeN") return MaterializeEach(rule, node);
  if (node.op() == "TensorArraySizeV3") return MaterializeArraySize(rule, node);
  return MaterializeOne(rule, node);
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kShapes,
     .after = kFirst,
     .name = "materialize_shape",
     .ops = {"Shape", "Size", "Rank", "ShapeN", "TensorArraySizeV3"},
     .help = "writes known results of Shape, ShapeN, Size, Rank and array sizes as constants",
     .refuses = "fed nodes; shapes that are not fully known or too large for an int32 result; "
                "TensorArrays that may grow, are empty or have a size that is not constant",
     .apply = MaterializeShape});

}  // namespace
}  // namespace grapnel::constant_folding
