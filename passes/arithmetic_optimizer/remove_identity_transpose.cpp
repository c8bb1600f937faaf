// Transposes that undo each other go, as do those that change nothing.
//
//   Before:  Transpose(Transpose(x, [0,3,1,2]), [0,2,3,1]) -> y     After:  x -> y
//   Before:  ConjugateTranspose(x, [0,1]) -> y                      After:  Conj(x) -> y
//
// Ops that hand their input on may stand between the two.
//
// Refuses: permutations that are not constant, or of scalars; ops between that are fetched, fed,
// kept or read elsewhere; with ops between, also a node that is fetched, fed or kept itself.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

bool AreInverse(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  if (a.size() != b.size()) return false;
  int64_t rank = static_cast<int64_t>(a.size());
  for (int64_t i = 0; i < rank; ++i) {
    if (b[i] < 0 || b[i] >= rank || a[b[i]] != i) return false;
  }
  return true;
}

bool IsIdentity(const std::vector<int64_t>& permutation) {
  for (int64_t i = 0; i < static_cast<int64_t>(permutation.size()); ++i) {
    if (permutation[i] != i) return false;
  }
  return true;
}

}  // namespace

Simplified RemoveIdentityTranspose(Arithmetic& arithmetic, const Node& node) {
  constexpr char kRule[] = "remove_identity_transpose";
  if (node.num_inputs() != 2) return std::nullopt;
  Node tail = arithmetic.TailOfOwnChain(node, [&](const Node& next) {
    return arithmetic.KeepsShape(next) && arithmetic.kinds.Is(next, kPureOp) &&
           !arithmetic.kinds.Is(next, kFrameOp);
  });
  Node first = arithmetic.Input(tail, 0);
  std::optional<std::vector<int64_t>> permutation = arithmetic.IntegersOf(node.input(1));
  if (!first || !permutation || permutation->empty()) return std::nullopt;
  if (first.op_id() == node.op_id()) {
    if (first.num_inputs() != 2) return std::nullopt;
    std::optional<std::vector<int64_t>> inner = arithmetic.IntegersOf(first.input(1));
    if (!inner || !AreInverse(*permutation, *inner)) {
      arithmetic.edit.Refuse(kRule, node, "'{0}' is not known to be its inverse", first.name());
      return std::nullopt;
    }
    // What stands between changes its value, which a node that must stay would pass on.
    if (tail != node && arithmetic.edit.IsPreserved(node)) {
      arithmetic.edit.Refuse(kRule, node, "'{0}' is fetched, fed or kept, and not next to '{1}'",
                             node.name(), first.name());
      return std::nullopt;
    }
    if (!arithmetic.Begin(kRule, node)) return std::nullopt;
    arithmetic.edit.Used(first);
    if (tail == node) return first.input(0);
    arithmetic.edit.SetInput(tail, 0, first.input(0));
    arithmetic.ChangesValue();
    arithmetic.ForwardControls(tail, first);
    return node.input(0);
  }
  if (!IsIdentity(*permutation)) return std::nullopt;
  if (!arithmetic.Begin(kRule, node)) return std::nullopt;
  if (node.op() == "Transpose") return node.input(0);
  Node conj = arithmetic.Copy(Arithmetic::NameFor(node, "RemoveIdentityTranspose"), node);
  arithmetic.edit.SetOp(conj, "Conj");
  arithmetic.edit.RemoveInput(conj, 1);
  arithmetic.edit.RemoveAttr(conj, "Tperm");
  arithmetic.LoseTrack(conj, conj.input(0));
  return By(conj);
}

}  // namespace grapnel::arithmetic
