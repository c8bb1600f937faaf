// Runs a graph that was split by device: partitions that send one another values.
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

// The partitions share a session. Each has one thread at a time and runs its nodes as they become
// ready; there are as many threads as are of use, at most those of the pool. A value goes to its
// receiver together with the iteration of the loops that it is in, dead tensors too, so a branch or
// a loop of single nodes may be spread over partitions. A sender in a loop is ahead of its receiver
// by `parallel_iterations` at most: memory does not grow with the number of iterations.
//
// Thread-safe like an Executor: runs that overlap meet in a rendezvous and in groups of collectives
// of their own.
class GRAPNEL_PUBLIC PartitionedExecutor {
 public:
  // Feeds and fetches are looked for in all partitions; of `options.pool` only the number of
  // threads is used. Every _Send of a partition runs. Errors are Executor::Compile's, and: two
  // nodes that send or receive the same, ends of different dtypes.
  static Expected<std::unique_ptr<PartitionedExecutor>> Compile(
      llvm::ArrayRef<PartitionGraph> partitions, const ExecutorOptions& options);
  ~PartitionedExecutor();

  // As Executor::Run. When partitions fail, the error of the one that failed first. A receiver that
  // no sender has served when no partition can go on is an error that names both ends.
  Expected<std::vector<Tensor>> Run(llvm::ArrayRef<Tensor> feeds);

 private:
  struct Impl;
  explicit PartitionedExecutor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
