// A Case whose branch is known becomes a call of that branch.
//
//   Before:  1:Const, x -> Case(branches=[f, g]) -> y
//   After:   x -> PartitionedCall(f=g) -> y
//
// Refuses: an index that is not constant, or out of range, where the last branch would run.
#include "lib/ir/wire.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The AttrValue of function `index` in a list(func), with its own attributes; empty if out of
// range.
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

// Sets `_output_shapes`, where TensorFlow looks for the shapes of a PartitionedCall's outputs. They
// come from the Case's `output_shapes`: a list with as many shapes as outputs gives one for each
// output; any other list gives one for each branch. TensorFlow always takes the list to be one
// shape per branch.
void SetOutputShapes(Folding& rule, const Node& node, size_t branch) {
  std::optional<AttrView> attr = node.FindAttr("output_shapes");
  std::vector<Shape> shapes =
      attr ? attr->AsShapes().value_or(std::vector<Shape>()) : std::vector<Shape>();
  std::optional<AttrView> results = node.FindAttr("Tout");
  size_t outputs = results ? results->AsTypes().value_or(std::vector<DataType>()).size() : 0;
  if (shapes.size() != outputs && branch < shapes.size()) shapes = {shapes[branch]};
  if (shapes.size() == outputs && outputs != 0)
    rule.edit.SetAttr(node, "_output_shapes", attr::Shapes(shapes));
}

Verdict SimplifyCase(Folding& rule, const Node& node) {
  std::optional<std::vector<int64_t>> index = rule.ConstantInts(node, 0);
  std::optional<AttrView> branches = node.FindAttr("branches");
  if (!index || index->size() != 1 || !branches) return rule.NotMine();
  std::string function = index->front() < 0 ? "" : BranchAttr(*branches, index->front());
  if (function.empty())
    return rule.Refuse("'{0}' has no branch {1}\nuse an index of a branch", node.name(),
                       index->front());
  SetOutputShapes(rule, node, static_cast<size_t>(index->front()));
  rule.edit.RemoveInput(node, 0);
  rule.edit.SetOp(node, "PartitionedCall");
  rule.edit.RemoveAttr(node, "branches");
  rule.edit.RemoveAttr(node, "output_shapes");
  rule.edit.SetAttr(node, "f", function);
  for (const char* key : {"config", "config_proto", "executor_type"})
    rule.edit.SetAttr(node, key, attr::String(""));
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "partial_concat",
              .name = "simplify_case",
              .ops = {"Case"},
              .help = "a Case with a constant index becomes a call",
              .refuses = "an index that is not constant, or out of range",
              .pattern = "(Const)",
              .apply = SimplifyCase});

}  // namespace
}  // namespace grapnel::constant_folding
