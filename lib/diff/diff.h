// What differs between two graphs.
#ifndef GRAPNEL_LIB_DIFF_DIFF_H_
#define GRAPNEL_LIB_DIFF_DIFF_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// One thing that differs between two nodes that are matched: "op", "device", "input 1", "control
// inputs", or an attribute's name.
struct Change {
  std::string what, before, after;  // empty: it was not there
};

struct MatchedPair {
  std::string a, b;             // a function's node is "function/node"
  std::string op;               // of b
  std::vector<Change> changes;  // empty: the same
};

struct NodeEntry {
  std::string name, op;
};

struct Diff {
  std::vector<MatchedPair> matched;  // sorted by a
  std::vector<NodeEntry> removed;    // only in A, sorted by name
  std::vector<NodeEntry> added;      // only in B
  bool Same() const;
};

// Matches nodes by name, in the main graph and in functions of one name. Linear. Constants are
// compared by value; attributes of the names in `ignored` are not compared.
Diff DiffByName(const Module& a, const Module& b, llvm::ArrayRef<std::string> ignored = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_DIFF_H_
