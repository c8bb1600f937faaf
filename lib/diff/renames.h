// Finds renamed scopes and nodes.
#ifndef GRAPNEL_LIB_DIFF_RENAMES_H_
#define GRAPNEL_LIB_DIFF_RENAMES_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"

namespace grapnel {

// One renamed scope or node: "stem -> entry_conv: 9 nodes". An empty name is the top level, when
// nodes were moved into a scope or out of one.
struct Rename {
  std::string a, b;
  size_t nodes = 0;
};

// Returns the renamed scopes and nodes. Each matched node with a new name counts for the outermost
// component that differs, after the common end of both names is removed: model/stem/w and
// model/entry/w count for model/stem -> model/entry. Names of functions do not count. Sorted by
// number of nodes, largest first, then by name.
std::vector<Rename> RenamesOf(const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_RENAMES_H_
