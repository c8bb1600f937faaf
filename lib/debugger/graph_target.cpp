#include "lib/debugger/graph_target.h"

#include "lib/job/source.h"

namespace grapnel {

GraphTarget::GraphTarget(const OpenedGraph& opened, const RunRequest& request)
    : opened_(opened), request_(request.ByItself()), pool_(1), names_(opened, request.signature) {
  request_.pool = &pool_;
  // Writes the warnings about the graph only the first time, although each restart makes a new job.
  request_.sink = [this, sink = request_.sink](Severity severity, llvm::StringRef text) {
    if (!has_said_ && sink) sink(severity, text);
  };
  request_.print = [this, print = request_.print](Severity severity, llvm::StringRef text) {
    if (!is_unseen() && print) print(severity, text);
  };
}

Error GraphTarget::Begin() {
  request_.hook = hook();
  job_.reset();
  ASSIGN_OR_RETURN(RunJob job, RunJob::MakeApart(opened_, request_));
  job_ = std::make_unique<RunJob>(std::move(job));
  RETURN_IF_ERROR(job_->Prepare());
  has_said_ = true;
  return Error::success();
}

Expected<std::vector<Tensor>> GraphTarget::Run(std::vector<Tensor> values) {
  return job_->Run(std::move(values));
}

const LineTable& GraphTarget::lines() const {
  if (!lines_) lines_ = LinesOf(opened_);
  return *lines_;
}

Expected<NodeSelection> GraphTarget::FindNodes(llvm::StringRef name) const {
  return names_.Nodes(name, /*may_come=*/true);
}

}  // namespace grapnel
