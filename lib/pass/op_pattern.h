// Patterns of ops: what a rule looks for, as a text, and the place around a node that comes
// closest.
#ifndef GRAPNEL_LIB_PASS_OP_PATTERN_H_
#define GRAPNEL_LIB_PASS_OP_PATTERN_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/support/error.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// A tree of ops: a node, and the nodes that make its first data inputs, each of which is
//
//   Conv2D|MatMul       a node with one of these ops
//   Const               a constant
//   0.5                 a constant whose elements all have this value, possibly behind a Cast
//   x                   any tensor; where the name occurs again, the same one
//   t:BiasAdd(Conv2D)   as the rest says; `t` then names the tensor
//   _                   any tensor
//
// "Mul(x, Sigmoid(x))" is x * sigmoid(x). The inputs of sums, products and the like may be in any
// order. Further inputs may be anything.
struct OpPattern {
  struct Step {
    enum Kind { kOps, kConstant, kNumber, kAny } kind = kAny;
    std::vector<std::string> ops;  // for kOps
    double number = 0;             // for kNumber
    std::string name;              // of the tensor; empty: none
    std::vector<int> inputs;       // indices of steps
    int parent = -1;               // the step that reads this one; -1: this is the root
  };
  std::vector<Step> steps;  // the root first, each step before its inputs

  // Parses a text with patterns, separated by ';'. Where a pattern begins with '(', its root has
  // one of `root_ops`: "(Conv2D|MatMul)". Errors quote the pattern and say what was expected.
  static Expected<std::vector<OpPattern>> ParseAll(llvm::StringRef text,
                                                   llvm::ArrayRef<const char*> root_ops);
};

// A place where the graph differs from a pattern.
struct PatternGap {
  std::string reason;         // "'r' (Reshape) is between 'm' (MatMul) and 'b' (BiasAdd)"
  std::string remedy;         // what would close it, as a command
  std::vector<Node> between;  // nodes that the pattern does not have
  // True if a node of `between` computes: does not just pass its data on, as Reshape, Cast,
  // Transpose and fake quantization do.
  bool changes_values = false;
};

struct PatternMatch {
  std::vector<Node> nodes;  // those with the pattern's ops, inputs before their readers
  std::vector<PatternGap> gaps;
  // How far the graph is from the pattern: 0 is a match by ops. An op between two ops of the
  // pattern counts 1 if it passes data through (Reshape, Cast), else 2, but a convolution or matrix
  // product more than kFoundOps. In place of a constant, a variable counts 1 and a constant with
  // other elements 2. An op of the same kind as the pattern's (Selu for Relu) counts 3, another
  // tensor in place of a repeated one 4, a missing op or constant 6 and more.
  int distance = 0;
};

// The largest PatternMatch::distance at which the graph is close to the pattern.
inline constexpr int kFoundOps = 3;

// Returns the part of the graph that comes closest to the pattern and contains `node`; nullopt if
// no step of the pattern has the node's op. Looks a few nodes far, and at a few readers of each, so
// that the cost does not depend on the size of the graph.
std::optional<PatternMatch> ClosestMatch(const OpPattern& pattern, const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_OP_PATTERN_H_
