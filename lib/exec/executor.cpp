#include "lib/exec/executor.h"

#include "lib/exec/free_list.h"
#include "lib/exec/plan_builder.h"
#include "lib/exec/run_state.h"

namespace grapnel {

struct Executor::Impl {
  std::unique_ptr<const ExecutionPlan> plan;
  FreeList<RunState> idle;  // states of runs that are over

  std::unique_ptr<RunState> TakeState() {
    std::unique_ptr<RunState> state = idle.Take();
    return state ? std::move(state) : std::make_unique<RunState>(*plan);
  }

  Error RunIn(RunState& state, llvm::MutableArrayRef<Tensor> feeds,
              llvm::MutableArrayRef<Tensor> results) const {
    RETURN_IF_ERROR(plan->CheckFeeds(feeds));
    return state.Run(feeds, results);
  }

  Error Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results) {
    std::unique_ptr<RunState> state = TakeState();
    Error error = RunIn(*state, feeds, results);
    idle.GiveBack(std::move(state));
    return error;
  }
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;

Expected<std::unique_ptr<Executor>> Executor::Compile(const Graph& graph,
                                                      const ExecutorOptions& options) {
  auto impl = std::make_unique<Impl>();
  ASSIGN_OR_RETURN(impl->plan, PlanBuilder::OfGraph(graph, options));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

Expected<std::unique_ptr<Executor>> Executor::CompileFunction(const Function& function,
                                                              const ExecutorOptions& options) {
  auto impl = std::make_unique<Impl>();
  ASSIGN_OR_RETURN(impl->plan, PlanBuilder::OfFunction(function, options));
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

Expected<std::vector<Tensor>> Executor::Run(std::vector<Tensor> feeds) {
  std::vector<Tensor> results(num_fetches());
  RETURN_IF_ERROR(impl_->Run(feeds, results));
  return results;
}

Error Executor::Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results) {
  return impl_->Run(feeds, results);
}

Executor::Series::Series(Executor& executor)
    : executor_(&executor), state_(executor.impl_->TakeState()) {}
Executor::Series::Series(Series&&) noexcept = default;
Executor::Series::~Series() {
  if (state_) executor_->impl_->idle.GiveBack(std::move(state_));
}

Error Executor::Series::Run(llvm::MutableArrayRef<Tensor> feeds,
                            llvm::MutableArrayRef<Tensor> results) {
  return executor_->impl_->RunIn(*state_, feeds, results);
}

int Executor::num_nodes() const { return static_cast<int>(impl_->plan->nodes.size()); }
int Executor::num_fetches() const { return static_cast<int>(impl_->plan->fetch_slots.size()); }
const PlanSpread& Executor::spread() const { return impl_->plan->spread; }

bool Executor::ReadsFeed(int i) const {
  const SlotInfo& info = impl_->plan->slots[impl_->plan->feeds[i].slot];
  return impl_->plan->frames || info.first_target != info.end_target;
}

}  // namespace grapnel
