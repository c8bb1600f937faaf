#include "lib/check/bisect.h"

namespace grapnel {
namespace {

class LastRewrite : public Instrumentation {
 public:
  explicit LastRewrite(Rewrite* last) : last_(*last) {}
  void OnRewrite(const Rewrite& rewrite) override { last_ = rewrite; }

 private:
  Rewrite& last_;
};

struct Probe {
  int rewrites = 0;
  Rewrite last;
  std::optional<std::string> what;
};

Expected<Probe> Try(const BisectOptions& options, int limit) {
  Probe probe;
  ASSIGN_OR_RETURN(Module * module, options.open());
  OptimizeOptions optimize = options.optimize;
  optimize.limit = limit;
  PassManager manager;
  manager.Add(std::make_unique<LastRewrite>(&probe.last));
  ASSIGN_OR_RETURN(OptimizeResult result, manager.Run(*module, optimize));
  probe.rewrites = result.rewrites;
  ASSIGN_OR_RETURN(probe.what, options.fails(*module));
  return probe;
}

}  // namespace

Expected<std::optional<Culprit>> Bisect(const BisectOptions& options) {
  ASSIGN_OR_RETURN(Probe bad, Try(options, options.optimize.limit));
  if (!bad.what) return std::optional<Culprit>();
  const int rewrites = bad.rewrites;
  ASSIGN_OR_RETURN(Module * module, options.open());
  ASSIGN_OR_RETURN(std::optional<std::string> before, options.fails(*module));
  if (before) return MakeError("the check fails before any pass: {0}", *before);
  // After `good` rewrites all is well, after `bad.rewrites` it is not.
  int good = 0;
  while (bad.rewrites - good > 1) {
    ASSIGN_OR_RETURN(Probe probe, Try(options, good + (bad.rewrites - good) / 2));
    if (probe.what) {
      bad = std::move(probe);
    } else {
      good = probe.rewrites;
    }
  }
  return std::optional<Culprit>(Culprit{bad.last, rewrites, *bad.what});
}

}  // namespace grapnel
