// Which scopes are called otherwise in B.
#ifndef GRAPNEL_LIB_DIFF_RENAMES_H_
#define GRAPNEL_LIB_DIFF_RENAMES_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"

namespace grapnel {

// "stem -> entry_conv: 9 nodes". Empty: the top, where names were put into a scope or taken out of
// one.
struct Rename {
  std::string a, b;
  size_t nodes = 0;
};

// Each matched node whose name differs counts for the outermost part that does, as it reads from
// the front once the end that both names have in common is gone: model/stem/w and model/entry/w
// are model/stem -> model/entry. Names of functions take no part. Most nodes first, then by name.
std::vector<Rename> RenamesOf(const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_RENAMES_H_
