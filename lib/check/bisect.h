// Finds the single rewrite that makes a check fail.
#ifndef GRAPNEL_LIB_CHECK_BISECT_H_
#define GRAPNEL_LIB_CHECK_BISECT_H_

#include <functional>
#include <memory>
#include <optional>

#include "lib/pass/pass_manager.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC BisectOptions {
  // Returns the graph before any pass, the same each time; it is valid until the next call.
  std::function<Expected<Module*>()> open;
  OptimizeOptions optimize;  // limit: the end of the search; -1: all rewrites
  // Returns the problem of a graph; nullopt if it has no problem.
  std::function<Expected<std::optional<std::string>>(const Module&)> fails;
};

struct GRAPNEL_PUBLIC Culprit {
  Rewrite rewrite;   // the first after which `fails` returns a problem
  int rewrites = 0;  // the number of rewrites searched
  std::string what;  // the problem
};

// Runs the passes about log2(rewrites) times, each time with a limit, as `opt --limit` does. A pass
// that fails because of a rewrite, as when the graph is broken, counts as a failed check. Returns
// nullopt if the check passes with all rewrites. Errors: the check fails before the first rewrite;
// a pass fails by itself, or changed the graph without recording a rewrite.
GRAPNEL_PUBLIC Expected<std::optional<Culprit>> Bisect(const BisectOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_BISECT_H_
