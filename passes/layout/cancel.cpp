// Conversions that undo each other go.
//
//   Before:  x -> Transpose [0,2,3,1] -> Transpose [0,3,1,2] -> y             After:  x -> y
//   Before:  x -> Transpose [0,2,3,1] -> Pad p -> Transpose [0,3,1,2] -> y    After:  x -> Identity
//            -> Pad p' -> Identity -> y
//
// Of pairs only those that this pass added go; around a Pad any do.
//
// Refuses: a Pad of which somebody else reads the result or the paddings, or that is fetched.
#include "llvm/ADT/STLExtras.h"
#include "passes/layout/conversion.h"

namespace grapnel::layout {
namespace {

constexpr const char* kPairRule = "cancel_pair";
constexpr const char* kPadRule = "cancel_around_pad";

// The constant permutation of a Transpose; empty when it has none.
std::vector<int64_t> PermOf(Conversion& conversion, const Node& node) {
  if (node.op() != "Transpose" || node.num_inputs() != 2) return {};
  const Literal* perm = conversion.edit.ConstantOf(node.input(1));
  return perm && perm->dtype() == proto::DT_INT32 ? perm->AsInts() : std::vector<int64_t>();
}

bool AreInverse(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  if (a.empty() || a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (b[i] < 0 || b[i] >= static_cast<int64_t>(a.size())) return false;
    if (a[b[i]] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool IsUndoneBy(Conversion& conversion, const Node& first, const Node& second) {
  if (AreInverse(PermOf(conversion, second), PermOf(conversion, first))) return true;
  bool is_format_op = first.op() == "DataFormatVecPermute" || first.op() == "DataFormatDimMap";
  return is_format_op && second.op().take_front(10) == "DataFormat" &&
         first.GetString("src_format") == second.GetString("dst_format") &&
         first.GetString("dst_format") == second.GetString("src_format");
}

void RemoveConversion(Conversion& conversion, const Node& node) {
  if (!node.uses().empty()) return;
  Node perm = node.num_inputs() > 1 ? node.input_node(1) : Node();
  conversion.edit.RemoveNode(node);
  if (perm && perm.uses().empty()) conversion.edit.RemoveNode(perm);
}

bool IsReadOnce(const Node& node) { return node.uses().size() == 1; }

// The Transposes after the Pad that undo `before`, when all that read the Pad are such.
std::vector<Node> TransposesAfter(Conversion& conversion, const Node& pad,
                                  llvm::ArrayRef<int64_t> before) {
  std::vector<Node> after;
  for (const Use& use : pad.uses()) {
    Node reader = conversion.graph.node(use.node);
    if (use.slot != 0 || !AreInverse(PermOf(conversion, reader), before)) return {};
    after.push_back(reader);
  }
  return after;
}

void BecomeIdentity(Editor& edit, const Node& transpose) {
  edit.SetOp(transpose, "Identity");
  edit.RemoveInput(transpose, 1);
  edit.RemoveAttr(transpose, "Tperm");
  edit.RemoveAttr(transpose, "_output_shapes");
}

void CancelAroundPad(Conversion& conversion, const Node& pad) {
  Editor& edit = conversion.edit;
  if (pad.op() != "Pad" || pad.num_inputs() != 2) return;
  Node before = pad.input_node(0), paddings = pad.input_node(1);
  std::vector<int64_t> perm_before = PermOf(conversion, before);
  if (perm_before.empty()) return;
  std::vector<Node> after = TransposesAfter(conversion, pad, perm_before);
  if (after.empty()) return;
  const Literal* value = edit.ConstantOf(paddings);
  if (!value || value->dtype() != proto::DT_INT32) return;
  if (!IsReadOnce(before) || !IsReadOnce(paddings) || edit.IsPreserved(pad) ||
      edit.IsPreserved(before) || edit.IsPreserved(paddings)) {
    edit.Refuse(kPadRule, pad, "what '{0}' reads, or its result, is fetched or read by others",
                pad.name());
    return;
  }
  std::vector<int64_t> perm = PermOf(conversion, after[0]), old = value->AsInts(), permuted;
  if (old.size() != 2 * perm.size()) return;
  for (int64_t i : perm) {
    permuted.push_back(old[2 * i]);
    permuted.push_back(old[2 * i + 1]);
  }
  Literal literal = Literal::Integers(proto::DT_INT32, value->dims(), permuted);
  if (!edit.Begin(kPadRule, pad)) {
    conversion.out_of_rewrites = true;
    return;
  }
  llvm::SmallVector<Node, 2> controls;
  for (int i = 0; i < paddings.num_controls(); ++i) controls.push_back(paddings.control(i));
  edit.TurnIntoConstant(paddings, literal, controls);
  edit.RemoveAttr(pad, "_output_shapes");
  BecomeIdentity(edit, before);
  for (const Node& transpose : after) BecomeIdentity(edit, transpose);
  edit.End();
}

}  // namespace

void CancelPairs(Conversion& conversion) {
  Graph& graph = conversion.graph;
  NodeId end = graph.end_id();
  for (NodeId id = conversion.first_added; id < end && !conversion.out_of_rewrites; ++id) {
    if (!graph.IsAlive(id) || graph.node(id).num_inputs() < 1) continue;
    Node second = graph.node(id), first = second.input_node(0);
    if (!first || !conversion.IsAdded(first) || first.num_inputs() < 1) continue;
    if (!IsUndoneBy(conversion, first, second)) continue;
    if (!conversion.edit.Begin(kPairRule, second)) {
      conversion.out_of_rewrites = true;
      return;
    }
    conversion.edit.RedirectPort({second.id(), 0}, first.input(0));
    RemoveConversion(conversion, second);
    RemoveConversion(conversion, first);
    conversion.edit.End();
  }
}

void CancelAroundPads(Conversion& conversion) {
  for (Node node : conversion.graph.nodes()) {
    if (conversion.out_of_rewrites) return;
    CancelAroundPad(conversion, node);
  }
}

}  // namespace grapnel::layout
