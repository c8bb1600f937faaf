// Finds the differences between two graphs.
#ifndef GRAPNEL_LIB_DIFF_DIFF_H_
#define GRAPNEL_LIB_DIFF_DIFF_H_

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "lib/diff/ignore.h"
#include "lib/diff/provenance.h"
#include "lib/ir/module.h"

namespace grapnel {

// One difference between two matched nodes or functions. `what` is "name" (only if renaming counts
// as a change), "op", "device", "input 1", "control inputs", "control outputs" (of a function), or
// the name of an attribute. For control inputs and outputs, `before` and `after` list only those
// that the other graph lacks.
struct Change {
  // `before` is empty if graph A lacks what is compared, `after` if B does.
  std::string what, before, after;
};

struct NodeEntry {
  llvm::StringRef name;  // "function/node" in a function; memory of the module or Diff::names
  Node node;
  llvm::StringRef function() const;  // empty in the main graph
};

struct MatchedPair {
  NodeEntry a, b;
  std::vector<Change> changes;  // empty: no difference that counts
};

// N nodes of A that became one node of B (a fusion), or one node of A that became N nodes of B (a
// split). With a ledger, also N nodes that became M.
struct GroupEntry {
  std::vector<NodeEntry> a, b;
};

struct FunctionEntry {
  std::string a, b;             // empty: only the other graph has the function
  std::vector<Change> changes;  // of the function itself: name, attributes, control outputs
};

// How a node of A was removed on the way to B, a later stage of the same run.
struct NodeOutcome {
  enum Kind {
    kPruned,    // no node reads it, or the cause is unknown
    kMerged,    // a reader now reads a node with the same op, which both graphs have
    kFolded,    // a reader became a constant, or now reads one
    kBypassed,  // a reader now reads a node that it depends on
    kFused,     // a reader, which has another op now, computes it
    kReplaced,  // a reader now reads another node
  } kind = kPruned;
  std::string into;  // the node of B that replaced or absorbed it, if any
};

// A call of A that is inlined in B: copies of the function's nodes, named CALL/NODE, are in the
// place of the call. For a lowered loop or branch, `call` is CALL/body/_N, the scope of the copies.
struct OpenedCall {
  std::string call, function;
  // The nodes of the body ("function/node") that have copies, each with its copy, sorted by the
  // name of the copy. Calls in the body that were inlined too have their own entries.
  std::vector<std::pair<std::string, std::string>> nodes;
};

// A change that is counted, not listed for each node: "placed on cpu:0".
struct CountedChange {
  std::string what;
  std::vector<std::string> nodes;  // sorted
};

struct Diff {
  std::vector<MatchedPair> matched;                // sorted by A's name
  std::vector<NodeEntry> removed;                  // only in A, sorted by name
  std::vector<NodeEntry> added;                    // only in B
  std::vector<GroupEntry> groups;                  // sorted by A's first name
  std::vector<FunctionEntry> functions;            // pairs, then only in A, then only in B
  std::shared_ptr<std::deque<std::string>> names;  // stores the names of functions' nodes
  // The following fields are filled only if nodes are matched by name (DiffOptions::by_name).
  // `fates` says for each node in `removed`, in the same order, how it was removed. What `opened`
  // and `counted` describe is not listed again: `added` omits the copies of inlined nodes,
  // `removed` the nodes of inlined functions that B lacks, and `matched` the changes that `counted`
  // counts.
  std::vector<NodeOutcome> fates;
  std::vector<OpenedCall> opened;      // sorted by the name of the call
  std::vector<CountedChange> counted;  // sorted
  bool Same() const;
};

struct DiffOptions {
  IgnoreRules ignore;
  OnlyFilters only;
  bool names = false;  // a renamed node or function counts as changed
  // Matches nodes and functions by name only, even if everything else differs. For stages of one
  // run: no TensorFlow pass renames a node. Also finds out how nodes were removed.
  bool by_name = false;
  const Provenance* provenance = nullptr;  // where B's nodes come from in A
  bool side_by_side = true;                // use two threads for large graphs
};

// Matches nodes by provenance, names and structure (lib/diff/matching.h), and compares the matched
// nodes. Two inputs are equal if their source nodes are matched, so names and the order of nodes
// make no difference. Both modules must outlive the result. Near-linear: some 2 us a node.
Diff DiffModules(const Module& a, const Module& b, const DiffOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_H_
