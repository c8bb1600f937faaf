// Removes Transposes that cancel, or that change nothing.
//
//   Before:  Transpose(Transpose(x, [0,3,1,2]), [0,2,3,1]) -> y     After:  x -> y
//   Before:  ConjugateTranspose(x, [0,1]) -> y                      After:  Conj(x) -> y
//
// Ops that only pass their input on may come between the two.
//
// Refuses: permutations that are not constant, or of scalars; in the default pipeline also [0],
// which TensorFlow's shape inference writes as a constant without values, so that its version of
// this rule cannot read it; ops between the two that are fetched, fed, kept or read elsewhere; if
// there are any between, also a node that is fetched, fed or kept itself.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

using Permutation = std::vector<int64_t>;

bool AreInverse(const Permutation& a, const Permutation& b) {
  if (a.size() != b.size()) return false;
  int64_t rank = static_cast<int64_t>(a.size());
  for (int64_t i = 0; i < rank; ++i) {
    if (b[i] < 0 || b[i] >= rank || a[b[i]] != i) return false;
  }
  return true;
}

bool IsIdentity(const Permutation& permutation) {
  for (int64_t i = 0; i < static_cast<int64_t>(permutation.size()); ++i) {
    if (permutation[i] != i) return false;
  }
  return true;
}

// True if TensorFlow stores constants of zeros without values before it runs this pass: only in the
// default pipeline, where its tfg_optimizer comes first.
bool WritesZerosAsNothing(const Arithmetic& rule) {
  const proto::RewriterConfig& config = rule.edit.config();
  return config.optimizers().empty() && !config.disable_tfg_optimizer();
}

// `first` and `node` have the same op; `tail` is the reader of `first`: `node` itself, or the first
// of the ops between the two.
Verdict RemovePair(Arithmetic& rule, const Node& first, const Node& tail, const Node& node,
                   const Permutation& permutation) {
  if (first.num_inputs() != 2) return rule.NotMine();
  std::optional<Permutation> inner = rule.ConstantInts(first, 1);
  if (!inner || !AreInverse(permutation, *inner))
    return rule.Refuse(
        "'{0}' is not known to have the inverse permutation of '{1}'\n"
        "use constant permutations that undo each other",
        first.name(), node.name());
  // Without the pair, the ops between the two compute other values. That is correct only if all
  // readers of `node` can be redirected, and those outside the graph cannot.
  if (tail != node && rule.IsPreserved(node)) {
    return rule.Refuse(
        "'{0}' is fetched, fed or kept, and ops come between it and '{1}'\n"
        "use another node for that, such as an Identity of it",
        node.name(), first.name());
  }
  rule.edit.Used(first);
  if (tail == node) return rule.ReplaceBy(first.input(0));
  rule.edit.SetInput(tail, 0, first.input(0));
  rule.ChangesValue();
  rule.ForwardControls(tail, first);
  return rule.ReplaceBy(node.input(0));
}

Verdict RemoveIdentityTranspose(Arithmetic& rule, const Node& node) {
  if (node.num_inputs() != 2) return rule.NotMine();
  Node tail = rule.TailOfOwnChain(node, [&](const Node& next) {
    return rule.KeepsShape(next) && rule.kinds.Is(next, kPureOp) && !rule.kinds.Is(next, kFrameOp);
  });
  Node first = rule.Input(tail, 0);
  std::optional<Permutation> permutation = rule.ConstantInts(node, 1);
  if (!permutation || permutation->empty())
    return rule.NotMine("the permutation of '{0}' is not a constant", node.name());
  if (permutation->size() == 1 && WritesZerosAsNothing(rule)) {
    return rule.Refuse(
        "'{0}' is all zeros: TensorFlow's shape inference stores it without values, and "
        "TensorFlow's version of this rule cannot read it then\nleave the Transpose out",
        node.input_node(1).name());
  }
  if (first && first.op_id() == node.op_id())
    return RemovePair(rule, first, tail, node, *permutation);
  if (!IsIdentity(*permutation))
    return rule.NotMine(
        "'{0}' changes the order of the dimensions, and no Transpose before it undoes that",
        node.name());
  if (node.op() == "Transpose") return rule.ReplaceBy(node.input(0));
  Node conj = rule.Copy(Arithmetic::NameFor(node, "RemoveIdentityTranspose"), node);
  rule.edit.SetOp(conj, "Conj");
  rule.edit.RemoveInput(conj, 1);
  rule.edit.RemoveAttr(conj, "Tperm");
  rule.MarkStaleReader(conj, conj.input(0));
  return rule.ReplaceBy(conj);
}

GRAPNEL_RULE({.optimizer = "arithmetic_optimizer",
              .after = "minimize_broadcasts",
              .name = "remove_identity_transpose",
              .ops = {"Transpose", "ConjugateTranspose"},
              .help = "removes transposes that cancel, or change nothing",
              .refuses = "permutations that are not constant; in the default pipeline also [0]; "
                         "ops between the two that are fetched, fed, kept or read elsewhere; with "
                         "ops between, a second node that is fetched, fed or kept",
              .pattern = "(Transpose|ConjugateTranspose(_, Const), Const)",
              .apply = RemoveIdentityTranspose});

}  // namespace
}  // namespace grapnel::arithmetic
