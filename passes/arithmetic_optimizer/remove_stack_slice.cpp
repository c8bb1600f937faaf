// A slice of a stack that is one of the tensors stacked.
//
//   Before:  Pack(a, b, c, axis=k)[:, i, :] -> y       After:  Identity(i-th of them) -> y
//   Before:  Pack(a, b, c, axis=k)[:, i:i+1, :] -> y   After:  ExpandDims(i-th of them, k) -> y
//
// Refuses: nodes that are fetched, fed or kept; bounds that are not constant; slices of more than
// one, or along other dimensions too, or with new dimensions; a stack of unknown rank.
#include "llvm/ADT/STLExtras.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

struct Selection {
  int64_t index;
  bool keeps_dim;  // the dimension is left with size 1
};

// A dimension of the stack as a StridedSlice cuts it: from begin to end.
struct Cut {
  int64_t begin, end;
};

// What a StridedSlice with stride 1 cuts from each dimension; masked bounds are written out.
std::optional<std::vector<Cut>> CutsOf(Arithmetic& arithmetic, const Node& node,
                                       const Shape& shape) {
  std::optional<std::vector<int64_t>> begin = arithmetic.IntegersOf(node.input(1)),
                                      end = arithmetic.IntegersOf(node.input(2)),
                                      strides = arithmetic.IntegersOf(node.input(3));
  if (!begin || !end || !strides || begin->size() != end->size() ||
      begin->size() != strides->size() || begin->size() > 31)
    return std::nullopt;
  int64_t ellipsis = node.GetInt("ellipsis_mask");
  int specified = static_cast<int>(begin->size());
  int skipped = shape.rank() - specified + (ellipsis != 0 ? 1 : 0);
  if (node.GetInt("new_axis_mask") != 0 || skipped < 0) return std::nullopt;
  std::vector<Cut> cuts;
  auto is_set = [&](const char* mask, int i) { return (node.GetInt(mask) >> i & 1) != 0; };
  auto take_all = [&] {
    int64_t dim = shape.dim(static_cast<int>(cuts.size()));
    cuts.push_back({0, dim < 0 ? 0 : dim});
  };
  for (int i = 0; i < specified; ++i) {
    if (ellipsis >> i & 1) {
      for (int k = 0; k < skipped; ++k) take_all();
      continue;
    }
    if ((*strides)[i] != 1) return std::nullopt;
    int64_t dim = shape.dim(static_cast<int>(cuts.size())), from = (*begin)[i], to = (*end)[i];
    if (dim < 0) {
      cuts.push_back({from, to});
      continue;
    }
    auto at = [&](int64_t bound) { return bound < 0 ? bound + dim : bound; };
    if (is_set("shrink_axis_mask", i)) {
      from = at(from);
      if (from < 0 || from >= dim) return std::nullopt;
      to = from + 1;
    } else {
      from = is_set("begin_mask", i) ? 0 : std::clamp<int64_t>(at(from), 0, dim);
      to = is_set("end_mask", i) ? dim : std::clamp<int64_t>(at(to), 0, dim);
    }
    cuts.push_back({from, to});
  }
  while (static_cast<int>(cuts.size()) < shape.rank()) take_all();
  return cuts;
}

std::optional<Selection> SelectionOfStridedSlice(Arithmetic& arithmetic, const Node& node,
                                                 const Shape& shape, int64_t axis) {
  std::optional<std::vector<Cut>> cuts = CutsOf(arithmetic, node, shape);
  if (!cuts) return std::nullopt;
  for (int i = 0; i < shape.rank(); ++i) {
    const Cut& cut = (*cuts)[i];
    bool is_whole = cut.begin == 0 && cut.end == shape.dim(i);
    if (i != axis && !is_whole) return std::nullopt;
    // A stack of one is cut nowhere; TensorFlow leaves the slice alone then.
    if (i == axis && (is_whole || cut.end != cut.begin + 1)) return std::nullopt;
  }
  int64_t shrink = node.GetInt("shrink_axis_mask");
  if (shrink != 0 && shrink != int64_t{1} << axis) return std::nullopt;
  return Selection{(*cuts)[axis].begin, shrink == 0};
}

std::optional<Selection> SelectionOfSlice(Arithmetic& arithmetic, const Node& node,
                                          const Shape& shape, int64_t axis) {
  std::optional<std::vector<int64_t>> begin = arithmetic.IntegersOf(node.input(1)),
                                      size = arithmetic.IntegersOf(node.input(2));
  if (!begin || !size || begin->size() != size->size() ||
      static_cast<int>(begin->size()) != shape.rank() || (*size)[axis] != 1)
    return std::nullopt;
  for (int i = 0; i < shape.rank(); ++i) {
    bool is_whole = (*begin)[i] == 0 && ((*size)[i] == -1 || (*size)[i] == shape.dim(i));
    if (i != axis && !is_whole) return std::nullopt;
  }
  return Selection{(*begin)[axis], true};
}

}  // namespace

Simplified RemoveStackSlice(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_stack_slice";
  constexpr char kStage[] = "RemoveStackStridedSliceSameAxis";
  Node pack = arithmetic.Input(node, 0);
  if (!pack || pack.op() != "Pack") return std::nullopt;
  if (arithmetic.edit.IsPreserved(node)) {
    arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept", node.name());
    return std::nullopt;
  }
  const Shape shape = arithmetic.ShapeOfInput(node, 0);
  if (!shape.known_rank()) {
    arithmetic.edit.Refuse(kRule, node, "the rank of '{0}' is not known", pack.name());
    return std::nullopt;
  }
  int64_t axis = pack.GetInt("axis");
  if (axis < 0) axis += shape.rank();
  if (axis < 0 || axis >= shape.rank()) return std::nullopt;
  std::optional<Selection> selection = node.op() == "Slice"
                                           ? SelectionOfSlice(arithmetic, node, shape, axis)
                                           : SelectionOfStridedSlice(arithmetic, node, shape, axis);
  std::string name = Arithmetic::NameFor(node, kStage);
  if (!selection || selection->index < 0 || selection->index >= pack.num_inputs()) {
    arithmetic.edit.Refuse(kRule, node, "it does not take one of what '{0}' stacks", pack.name());
    return std::nullopt;
  }
  if (arithmetic.Exists(name) || !arithmetic.Begin(kRule, node)) return std::nullopt;
  arithmetic.edit.Used(pack);
  Port input = pack.input(static_cast<int>(selection->index));
  DataType type = node.GetType("T");
  Node made;
  if (selection->keeps_dim) {
    // The constant is anchored, so that it is made in the loop frame that the input is in.
    Node axis_node =
        arithmetic.edit.AddConstant(Arithmetic::NameFor(node, kStage, "Axis"),
                                    Literal::Scalar(proto::DT_INT32, static_cast<double>(axis)),
                                    node.device(), arithmetic.Anchor(input));
    arithmetic.Enqueue(axis_node);
    arithmetic.LoseTrack(axis_node, input);
    made = arithmetic.Make(name, "ExpandDims", node.device(), {input, {axis_node.id(), 0}});
    arithmetic.SetType(made, "T", type);
    arithmetic.SetType(made, "Tdim", proto::DT_INT32);
  } else {
    made = arithmetic.Make(name, "Identity", node.device(), {input});
    arithmetic.SetType(made, "T", type);
  }
  arithmetic.LoseTrack(made, input);
  arithmetic.ForwardControls(made, {node, pack});
  arithmetic.Enqueue(made);
  return By(made);
}

}  // namespace grapnel::arithmetic
