// Replaces a slice of a stack that selects one of the stacked tensors with that tensor.
//
//   Before:  Pack(a, b, c, axis=k)[:, i, :] -> y       After:  Identity(i-th of them) -> y
//   Before:  Pack(a, b, c, axis=k)[:, i:i+1, :] -> y   After:  ExpandDims(i-th of them, k) -> y
//
// Refuses: nodes that are fetched, fed or kept; bounds that are not constant; slices of more than
// one tensor, or along other dimensions too, or with new dimensions; a StridedSlice with strides
// other than 1, or of a stack of one tensor; a stack of unknown rank.
#include <algorithm>

#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

constexpr char kStage[] = "RemoveStackStridedSliceSameAxis";

struct Selection {
  int64_t index;
  bool keeps_dim;  // the result keeps the dimension, with size 1
};

// The cut that a StridedSlice makes in one dimension of the stack: from begin to end.
struct Cut {
  int64_t begin, end;
};

bool IsSet(const Node& slice, const char* mask, int i) {
  return (slice.GetInt(mask) >> i & 1) != 0;
}

// Resolves the slice's bounds for subscript `i`, in a dimension of size `dim`; returns them as they
// are if the size is unknown (negative). nullopt if the subscript is a single index outside the
// dimension.
std::optional<Cut> CutOf(const Node& slice, int i, int64_t dim, Cut bounds) {
  if (dim < 0) return bounds;
  auto at = [&](int64_t bound) { return bound < 0 ? bound + dim : bound; };
  int64_t begin = at(bounds.begin), end = at(bounds.end);
  if (IsSet(slice, "shrink_axis_mask", i)) {
    if (begin < 0 || begin >= dim) return std::nullopt;
    return Cut{begin, begin + 1};
  }
  return Cut{IsSet(slice, "begin_mask", i) ? 0 : std::clamp<int64_t>(begin, 0, dim),
             IsSet(slice, "end_mask", i) ? dim : std::clamp<int64_t>(end, 0, dim)};
}

// The cut of a StridedSlice in each dimension, as CutOf resolves it; nullopt if it is not known or
// a stride is not 1.
std::optional<std::vector<Cut>> CutsOf(Arithmetic& rule, const Node& slice, const Shape& shape) {
  std::optional<std::vector<int64_t>> begin = rule.IntegersOf(slice.input(1)),
                                      end = rule.IntegersOf(slice.input(2)),
                                      strides = rule.IntegersOf(slice.input(3));
  if (!begin || !end || !strides || begin->size() != end->size() ||
      begin->size() != strides->size() || begin->size() > 31)
    return std::nullopt;
  int specified = static_cast<int>(begin->size());
  int skipped = shape.rank() - specified + (slice.GetInt("ellipsis_mask") != 0 ? 1 : 0);
  if (slice.GetInt("new_axis_mask") != 0 || skipped < 0) return std::nullopt;
  std::vector<Cut> cuts;
  auto next_dim = [&] { return shape.dim(static_cast<int>(cuts.size())); };
  auto take_all = [&] { cuts.push_back({0, std::max<int64_t>(next_dim(), 0)}); };
  for (int i = 0; i < specified; ++i) {
    if (IsSet(slice, "ellipsis_mask", i)) {
      for (int k = 0; k < skipped; ++k) take_all();
      continue;
    }
    if ((*strides)[i] != 1) return std::nullopt;
    std::optional<Cut> cut = CutOf(slice, i, next_dim(), {(*begin)[i], (*end)[i]});
    if (!cut) return std::nullopt;
    cuts.push_back(*cut);
  }
  while (static_cast<int>(cuts.size()) < shape.rank()) take_all();
  return cuts;
}

std::optional<Selection> SelectionOfStridedSlice(Arithmetic& rule, const Node& slice,
                                                 const Shape& shape, int64_t axis) {
  std::optional<std::vector<Cut>> cuts = CutsOf(rule, slice, shape);
  if (!cuts) return std::nullopt;
  for (int i = 0; i < shape.rank(); ++i) {
    const Cut& cut = (*cuts)[i];
    bool is_whole = cut.begin == 0 && cut.end == shape.dim(i);
    if (i != axis && !is_whole) return std::nullopt;
    // A slice of a stack of one tensor takes the whole stack; TensorFlow leaves such a slice as it
    // is.
    if (i == axis && (is_whole || cut.end != cut.begin + 1)) return std::nullopt;
  }
  int64_t shrink = slice.GetInt("shrink_axis_mask");
  if (shrink != 0 && shrink != int64_t{1} << axis) return std::nullopt;
  return Selection{(*cuts)[axis].begin, shrink == 0};
}

std::optional<Selection> SelectionOfSlice(Arithmetic& rule, const Node& slice, const Shape& shape,
                                          int64_t axis) {
  std::optional<std::vector<int64_t>> begin = rule.IntegersOf(slice.input(1)),
                                      size = rule.IntegersOf(slice.input(2));
  if (!begin || !size || begin->size() != size->size() ||
      static_cast<int>(begin->size()) != shape.rank() || (*size)[axis] != 1)
    return std::nullopt;
  for (int i = 0; i < shape.rank(); ++i) {
    bool is_whole = (*begin)[i] == 0 && ((*size)[i] == -1 || (*size)[i] == shape.dim(i));
    if (i != axis && !is_whole) return std::nullopt;
  }
  return Selection{(*begin)[axis], true};
}

// Makes the node that reads `input` and replaces the slice `node`.
Node MakeReader(Arithmetic& rule, const Node& node, Port input, bool keeps_dim, int64_t axis) {
  std::string name = Arithmetic::NameFor(node, kStage);
  Node made;
  if (keeps_dim) {
    // The constant waits for the input's node, so that it runs in the same loop frame.
    Node axis_node =
        rule.edit.AddConstant(Arithmetic::NameFor(node, kStage, "Axis"),
                              Literal::Scalar(proto::DT_INT32, static_cast<double>(axis)),
                              node.device(), rule.Anchor(input));
    rule.Enqueue(axis_node);
    rule.MarkStaleReader(axis_node, input);
    made = rule.Make(name, "ExpandDims", node.device(), {input, {axis_node.id(), 0}});
    rule.SetType(made, "T", node.GetType("T"));
    rule.SetType(made, "Tdim", proto::DT_INT32);
  } else {
    made = rule.Make(name, "Identity", node.device(), input);
    rule.SetType(made, "T", node.GetType("T"));
  }
  rule.MarkStaleReader(made, input);
  return made;
}

Verdict RemoveStackSlice(Arithmetic& rule, const Node& node) {
  Node pack = rule.Input(node, 0);
  if (!pack || pack.op() != "Pack") return rule.NotMine();
  if (rule.IsPreserved(node))
    return rule.Refuse(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
  Shape shape = rule.ShapeOfInput(node, 0);
  if (!shape.known_rank())
    return rule.Refuse("the rank of '{0}' is not known\nmake the shape of the inputs known",
                       pack.name());
  int64_t axis = pack.GetInt("axis");
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= shape.rank()) return rule.NotMine();
  std::optional<Selection> selection = node.op() == "Slice"
                                           ? SelectionOfSlice(rule, node, shape, axis)
                                           : SelectionOfStridedSlice(rule, node, shape, axis);
  if (!selection || selection->index < 0 || selection->index >= pack.num_inputs())
    return rule.Refuse(
        "'{0}' is not known to select exactly one of several tensors in '{1}', without strides and "
        "new dimensions\nselect one tensor with constant bounds",
        node.name(), pack.name());
  if (rule.Exists(Arithmetic::NameFor(node, kStage))) return rule.NotMine();
  rule.edit.Used(pack);
  Port input = pack.input(static_cast<int>(selection->index));
  Node made = MakeReader(rule, node, input, selection->keeps_dim, axis);
  rule.ForwardControls(made, {node, pack});
  rule.Enqueue(made);
  return rule.ReplaceBy(made);
}

GRAPNEL_RULE(
    {.optimizer = "arithmetic_optimizer",
     .after = "compose_unary_ops",
     .name = "remove_stack_slice",
     .ops = {"StridedSlice", "Slice"},
     .help = "a slice of a stack that selects one of its inputs becomes Identity or ExpandDims of "
             "that input",
     .refuses =
         "nodes that are fetched, fed or kept; bounds that are not constant; slices of more than "
         "one tensor, along other dimensions too, or with new dimensions; a StridedSlice with "
         "strides other than 1, or of a stack of one tensor; a stack of unknown rank",
     .pattern = "(Pack)",
     .apply = RemoveStackSlice});

}  // namespace
}  // namespace grapnel::arithmetic
