// A graph compiled for what is fetched, whole or split over devices.
#ifndef GRAPNEL_LIB_JOB_RUN_PLAN_H_
#define GRAPNEL_LIB_JOB_RUN_PLAN_H_

#include <functional>
#include <memory>
#include <vector>

#include "lib/exec/partitioned_executor.h"
#include "lib/place/partition.h"
#include "lib/place/settings.h"
#include "lib/support/public.h"

namespace grapnel {

struct RunRequest;  // lib/job/run.h

using TakeValue = std::function<std::shared_ptr<const void>(const Node& constant)>;
// ExecutorOptions::take_value for a module whose constants nobody reads once it is compiled. A
// value that several nodes have stays. The module outlives all plans.
GRAPNEL_PUBLIC TakeValue ValueTaker(Module& module);

// Places the graph on the request's devices (none: one CPU), for runs from the feeds to the fetches
// of `options`: nodes get their devices, calls may give way to their functions' nodes. Errors: what
// cannot be placed, with the reasons; a device that is no CPU, since only those can be played;
// another device in `options`.
GRAPNEL_PUBLIC Expected<std::unique_ptr<PlacerSetup>> PlaceForRun(Module& module,
                                                                  const RunRequest& request,
                                                                  const ExecutorOptions& options);

// Move-only. What it was compiled from outlives it.
struct GRAPNEL_PUBLIC RunPlan {
  static Expected<RunPlan> Compile(const Graph& graph, const ExecutorOptions& options);
  // Of a graph that PlaceForRun placed: where that has one device, as Compile.
  static Expected<RunPlan> CompilePlaced(Module& placed, const PlacerSetup& setup,
                                         const ExecutorOptions& options);
  // See Executor::Run.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> values);

  std::unique_ptr<Executor> whole;          // null: it is split
  std::unique_ptr<PartitionedGraph> split;  // that the next runs
  std::unique_ptr<PartitionedExecutor> parts;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_PLAN_H_
