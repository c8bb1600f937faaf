// Which single rewrite made a check fail.
#ifndef GRAPNEL_LIB_CHECK_BISECT_H_
#define GRAPNEL_LIB_CHECK_BISECT_H_

#include <functional>
#include <memory>
#include <optional>

#include "lib/pass/pass_manager.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC BisectOptions {
  // The graph before any pass, the same each time; what it returns lives until the next call.
  std::function<Expected<Module*>()> open;
  OptimizeOptions optimize;  // limit: where the search ends; -1: all rewrites
  // What is wrong with a graph; nothing when it is well.
  std::function<Expected<std::optional<std::string>>(const Module&)> fails;
};

struct GRAPNEL_PUBLIC Culprit {
  Rewrite rewrite;   // the first after which `fails` says something
  int rewrites = 0;  // of how many
  std::string what;  // what it says
};

// Runs the passes about log2(rewrites) times, each time with a limit, as `opt --limit` does. A pass
// that fails since a rewrite, as one that broke the graph, is a check that fails. Nothing: with all
// rewrites the check still passes. Errors: it fails before the first rewrite; a pass fails by
// itself, or changed the graph on no record.
GRAPNEL_PUBLIC Expected<std::optional<Culprit>> Bisect(const BisectOptions& options);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_BISECT_H_
