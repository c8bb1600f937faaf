// Reduces a graph to a small one that still has a property.
#ifndef GRAPNEL_LIB_CHECK_REDUCE_H_
#define GRAPNEL_LIB_CHECK_REDUCE_H_

#include <functional>
#include <memory>

#include "lib/ir/module.h"

namespace grapnel {

struct ReduceOptions {
  // Returns true if a graph still has the property. An error ends the search.
  std::function<Expected<bool>(const Module&)> interesting;
  // Called with each reduced graph that has the property, to save it. May be null.
  std::function<Error(const Module&)> found;
  int max_checks = -1;  // limit of calls of `interesting`; -1: no limit
};

struct Reduced {
  std::unique_ptr<Module> module;
  int checks = 0;
};

// Removes nodes that no node reads, turns nodes into placeholders, bypasses nodes, drops control
// edges, devices, attributes and functions, simplifies constants and shrinks dimensions. Tries
// these steps on chunks of nodes, first large and then halved, and stops when no step on a single
// node keeps the property, or at `max_checks`. Nodes keep their names. Errors: those of the two
// functions; `module` itself does not have the property.
Expected<Reduced> Reduce(std::unique_ptr<Module> module, const ReduceOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_REDUCE_H_
