#include "lib/check/bisect.h"

#include "lib/support/delta_debugging.h"

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
  bool pass_failed = false;  // `what` is the error of a failed pass
};

Expected<Probe> Try(const BisectOptions& options, int limit) {
  Probe probe;
  ASSIGN_OR_RETURN(Module * module, options.open());
  OptimizeOptions optimize = options.optimize;
  optimize.limit = limit;
  PassManager manager;
  manager.Add(std::make_unique<LastRewrite>(&probe.last));
  manager.Add(MakeVerifyInstrumentation(/*is_sound=*/true, optimize.fetches));
  auto result = manager.Run(*module, optimize);
  if (result) {
    probe.rewrites = result->rewrites;
    ASSIGN_OR_RETURN(probe.what, options.fails(*module));
  } else {
    probe.rewrites = probe.last.number;
    probe.what = TextOf(result.takeError());
    probe.pass_failed = true;
  }
  return probe;
}

}  // namespace

Expected<std::optional<Culprit>> Bisect(const BisectOptions& options) {
  ASSIGN_OR_RETURN(Probe bad, Try(options, options.optimize.limit));
  if (!bad.what) return std::optional<Culprit>();
  const int rewrites = bad.rewrites;
  if (bad.pass_failed) {
    // Run the passes again with exactly this many rewrites, and with none. If the run with all of
    // them no longer fails, or the run with none does, no rewrite is the cause.
    ASSIGN_OR_RETURN(Probe same, Try(options, rewrites));
    ASSIGN_OR_RETURN(Probe none, Try(options, 0));
    if (!same.what || none.what) return MakeError("{0}", *bad.what);
  }
  ASSIGN_OR_RETURN(Module * module, options.open());
  ASSIGN_OR_RETURN(std::optional<std::string> before, options.fails(*module));
  if (before) return MakeError("the check fails before any pass: {0}", *before);
  auto fails = [&](int64_t limit) -> Expected<bool> {
    ASSIGN_OR_RETURN(Probe probe, Try(options, static_cast<int>(limit)));
    if (!probe.what) return false;
    bad = std::move(probe);
    return true;
  };
  RETURN_IF_ERROR(FirstBad(0, rewrites, fails).takeError());
  return std::optional<Culprit>(Culprit{bad.last, rewrites, *bad.what});
}

}  // namespace grapnel
