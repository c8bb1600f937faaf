// Runs a graph that was split by device: each part on a thread of its own.
#ifndef GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
#define GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/executor.h"

namespace grapnel {

// A part: what runs on one device, with _Send and _Recv where edges were cut. Its nodes must be in
// an order in which all parts can run theirs without waiting in a circle (lib/place/partition.h).
struct DevicePart {
  std::string device;  // for errors
  const Graph* graph;  // outlives the executor
};

// The parts share a session: variables, and what is sent. Each runs its nodes one after the other,
// so as many threads work as there are devices, and never more.
class PartitionedExecutor {
 public:
  // Feeds and fetches are looked for in all parts; `options.pool` is not used. Every _Send of a
  // part runs. Errors are Executor::Compile's, and: a part with Switch, Merge or a loop of single
  // nodes, whose dead values cannot be sent.
  static Expected<std::unique_ptr<PartitionedExecutor>> Compile(llvm::ArrayRef<DevicePart> parts,
                                                                const ExecutorOptions& options);
  ~PartitionedExecutor();

  // As Executor::Run. When parts fail, the error of the one that failed first.
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds);

 private:
  struct Part;
  PartitionedExecutor();
  Error RunPart(Part* part, llvm::ArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results);

  std::unique_ptr<Session> own_session_;
  Session* session_ = nullptr;
  MessageSink print_;
  std::mutex printing_;
  std::vector<std::unique_ptr<Part>> parts_;
  size_t num_fetches_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_PARTITIONED_EXECUTOR_H_
