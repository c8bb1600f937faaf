// A debugger target for a graph.
#ifndef GRAPNEL_LIB_DEBUGGER_GRAPH_TARGET_H_
#define GRAPNEL_LIB_DEBUGGER_GRAPH_TARGET_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/debugger/debug_target.h"
#include "lib/job/name_resolver.h"
#include "lib/job/run.h"

namespace grapnel {

class GraphTarget : public DebugTarget {
 public:
  // `opened` outlives the target and does not change. What RunRequest::ByItself() resets is
  // ignored.
  GraphTarget(const OpenedGraph& opened, const RunRequest& request);

  Error Begin() override;
  Expected<std::vector<Tensor>> Run(std::vector<Tensor> values) override;
  const Module& module() const override { return opened_.module(); }
  const std::vector<std::string>& feeds() const override { return job_->feeds(); }
  const std::vector<Tensor>& feed_values() const override { return job_->feed_values(); }
  const std::vector<std::string>& fetches() const override { return job_->fetches(); }
  const std::vector<std::string>& fetch_names() const override { return job_->fetch_names(); }
  const LineTable& lines() const override;
  Expected<NodeSelection> FindNodes(llvm::StringRef name) const override;
  const std::string& path() const override { return opened_.model().path; }

 private:
  const OpenedGraph& opened_;
  RunRequest request_;
  ThreadPool pool_;
  bool has_said_ = false;
  std::unique_ptr<RunJob> job_;
  mutable std::optional<LineTable> lines_;
  mutable NameResolver names_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_GRAPH_TARGET_H_
