// Combines several hooks for one run.
#ifndef GRAPNEL_LIB_WATCH_HOOK_CHAIN_H_
#define GRAPNEL_LIB_WATCH_HOOK_CHAIN_H_

#include <mutex>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/support/public.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

// Calls the hooks in the order in which they were added, each for the nodes that it wants; after an
// error, later hooks are not called. EditOutputs() of a hook sees the outputs as the hooks before
// it have edited them; AfterNode() sees them after all edits.
class GRAPNEL_PUBLIC HookChain : public RunHook {
 public:
  void Add(RunHook* hook) { hooks_.push_back(hook); }  // not owned; call before the plan is made

  bool Wants(const Node& node) override;
  // True if any of the hooks sees inputs.
  bool SeesInputs() const override;
  bool EditsOutputs() const override;
  // Returns the counter of the first hook that has one; the other hooks must count after the
  // kernel.
  ElementCounter* Counter(const Node& node, const Tensor& output) override;
  Tensor ReplaceConstant(const Node& node, const Tensor& value) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  void OnCall(const CallFrame& call) override;
  // True if all hooks take device tensors.
  bool TakesDeviceTensors() const override;
  Error AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  void AddNeeded(const Graph& body, llvm::SmallVectorImpl<NodeId>* needed) override;

 private:
  using Wanting = llvm::SmallVector<RunHook*, 2>;
  const Wanting& WantingOf(const Node& node);

  std::vector<RunHook*> hooks_;
  std::mutex mutex_;  // plans may be made while others run
  llvm::DenseMap<std::pair<const Graph*, NodeId>, std::unique_ptr<Wanting>> wanting_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_HOOK_CHAIN_H_
