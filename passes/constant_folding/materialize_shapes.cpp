// Writes shapes that are known as constants.
//
//   Before:  x:[2,3] -> Shape -> y                      (Size, Rank and array sizes alike)
//   After:   x -^-> Shape:Const [2,3] -> y
//
//   Before:  x, z -> ShapeN -> :0 y, :1 w
//   After:   ShapeN -^-> "ConstantFolding/ShapeN-matshapes-0":Const -> y        and "-1" -> w
//
// The constant waits for the tensor, as the shape did.
// Refuses: shapes that are not known in full (Rank: not in rank); what is fed, whose shape is not
// trusted; an array that grows, or of size 0, which would trip static checks.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

// nullopt when not every dimension is known or int32 is too small.
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

}  // namespace

bool MaterializeShape(Folding& fold, const Node& node) {
  if (node.num_inputs() != 1 || fold.edit.IsFed(node)) return false;
  DataType type = node.op() == "Rank" ? proto::DT_INT32 : node.GetType("out_type", proto::DT_INT32);
  std::optional<Literal> value = Answer(node.op(), fold.ShapeOf(node.input(0)), type);
  if (!value) {
    fold.edit.Refuse("materialize_shape", node, "the shape of '{0}' is not known",
                     node.input_node(0).name());
    return false;
  }
  Rewriting rewriting(fold, "materialize_shape", node);
  if (!rewriting) return false;
  fold.BecomeConstant(node, *value);
  return true;
}

bool MaterializeShapeN(Folding& fold, const Node& node) {
  bool changed = false;
  DataType type = node.GetType("out_type", proto::DT_INT32);
  for (int port = 0; port < node.num_inputs(); ++port) {
    if (node.UsesOf(port).empty()) continue;
    std::optional<Literal> value = ShapeLiteral(fold.ShapeOf(node.input(port)), type);
    if (!value) {
      fold.edit.Refuse("materialize_shape", node, "the shape of '{0}' is not known",
                       node.input_node(port).name());
      continue;
    }
    Rewriting rewriting(fold, "materialize_shape", node);
    if (!rewriting) return changed;
    std::string name = Folding::NameFor(node, "-matshapes-" + llvm::Twine(port));
    Node made = fold.graph.Find(name);
    if (!made) made = fold.edit.AddConstant(name, *value, node.device(), node);
    fold.Redirect({node.id(), port}, made);
    changed = true;
  }
  return changed;
}

bool MaterializeTensorArraySize(Folding& fold, const Node& node) {
  if (node.num_inputs() != 2 || fold.edit.IsFed(node)) return false;
  Node array = node.input_node(0);
  if (array.num_inputs() == 0) return false;
  const Literal* size = fold.ConstantOf(array.input(0));
  if (!size || size->dtype() != proto::DT_INT32) return false;
  if (array.GetBool("dynamic_size")) {
    fold.edit.Refuse("materialize_shape", node, "array '{0}' may grow", array.name());
    return false;
  }
  if (size->num_elements() != 1 || size->AsInt(0) == 0) {
    fold.edit.Refuse("materialize_shape", node, "array '{0}' has size 0", array.name());
    return false;
  }
  Rewriting rewriting(fold, "materialize_shape", node);
  if (!rewriting) return false;
  Literal value = *size;
  fold.BecomeConstant(node, value);
  return true;
}

}  // namespace grapnel::constant_folding
