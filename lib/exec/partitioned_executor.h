// Runs a graph that was split by device: parts that send one another values.
#ifndef GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
#define GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/collectives.h"
#include "lib/exec/executor.h"

namespace grapnel {

class PartCrew;

// A part: what runs on one device, with _Send and _Recv where edges were cut (lib/place/partition.h
// makes them).
struct DevicePart {
  std::string device;  // for errors
  const Graph* graph;  // outlives the executor
};

// The parts share a session. Each has one thread at a time and runs its nodes as they become ready;
// there are as many threads as are of use, at most those of the pool. A value goes to its receiver
// together with the iteration of the loops that it is in, dead ones too, so a branch or a loop of
// single nodes may be spread over parts. A sender in a loop is ahead of its receiver by
// `parallel_iterations` at most: memory does not grow with the number of rounds.
class PartitionedExecutor {
 public:
  // Feeds and fetches are looked for in all parts; of `options.pool` only the number of threads is
  // used. Every _Send of a part runs. Errors are Executor::Compile's, and: two nodes that send or
  // receive the same, ends of different dtypes.
  static Expected<std::unique_ptr<PartitionedExecutor>> Compile(llvm::ArrayRef<DevicePart> parts,
                                                                const ExecutorOptions& options);
  ~PartitionedExecutor();

  // As Executor::Run. When parts fail, the error of the one that failed first. A receiver that no
  // sender has served when no part can go on is an error that names both ends.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds);

 private:
  struct Part;
  PartitionedExecutor();
  Error AddPart(const DevicePart& given, const ExecutorOptions& options, std::vector<bool>* found);
  Error RunParts();
  Error FindStuck();

  std::unique_ptr<Session> own_session_;
  MessageSink print_;
  std::mutex printing_;
  std::vector<std::unique_ptr<Part>> parts_;
  Collectives collectives_;
  std::unique_ptr<PartCrew> crew_;
  size_t num_fetches_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
