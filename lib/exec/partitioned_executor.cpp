#include "lib/exec/partitioned_executor.h"

#include "lib/exec/free_list.h"
#include "lib/exec/partition_workers.h"
#include "lib/exec/plan_builder.h"
#include "lib/exec/run_state.h"
#include "lib/ir/find.h"
#include "lib/ir/tensor_name.h"
#include "lib/support/denormals.h"

namespace grapnel {
namespace {

// The immutable data of a partition, which all runs share.
struct PartitionPlan {
  std::string device;
  ThreadPool pool{1};  // kernels use only the thread that runs the partition
  std::unique_ptr<ExecutionPlan> plan;
  // For each feed and fetch of this partition, in order: its index among the feeds and fetches of
  // the whole graph. The partition's other fetches are its _Sends.
  std::vector<size_t> feeds, fetches;
};

struct PartitionPlans {
  std::unique_ptr<Session> own_session;
  Session* session = nullptr;
  std::vector<std::unique_ptr<PartitionPlan>> partitions;
  size_t num_feeds = 0, num_fetches = 0;
  int num_threads = 1;
  MessageSink print;
  std::mutex printing;  // one partition prints at a time

  Error Add(const PartitionGraph& given, const ExecutorOptions& options, std::vector<bool>* found);
};

Error PartitionPlans::Add(const PartitionGraph& given, const ExecutorOptions& options,
                          std::vector<bool>* found) {
  partitions.push_back(std::make_unique<PartitionPlan>());
  PartitionPlan& partition = *partitions.back();
  partition.device = given.device;
  ExecutorOptions own = options;
  own.feeds.clear();
  own.fetches.clear();
  own.pool = &partition.pool;
  own.is_partition = true;
  if (options.print) {
    own.print = [this](Severity severity, llvm::StringRef text) {
      std::lock_guard lock(printing);
      print(severity, text);
    };
  }
  auto has = [&](llvm::StringRef tensor) {
    return FindTensorIfThere(*given.graph, tensor).has_value();
  };
  for (size_t i = 0; i < options.feeds.size(); ++i) {
    if (!has(options.feeds[i])) continue;
    own.feeds.push_back(options.feeds[i]);
    partition.feeds.push_back(i);
  }
  for (size_t i = 0; i < options.fetches.size(); ++i) {
    TensorName name = ReadTensorName(options.fetches[i]);
    bool is_here = name.control ? bool(given.graph->Find(name.node)) : has(options.fetches[i]);
    if (!is_here) continue;
    own.fetches.push_back(options.fetches[i]);
    partition.fetches.push_back(i);
    (*found)[i] = true;
  }
  for (Node node : given.graph->nodes()) {
    if (FlowKindOf(node.op()) == FlowKind::kSend) own.fetches.push_back(node.name().str());
  }
  auto plan = PlanBuilder::OfPartition(*given.graph, own);
  if (!plan) return Annotate(given.device, plan.takeError());
  partition.plan = std::move(*plan);
  partition.plan->partition = static_cast<int>(partitions.size()) - 1;
  return Error::success();
}

// One run of all partitions, reused for later runs.
class PartitionedRun {
 public:
  explicit PartitionedRun(const PartitionPlans& plans);
  Error Run(llvm::ArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results);

 private:
  Error Begin(llvm::ArrayRef<Tensor> feeds);
  Error Finish(Error error, llvm::MutableArrayRef<Tensor> results);
  Error FindStuck();

  const PartitionPlans& plans_;
  Collectives collectives_;
  std::vector<std::unique_ptr<RunState>> states_;  // by partition
  std::unique_ptr<PartitionWorkers> workers_;
};

PartitionedRun::PartitionedRun(const PartitionPlans& plans) : plans_(plans) {
  std::vector<Rendezvous*> rendezvous;
  for (const auto& partition : plans.partitions) {
    states_.push_back(std::make_unique<RunState>(*partition->plan));
    rendezvous.push_back(&states_.back()->frames().rendezvous());
  }
  workers_ = std::make_unique<PartitionWorkers>(
      static_cast<int>(states_.size()), plans.num_threads, plans.session->helpers(),
      [this](int i) {
        return Annotate(plans_.partitions[i]->device, states_[i]->frames().Continue());
      },
      [this](int i) { states_[i]->frames().rendezvous().Stop(); });
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i]->Connect(rendezvous, collectives_);
    rendezvous[i]->OnNews([this, i] { workers_->Wake(static_cast<int>(i)); });
  }
}

Error PartitionedRun::Run(llvm::ArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results) {
  FlushDenormals flush;
  collectives_.Clear();
  Error error = Begin(feeds);
  if (!error) error = workers_->Run();
  if (!error) error = FindStuck();
  return Finish(std::move(error), results);
}

Error PartitionedRun::Begin(llvm::ArrayRef<Tensor> feeds) {
  std::vector<Tensor> own;
  for (size_t i = 0; i < states_.size(); ++i) {
    const PartitionPlan& partition = *plans_.partitions[i];
    own.clear();
    for (size_t feed : partition.feeds) own.push_back(feeds[feed]);
    Error error = partition.plan->CheckFeeds(own);
    if (!error) error = states_[i]->Begin(own);
    if (error) return Annotate(partition.device, std::move(error));
  }
  return Error::success();
}

// Explains, when no partition can continue, why one has not finished; success if all have finished.
Error PartitionedRun::FindStuck() {
  for (int rank = 0; rank < FrameRunner::kStuckRanks; ++rank) {
    for (size_t i = 0; i < states_.size(); ++i) {
      if (Error error = states_[i]->frames().FindStuck(rank))
        return Annotate(plans_.partitions[i]->device, std::move(error));
    }
  }
  return Error::success();
}

Error PartitionedRun::Finish(Error error, llvm::MutableArrayRef<Tensor> results) {
  bool has_failed = static_cast<bool>(error);
  for (size_t i = 0; i < states_.size(); ++i) {
    const PartitionPlan& partition = *plans_.partitions[i];
    std::vector<Tensor> own(partition.plan->fetch_slots.size());
    Error late = states_[i]->Finish(has_failed, own);
    if (late && !error)
      error = Annotate(partition.device, std::move(late));
    else
      llvm::consumeError(std::move(late));
    for (size_t k = 0; k < partition.fetches.size(); ++k)
      results[partition.fetches[k]] = std::move(own[k]);
  }
  return error;
}

}  // namespace

struct PartitionedExecutor::Impl {
  PartitionPlans plans;
  FreeList<PartitionedRun> idle;  // states of runs that are over
};

PartitionedExecutor::PartitionedExecutor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PartitionedExecutor::~PartitionedExecutor() = default;

Expected<std::unique_ptr<PartitionedExecutor>> PartitionedExecutor::Compile(
    llvm::ArrayRef<PartitionGraph> partitions, const ExecutorOptions& given) {
  auto impl = std::make_unique<Impl>();
  PartitionPlans& plans = impl->plans;
  ExecutorOptions options = given;
  if (!options.session) {
    plans.own_session = std::make_unique<Session>();
    options.session = plans.own_session.get();
  }
  plans.session = options.session;
  // With a hook, one thread runs all partitions, in a deterministic order.
  plans.num_threads = options.hook ? 1 : options.pool->num_threads();
  plans.num_feeds = options.feeds.size();
  plans.num_fetches = options.fetches.size();
  plans.print = options.print;
  std::vector<bool> found(options.fetches.size());
  std::vector<ExecutionPlan*> linked;
  for (const PartitionGraph& partition : partitions) {
    RETURN_IF_ERROR(plans.Add(partition, options, &found));
    linked.push_back(plans.partitions.back()->plan.get());
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i])
      return MakeError("fetch '{0}': no partition has this tensor", options.fetches[i]);
  }
  RETURN_IF_ERROR(LinkTransfers(linked));
  return std::unique_ptr<PartitionedExecutor>(new PartitionedExecutor(std::move(impl)));
}

Expected<std::vector<Tensor>> PartitionedExecutor::Run(llvm::ArrayRef<Tensor> feeds) {
  if (feeds.size() != impl_->plans.num_feeds)
    return MakeError("{0} values are fed, {1} were expected", feeds.size(), impl_->plans.num_feeds);
  std::vector<Tensor> results(impl_->plans.num_fetches);
  std::unique_ptr<PartitionedRun> run = impl_->idle.Take();
  if (!run) run = std::make_unique<PartitionedRun>(impl_->plans);
  Error error = run->Run(feeds, results);
  impl_->idle.GiveBack(std::move(run));
  if (error) return error;
  return results;
}

}  // namespace grapnel
