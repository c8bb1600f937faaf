// Why nodes are as they are after the passes: the answers to `--why-not --node`.
#ifndef GRAPNEL_LIB_JOB_NODE_ANSWER_H_
#define GRAPNEL_LIB_JOB_NODE_ANSWER_H_

#include <string>
#include <vector>

#include "lib/ir/short_names.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct NodeAndOp {
  std::string node, op;
  bool operator==(const NodeAndOp& other) const { return node == other.node && op == other.op; }
};

// A rewrite that replaced, changed or removed a node.
struct NodeChange {
  enum Kind {
    kFused,      // into one node with others
    kRewritten,  // into another op, or replaced by another node
    kRemoved,
  } kind = kRemoved;
  int rewrite = 0;  // its number
  std::string pass, rule;
  NodeAndOp into;                      // what stands for the node now; empty if kRemoved
  std::vector<std::string> fused_ops;  // of the new node, if it says them
  std::vector<NodeAndOp> with;         // the other nodes that were rewritten
};

// A rule that came close to a node, and did not rewrite it.
struct CloseRule {
  enum Nearness {
    kRefused,   // the ops of the rule's pattern were there
    kNear,      // with an op in between, with another op of the same kind, or without a refusal
    kOneOp,     // a rule about the node alone
    kFar,       // an op was missing; for arithmetic also: an op in between changes values
    kNoRemedy,  // a rule about the node alone, without a way to make it fire
  } nearness = kFar;
  int gap = 0;  // between rules of equal nearness: the smaller, the nearer
  std::string pass, rule, help;
  std::vector<std::string> also;   // other rules of the pass, for which the same holds
  std::vector<NodeAndOp> nodes;    // the nodes that the rule would rewrite, inputs first
  std::string reason, remedy;      // the condition that failed; what would make it hold, or ""
  std::vector<NodeAndOp> between;  // nodes that are in the way
  std::string came_first;          // "pass/rule" that rewrote these nodes before; or empty
  std::string made_at;             // the source line of the last of `nodes`; or empty
};

// True for passes whose rules need their ops side by side. With an op in between, a fusion may
// still be what the user means.
bool IsArithmetic(llvm::StringRef pass);

struct NodeAnswer {
  std::string node, op;                // NODE, or FUNCTION/NODE
  std::string dtype, device, made_at;  // empty: unknown
  bool is_optimized = true;            // false: no pass ran on the function
  std::vector<NodeChange> changes;
  std::vector<CloseRule> closest;  // the closest first
};

// Writes what became of the nodes and which rules came close, the most important first: nodes that
// were fused together, or that one rule came close to, have one block, and other nodes share a
// line. `all`: every block, not only the first few.
void WriteNodeAnswers(llvm::ArrayRef<NodeAnswer> answers, bool all, const ShortNames& names,
                      llvm::raw_ostream& os);
// Returns the names as WriteNodeAnswers prints them. `known`: those of the graph before the passes.
ShortNames NamesOf(llvm::ArrayRef<NodeAnswer> answers, std::vector<std::string> known,
                   const Module& after);
// Writes the attribute "nodes" into the open JSON object.
void WriteNodeAnswersJson(llvm::ArrayRef<NodeAnswer> answers, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_NODE_ANSWER_H_
