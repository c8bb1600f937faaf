#include "lib/watch/hook_chain.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

bool HookChain::Wants(const Node& node) {
  auto wanting = std::make_unique<Wanting>();
  for (RunHook* hook : hooks_) {
    if (hook->Wants(node)) wanting->push_back(hook);
  }
  bool any = !wanting->empty();
  std::lock_guard lock(mutex_);
  wanting_[{&node.graph(), node.id()}] = std::move(wanting);
  return any;
}

bool HookChain::SeesInputs() const {
  return llvm::any_of(hooks_, [](const RunHook* hook) { return hook->SeesInputs(); });
}

bool HookChain::EditsOutputs() const {
  return llvm::any_of(hooks_, [](const RunHook* hook) { return hook->EditsOutputs(); });
}

ElementCounter* HookChain::Counter(const Node& node, const Tensor& output) {
  for (RunHook* hook : WantingOf(node)) {
    if (ElementCounter* counter = hook->Counter(node, output)) return counter;
  }
  return nullptr;
}

const HookChain::Wanting& HookChain::WantingOf(const Node& node) {
  std::lock_guard lock(mutex_);
  return *wanting_.find({&node.graph(), node.id()})->second;
}

Tensor HookChain::ReplaceConstant(const Node& node, const Tensor& value) {
  Tensor now = value;
  for (RunHook* hook : WantingOf(node)) now = hook->ReplaceConstant(node, now);
  return now;
}

Error HookChain::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  for (RunHook* hook : WantingOf(node)) RETURN_IF_ERROR(hook->BeforeNode(node, inputs));
  return Error::success();
}

Error HookChain::EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) {
  for (RunHook* hook : WantingOf(node)) RETURN_IF_ERROR(hook->EditOutputs(node, outputs));
  return Error::success();
}

Error HookChain::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  for (RunHook* hook : WantingOf(node)) RETURN_IF_ERROR(hook->AfterNode(node, outputs));
  return Error::success();
}

Error HookChain::OnConstant(const Node& node, const Tensor& value, bool is_first) {
  for (RunHook* hook : WantingOf(node)) RETURN_IF_ERROR(hook->OnConstant(node, value, is_first));
  return Error::success();
}

void HookChain::OnCall(const CallFrame& call) {
  for (RunHook* hook : hooks_) hook->OnCall(call);
}

bool HookChain::TakesDeviceTensors() const {
  return llvm::all_of(hooks_, [](const RunHook* hook) { return hook->TakesDeviceTensors(); });
}

Error HookChain::AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) {
  for (RunHook* hook : WantingOf(node)) RETURN_IF_ERROR(hook->AfterNodeOn(stream, node, outputs));
  return Error::success();
}

void HookChain::AddNeeded(const Graph& body, llvm::SmallVectorImpl<NodeId>* needed) {
  for (RunHook* hook : hooks_) hook->AddNeeded(body, needed);
}

}  // namespace grapnel
