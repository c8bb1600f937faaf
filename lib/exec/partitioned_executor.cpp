#include "lib/exec/partitioned_executor.h"

#include "lib/exec/executor_impl.h"
#include "lib/exec/part_crew.h"
#include "lib/ir/find.h"
#include "lib/support/denormals.h"

namespace grapnel {

struct PartitionedExecutor::Part {
  std::string device;
  ThreadPool pool{1};
  std::unique_ptr<Executor> executor;
  std::vector<size_t> feeds, fetches;  // of all, by place among those of this part
  std::vector<Tensor> results;
};

PartitionedExecutor::PartitionedExecutor() = default;
PartitionedExecutor::~PartitionedExecutor() = default;

Expected<std::unique_ptr<PartitionedExecutor>> PartitionedExecutor::Compile(
    llvm::ArrayRef<DevicePart> parts, const ExecutorOptions& given) {
  std::unique_ptr<PartitionedExecutor> made(new PartitionedExecutor());
  ExecutorOptions options = given;
  if (!options.session) {
    made->own_session_ = std::make_unique<Session>();
    options.session = made->own_session_.get();
  }
  made->num_fetches_ = options.fetches.size();
  made->print_ = options.print;
  std::vector<bool> found(options.fetches.size());
  std::vector<Executor::Impl*> impls;
  for (const DevicePart& part : parts) {
    RETURN_IF_ERROR(made->AddPart(part, options, &found));
    impls.push_back(made->parts_.back()->executor->impl_.get());
    impls.back()->collectives = &made->collectives_;
    impls.back()->number = impls.size() - 1;
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) return MakeError("fetch '{0}': no part has this tensor", options.fetches[i]);
  }
  RETURN_IF_ERROR(Executor::Impl::LinkTransfers(impls));
  made->crew_ = std::make_unique<PartCrew>(
      static_cast<int>(parts.size()), options.pool->num_threads(), options.session->helpers(),
      [made = made.get()](int part) {
        Executor::Impl& impl = *made->parts_[part]->executor->impl_;
        return Annotate(made->parts_[part]->device, impl.frames->Continue());
      },
      [impls](int part) { impls[part]->frames->inbox().Stop(); });
  for (size_t i = 0; i < impls.size(); ++i) {
    impls[i]->frames->inbox().OnNews(
        [crew = made->crew_.get(), i] { crew->Wake(static_cast<int>(i)); });
  }
  return made;
}

Error PartitionedExecutor::AddPart(const DevicePart& given, const ExecutorOptions& options,
                                   std::vector<bool>* found) {
  parts_.push_back(std::make_unique<Part>());
  Part& part = *parts_.back();
  part.device = given.device;
  ExecutorOptions own = options;
  own.feeds.clear();
  own.fetches.clear();
  own.pool = &part.pool;
  own.is_part = true;
  if (options.print) {
    own.print = [this](Severity severity, llvm::StringRef text) {
      std::lock_guard lock(printing_);
      print_(severity, text);
    };
  }
  auto has = [&](llvm::StringRef tensor) {
    return FindTensorIfThere(*given.graph, tensor).has_value();
  };
  for (size_t i = 0; i < options.feeds.size(); ++i) {
    if (!has(options.feeds[i])) continue;
    own.feeds.push_back(options.feeds[i]);
    part.feeds.push_back(i);
  }
  for (size_t i = 0; i < options.fetches.size(); ++i) {
    if (!has(options.fetches[i])) continue;
    own.fetches.push_back(options.fetches[i]);
    part.fetches.push_back(i);
    (*found)[i] = true;
  }
  for (Node node : given.graph->nodes()) {
    if (FlowKindOf(node) == FlowKind::kSend) own.fetches.push_back(node.name().str());
  }
  auto executor = Executor::Compile(*given.graph, own);
  if (!executor) return Annotate(given.device, executor.takeError());
  part.executor = std::move(*executor);
  part.results.resize(part.executor->num_fetches());
  return Error::success();
}

// Nothing of a part runs any more: whether one still waits.
Error PartitionedExecutor::FindStuck() {
  for (int rank = 0; rank < FrameRunner::kStuckRanks; ++rank) {
    for (const auto& part : parts_) {
      if (Error error = part->executor->impl_->frames->FindStuck(rank))
        return Annotate(part->device, std::move(error));
    }
  }
  return Error::success();
}

Expected<std::vector<Tensor>> PartitionedExecutor::Run(std::vector<Tensor> feeds) {
  FlushDenormals flush;
  std::vector<Tensor> results(num_fetches_), own;
  Error error = Error::success();
  collectives_.Clear();
  for (const auto& part : parts_) {
    own.clear();
    for (size_t i : part->feeds) own.push_back(feeds[i]);
    error = Annotate(part->device, part->executor->impl_->Begin(own));
    if (error) break;
  }
  if (!error) error = crew_->Run();
  if (!error) error = FindStuck();
  bool has_failed = static_cast<bool>(error);
  for (const auto& part : parts_) {
    Error late = part->executor->impl_->Finish(has_failed, part->results);
    if (late && !error)
      error = Annotate(part->device, std::move(late));
    else
      llvm::consumeError(std::move(late));
    for (size_t i = 0; i < part->fetches.size(); ++i)
      results[part->fetches[i]] = std::move(part->results[i]);
    part->results.assign(part->results.size(), Tensor());
  }
  if (error) return error;
  return results;
}

}  // namespace grapnel
