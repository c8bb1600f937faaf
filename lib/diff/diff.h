// What differs between two graphs.
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

// One thing that differs between two nodes that are matched: "name" (only when names count), "op",
// "device", "input 1", "control inputs", or an attribute's name.
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
  std::vector<Change> changes;  // of what is no node: attributes, control outputs
};

// What a stage did to a removed node.
struct NodeOutcome {
  enum Kind {
    kPruned,    // nothing reads it
    kMerged,    // an equal node, which both graphs have, is read in its place
    kFolded,    // its readers became constants, or read one now
    kBypassed,  // its readers read what it read
    kFused,     // a reader with another op computes it
    kReplaced,  // another node is read in its place
  } kind = kPruned;
  std::string into;  // the node of B that took its place or its work; empty: none
};

// A call that the stage inlined: in B the nodes of the body are in the caller's graph, as
// CALL/NODE.
struct OpenedCall {
  std::string call, function;
  // Each node of the body ("function/node") and its copy, sorted by the copy's name. Calls within
  // the body that were opened too have entries of their own.
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
  // Where names decided (DiffOptions::by_name), else empty. `fates` has one for each of `removed`,
  // in its order. Copies that calls were opened into are not in `added`, nor are bodies that live
  // on in them in `removed`. What is in `counted` is not among the changes of `matched`.
  std::vector<NodeOutcome> fates;
  std::vector<OpenedCall> opened;      // sorted by call
  std::vector<CountedChange> counted;  // sorted
  bool Same() const;
};

struct DiffOptions {
  IgnoreRules ignore;
  OnlyFilters only;
  bool names = false;  // a renamed node or function is changed
  // A node is the one of the same name, whatever else differs, and so is a function: what stages of
  // one run need, since no pass of TensorFlow renames a node. Also tells the fates of what is gone.
  bool by_name = false;
  const Provenance* provenance = nullptr;  // from A to B
  bool side_by_side = true;                // two threads for what is large
};

// Matches nodes by provenance, names and structure (lib/diff/matching.h), and compares those that
// are matched. Inputs are compared as the matching has them, so neither names nor order of nodes
// make a difference. Both modules must outlive the result. Near-linear: some 2 us a node.
Diff DiffModules(const Module& a, const Module& b, const DiffOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_H_
