// Runs a graph that is split by device into partitions, which send values to each other.
#ifndef GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
#define GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/support/public.h"

namespace grapnel {

// The graph of one device, with _Send and _Recv where edges to other devices were cut
// (lib/place/partition.h makes it).
struct GRAPNEL_PUBLIC PartitionGraph {
  std::string device;  // for errors
  const Graph* graph;  // outlives the executor
};

// Runs all partitions of a graph; they share a session. One thread at a time runs the nodes of a
// partition as they become ready; there are as many threads as are useful, at most as many as in
// the pool, and one if there is a hook. A message holds a value, which may be a dead tensor, and
// the sender's iteration in each enclosing loop, so a branch or a loop of single nodes (Enter,
// NextIteration, Exit) may span partitions. A sender in a loop is at most `parallel_iterations`
// ahead of its receiver: memory does not grow with the number of iterations.
//
// Thread-safe like an Executor: overlapping runs have separate rendezvous and groups of
// collectives.
class GRAPNEL_PUBLIC PartitionedExecutor {
 public:
  // Feeds and fetches may be in any partition; only the number of threads of `options.pool` is
  // used. Every _Send of a partition runs. A feed that no partition has is ignored. Errors: those
  // of Executor::Compile; two nodes send or receive the same value; a _Send and its _Recv have
  // different dtypes.
  static Expected<std::unique_ptr<PartitionedExecutor>> Compile(
      llvm::ArrayRef<PartitionGraph> partitions, const ExecutorOptions& options);
  ~PartitionedExecutor();

  // Like Executor::Run. If several partitions fail, the error is that of the first failure. If no
  // partition can continue and a _Send or _Recv still waits, the error names both of its devices.
  Expected<std::vector<Tensor>> Run(llvm::ArrayRef<Tensor> feeds);

 private:
  struct Impl;
  explicit PartitionedExecutor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
