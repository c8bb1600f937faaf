#include "lib/exec/call_stack.h"

#include <utility>

namespace grapnel {
namespace {

thread_local const CallFrame* current_call = nullptr;
thread_local const Node* running_node = nullptr;

}  // namespace

const CallFrame* CurrentCall() { return current_call; }
InCall::InCall(const CallFrame* frame) : before_(std::exchange(current_call, frame)) {}
InCall::~InCall() { current_call = before_; }

const Node* RunningNode() { return running_node; }
InNode::InNode(const Node* node) : before_(std::exchange(running_node, node)) {}
InNode::~InNode() { running_node = before_; }

}  // namespace grapnel
