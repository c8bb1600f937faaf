#include "lib/tfdbg/debug_tap.h"

#include "lib/ir/module.h"
#include "lib/ir/types.h"
#include "lib/watch/recorded_tensor.h"

namespace grapnel {

proto::TensorDebugMode DebugModeOf(TapMode mode) {
  switch (mode) {
    case TapMode::kNoTensor:
      return proto::NO_TENSOR;
    case TapMode::kCurtHealth:
      return proto::CURT_HEALTH;
    case TapMode::kConciseHealth:
      return proto::CONCISE_HEALTH;
    case TapMode::kFullHealth:
      return proto::FULL_HEALTH;
    case TapMode::kShape:
      return proto::SHAPE;
    case TapMode::kFullTensor:
      return proto::FULL_TENSOR;
    case TapMode::kThreeSlots:
      return proto::REDUCE_INF_NAN_THREE_SLOTS;
  }
  return proto::UNSPECIFIED;
}

std::string DebugTap::WhyNot(const Node& node, DataType dtype) const {
  std::string why_not = Tap::WhyNot(node, dtype);
  if (!why_not.empty()) return why_not;
  if (!IsDebugged(node.op()))
    return ("TensorFlow's debugger skips " + node.op() + ", which only forwards values").str();
  proto::TensorDebugMode mode = DebugModeOf(this->mode());
  if (!IsDebugged(mode, dtype))
    return (DebugModeName(mode) + " does not record " + DataTypeName(dtype)).str();
  return "";
}

bool EagerDebugTap::Wants(const Node& node) {
  return !FunctionOf(node.graph()) || (Tap::Wants(node) && IsDebugged(node.op()));
}

Error EagerDebugTap::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  if (FunctionOf(node.graph())) return Tap::AfterNode(node, outputs);
  writer_->AddOp(node, outputs, filter());
  if (filter().FitsNode(node)) CountMore(static_cast<int64_t>(outputs.size()));
  return Error::success();
}

}  // namespace grapnel
