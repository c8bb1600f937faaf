// The smallest graph that still shows something.
#ifndef GRAPNEL_LIB_CHECK_REDUCE_H_
#define GRAPNEL_LIB_CHECK_REDUCE_H_

#include <functional>
#include <memory>

#include "lib/ir/module.h"

namespace grapnel {

struct ReduceOptions {
  // Whether a graph still shows it. An error ends the search.
  std::function<Expected<bool>(const Module&)> interesting;
  // Called with each graph that does and is smaller than the last: to save it. May be empty.
  std::function<Error(const Module&)> found;
  int max_checks = -1;  // calls of `interesting`; -1: until nothing can go
};

struct Reduced {
  std::unique_ptr<Module> module;
  int checks = 0;
};

// Drops results nobody reads, turns nodes into placeholders, bypasses nodes, drops control edges,
// devices, attributes and functions, makes constants plain and dimensions small; in chunks that
// halve, over and over, until no single step is left. Nodes keep their names. Errors: `module` is
// not interesting itself.
Expected<Reduced> Reduce(std::unique_ptr<Module> module, const ReduceOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REDUCE_H_
