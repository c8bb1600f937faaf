// A Case whose branch is known becomes a call of that branch.
//
//   Before:  1:Const, x -> Case(branches=[f, g]) -> y
//   After:   x -> PartitionedCall(f=g) -> y
//
// Refuses: an index that is not constant, or out of range, where the last branch would run.
#include "lib/ir/wire.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

// The AttrValue of function `index` of a list(func), with its own attributes; empty when there is
// none.
std::string BranchAttr(const AttrView& branches, int64_t index) {
  constexpr uint32_t kList = 1, kFuncOfList = 9, kFunc = 10;
  WireReader attr(branches.bytes());
  while (attr.Next()) {
    if (!attr.Is(kList, WireType::kBytes)) continue;
    WireReader list(attr.bytes());
    while (list.Next()) {
      if (!list.Is(kFuncOfList, WireType::kBytes) || index-- != 0) continue;
      std::string out;
      AppendBytesField(&out, kFunc, list.bytes());
      return out;
    }
  }
  return {};
}

// PartitionedCall keeps the shapes of its outputs where TensorFlow looks for them. TensorFlow takes
// each list as one shape a branch; here one of as many shapes as outputs says what it says.
void SetOutputShapes(Folding& fold, const Node& node, size_t branch) {
  std::optional<AttrView> attr = node.FindAttr("output_shapes");
  std::vector<Shape> shapes =
      attr ? attr->AsShapes().value_or(std::vector<Shape>()) : std::vector<Shape>();
  std::optional<AttrView> results = node.FindAttr("Tout");
  size_t outputs = results ? results->AsTypes().value_or(std::vector<DataType>()).size() : 0;
  if (shapes.size() != outputs && branch < shapes.size()) shapes = {shapes[branch]};
  if (shapes.size() == outputs && outputs != 0)
    fold.edit.SetAttr(node, "_output_shapes", attr::Shapes(shapes));
}

}  // namespace

bool SimplifyCase(Folding& fold, const Node& node) {
  constexpr char kRule[] = "simplify_case";
  if (node.num_inputs() < 1) return false;
  std::optional<std::vector<int64_t>> index = fold.IntegersOf(node.input(0));
  std::optional<AttrView> branches = node.FindAttr("branches");
  if (!index || index->size() != 1 || !branches) return false;
  std::string function = index->front() < 0 ? "" : BranchAttr(*branches, index->front());
  if (function.empty()) {
    fold.edit.Refuse(kRule, node, "'{0}' has no branch {1}", node.name(), index->front());
    return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  SetOutputShapes(fold, node, static_cast<size_t>(index->front()));
  fold.edit.RemoveInput(node, 0);
  fold.edit.SetOp(node, "PartitionedCall");
  fold.edit.RemoveAttr(node, "branches");
  fold.edit.RemoveAttr(node, "output_shapes");
  fold.edit.SetAttr(node, "f", function);
  for (const char* key : {"config", "config_proto", "executor_type"})
    fold.edit.SetAttr(node, key, attr::String(""));
  return true;
}

}  // namespace grapnel::constant_folding
