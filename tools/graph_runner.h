// A graph made ready to run, on one device or split over several.
#ifndef GRAPNEL_TOOLS_GRAPH_RUNNER_H_
#define GRAPNEL_TOOLS_GRAPH_RUNNER_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/exec/partitioned_executor.h"
#include "lib/place/partition.h"
#include "tools/command_line.h"

namespace grapnel {

// `--devices` and what goes with it, the same in every command that runs graphs.
struct SpreadFlags {
  std::string devices;
  bool hard = false, log_placement = false;
  void AddTo(CommandLine& line);
};

class GraphRunner {
 public:
  // Without --devices an Executor for the main graph. With them the graph is placed (its nodes get
  // their devices), split, and the parts run side by side. `log` gets the placement's
  // lines, if they are asked for. Errors: what cannot be placed, with the reasons; a device that is
  // no CPU, since only those can be played.
  static Expected<GraphRunner> Make(Module& module, const ExecutorOptions& options,
                                    const SpreadFlags& flags, llvm::raw_ostream& log);

  Expected<std::vector<Tensor>> Run(std::vector<Tensor> feeds) {
    return parts_ ? parts_->Run(std::move(feeds)) : whole_->Run(std::move(feeds));
  }
  const PlanSpread* spread() const { return whole_ ? &whole_->spread() : nullptr; }
  const PartitionedGraph* split() const { return split_.get(); }  // null: one device

 private:
  Error Split(Module& module, const ExecutorOptions& options, const SpreadFlags& flags,
              llvm::raw_ostream& log);

  std::unique_ptr<Executor> whole_;
  std::unique_ptr<PartitionedGraph> split_;  // that the next runs
  std::unique_ptr<PartitionedExecutor> parts_;
};

// How it is spread over `device` and the CPU, or over how many devices; nothing of one that is for
// the CPU alone.
void SaySpread(const GraphRunner& runner, const Device& device, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_GRAPH_RUNNER_H_
