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
  // Returns the graph before any pass, the same graph in each call; it is valid until the next
  // call.
  std::function<Expected<Module*>()> open;
  OptimizeOptions optimize;  // optimize.limit: search only this many rewrites; -1: all
  // The check: returns the problem of a graph; nullopt if the check passes.
  std::function<Expected<std::optional<std::string>>(const Module&)> fails;
};

struct GRAPNEL_PUBLIC Culprit {
  Rewrite rewrite;   // the check fails with the rewrites up to this one, not without it
  int rewrites = 0;  // number of rewrites that were searched
  std::string what;  // the problem
};

// Runs the passes about log2(number of rewrites) times, each time with a limit on rewrites, as `opt
// --limit` does. If a pass fails because of a rewrite, such as one that breaks the graph, this
// counts as a failed check. Returns nullopt if the check passes with all rewrites. Errors: those of
// `open` and `fails`; the check fails before the first rewrite; a pass fails independently of
// rewrites.
GRAPNEL_PUBLIC Expected<std::optional<Culprit>> Bisect(const BisectOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_BISECT_H_
