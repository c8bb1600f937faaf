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

// One difference between two matched nodes: "name" (only when names count), "op", "device", "input
// 1", "control inputs", or an attribute's name.
struct Change {
  std::string what, before, after;  // empty: it was not there
};

struct NodeEntry {
  llvm::StringRef name;  // a function's node is "function/node"; of the module, or of Diff::names
  Node node;
  llvm::StringRef function() const;  // empty in the main graph
};

struct MatchedPair {
  NodeEntry a, b;
  std::vector<Change> changes;  // empty: the same
};

// N nodes that became one (a fusion), or one that became N.
struct GroupEntry {
  std::vector<NodeEntry> a, b;
};

struct FunctionEntry {
  std::string a, b;             // empty: only the other graph has it
  std::vector<Change> changes;  // outside of nodes: attributes, control outputs
};

// The effect of a stage on a removed node.
struct NodeOutcome {
  enum Kind {
    kPruned,    // nothing reads it
    kMerged,    // readers read an equal node, which both graphs have
    kFolded,    // its readers became constants, or now read one
    kBypassed,  // its readers now read its input
    kFused,     // a reader, now with another op, computes it
    kReplaced,  // its readers read another node
  } kind = kPruned;
  std::string into;  // the node of B that replaced or absorbed it; empty: none
};

// A call that the stage inlined: B has the body's nodes in the caller's graph, as CALL/NODE.
struct OpenedCall {
  std::string call, function;
  // Each node of the body ("function/node") and its copy, sorted by the copy's name. Inlined calls
  // within the body have entries of their own.
  std::vector<std::pair<std::string, std::string>> nodes;
};

// Changes of one kind that many nodes share: "placed on cpu:0".
struct CountedChange {
  std::string what;
  std::vector<std::string> nodes;  // sorted
};

struct Diff {
  std::vector<MatchedPair> matched;                // sorted by A's name
  std::vector<NodeEntry> removed;                  // only in A, sorted by name
  std::vector<NodeEntry> added;                    // only in B
  std::vector<GroupEntry> groups;                  // sorted by A's first name
  std::vector<FunctionEntry> functions;            // those of A, then those that only B has
  std::shared_ptr<std::deque<std::string>> names;  // of entries of functions
  // These are filled only when names decide (DiffOptions::by_name). `fates` has one entry for each
  // of `removed`, in its order. `added` leaves out copies of inlined nodes, and `removed` leaves
  // out the bodies that live on in them. Changes in `counted` are left out of `matched`.
  std::vector<NodeOutcome> fates;
  std::vector<OpenedCall> opened;      // sorted by call
  std::vector<CountedChange> counted;  // sorted
  bool Same() const;
};

struct DiffOptions {
  IgnoreRules ignore;
  OnlyFilters only;
  bool names = false;  // a renamed node or function counts as changed
  // Matches nodes and functions by name alone, whatever else differs. For stages of one run: no
  // TensorFlow pass renames a node. Also finds what became of removed nodes.
  bool by_name = false;
  const Provenance* provenance = nullptr;  // from A to B
  bool side_by_side = true;                // use two threads for large graphs
};

// Matches nodes by provenance, names and structure (lib/diff/matching.h), and compares the matched
// ones. Inputs are compared through the matching, so neither names nor the order of nodes make a
// difference. Both modules must outlive the result. Near-linear: some 2 us a node.
Diff DiffModules(const Module& a, const Module& b, const DiffOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_H_
