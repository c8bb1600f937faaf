#include "lib/exec/call_stack.h"

#include <utility>

namespace grapnel {
namespace {

thread_local const CallFrame* current_call = nullptr;
thread_local const Node* running_node = nullptr;
thread_local RunHook* hook_of_node = nullptr;

}  // namespace

const CallFrame* CurrentCall() { return current_call; }
InCall::InCall(const CallFrame* frame) : before_(std::exchange(current_call, frame)) {}
InCall::~InCall() { current_call = before_; }

const Node* RunningNode() { return running_node; }
RunHook* HookOfRunningNode() { return hook_of_node; }
InNode::InNode(const Node* node, RunHook* hook)
    : before_(std::exchange(running_node, node)), hook_before_(std::exchange(hook_of_node, hook)) {}
InNode::~InNode() {
  running_node = before_;
  hook_of_node = hook_before_;
}

}  // namespace grapnel
