// A graph compiled for given fetches, whole or split over devices.
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
// Returns the callback ExecutorOptions::take_value, which moves the value of a constant out of the
// module. For modules whose constants are not read after compiling. Values of constants in
// functions, and values that several nodes share, stay in the module. The module outlives all
// plans.
GRAPNEL_PUBLIC TakeValue ValueTaker(Module& module);

// Places the graph on the request's devices (one CPU if the request has none), for runs from the
// feeds to the fetches of `options`: nodes get devices, and calls may be inlined. With GPUs, nodes
// go where TensorFlow's kernels let them go. If only GPUs are listed, requests of a graph that was
// recorded on several CPUs mean the GPUs of those numbers. Errors: those of PlacerSetup::Make;
// nodes that cannot be placed, with the reasons; a device that cannot be simulated; `options` has a
// device too.
GRAPNEL_PUBLIC Expected<std::unique_ptr<PlacerSetup>> PlaceForRun(Module& module,
                                                                  const RunRequest& request,
                                                                  const ExecutorOptions& options);

// Move-only. The graph from which the plan was compiled outlives the plan.
struct GRAPNEL_PUBLIC RunPlan {
  static Expected<RunPlan> Compile(const Graph& graph, const ExecutorOptions& options);
  // Compiles a graph that PlaceForRun placed. For a single device, does the same as Compile. If
  // RealGpuFor() finds a GPU, moves the nodes of logical GPUs there, and compiles the graph whole.
  static Expected<RunPlan> CompilePlaced(Module& placed, const PlacerSetup& setup,
                                         const ExecutorOptions& options);
  // See Executor::Run.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> values);

  std::unique_ptr<Executor> whole;          // null if the graph is split
  std::unique_ptr<PartitionedGraph> split;  // null if it is not split
  std::unique_ptr<PartitionedExecutor> parts;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_PLAN_H_
