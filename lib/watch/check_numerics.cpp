#include "lib/watch/check_numerics.h"

#include "lib/ir/module.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

bool IsPassedOver(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      // What tfdbg never looks at.
      .Cases("Enter", "Exit", "Identity", "If", "LoopCond", "Merge", "NextIteration", true)
      .Cases("StatelessIf", "StatefulPartitionedCall", "Switch", "While", "RemoteCall", true)
      .Cases("TPUReplicatedInput", "TPUReplicateMetadata", "TPUCompilationResult", true)
      .Cases("TPUReplicatedOutput", "ConfigureDistributedTPU", "DestroyResourceOp", true)
      // What makes no bad number of good ones.
      .Cases("Concat", "ConcatV2", "ExpandDims", "Fill", "Gather", "Maximum", "Minimum", true)
      .Cases("Reshape", "Slice", "Squeeze", "Stack", "StridedSlice", "StridedSliceGrad", true)
      .Cases("TensorListConcatV2", "TensorListGather", "TensorListGetItem", true)
      .Cases("TensorListPopBack", "TensorListStack", "Transpose", "Unpack", true)
      .Default(false);
}

// Statistics that are not set in inference.
bool IsPassedOver(llvm::StringRef op, size_t output) {
  if (op == "FusedBatchNorm" || op == "FusedBatchNormV2") return output >= 1 && output <= 4;
  return op == "FusedBatchNormV3" && output >= 1 && output <= 5;
}

// "(32, 10)", "(2,)", "()".
std::string PythonShape(llvm::ArrayRef<int64_t> dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}

std::string PythonType(DataType type) {
  llvm::StringRef name = DataTypeName(type);
  return name == "float" ? "float32" : name == "double" ? "float64" : name == "half" ? "float16"
                                                                                      : name.str();
}

// Of the node that runs, on its thread.
thread_local llvm::SmallVector<std::string, 4> input_texts;

}  // namespace

bool CheckNumerics::Wants(const Node& node) {
  return !IsPassedOver(node.op()) && !FitsAny(skipped_, node.name());
}

// Later the node may have written over them.
Error CheckNumerics::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  input_texts.clear();
  for (int i = 0; i < std::min(node.num_inputs(), static_cast<int>(inputs.size())); ++i) {
    Port from = node.input(i);
    std::string name = from.node == kNoNode
                           ? "?"
                           : node.graph().node(from.node).name().str() + ":" + std::to_string(from.index);
    input_texts.push_back(inputs[i] ? llvm::formatv("Tensor(\"{0}\", shape={1}, dtype={2})", name,
                                                    PythonShape(inputs[i].dims()),
                                                    PythonType(inputs[i].dtype()))
                                          .str()
                                    : "Tensor(\"" + name + "\")");
  }
  return Error::success();
}

Error CheckNumerics::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || !IsFloating(outputs[i].dtype()) || IsPassedOver(node.op(), i)) continue;
    Health health = HealthOf(outputs[i], pool_);
    if (!health.IsBad()) continue;
    has_found_ = true;
    return MakeError("{0}", Message(node, i, outputs[i], health, outputs.size()));
  }
  return Error::success();
}

std::string CheckNumerics::Message(const Node& node, size_t output, const Tensor& tensor,
                                   const Health& health, size_t num_outputs) const {
  std::string text =
      llvm::formatv(
          "\n\n!!! Detected Infinity or NaN in output {0} of graph op \"{1}\" (# of outputs: {2}) "
          "!!!\n  dtype: <dtype: '{3}'>\n  shape: {4}\n",
          output, node.op(), num_outputs, PythonType(tensor.dtype()), PythonShape(tensor.dims()))
          .str();
  const std::pair<const char*, int64_t> counts[] = {
      {"-Inf", health.neg_inf}, {"+Inf", health.pos_inf}, {"+NaN", health.nan}};
  for (const auto& [name, count] : counts) {
    if (count > 0) text += llvm::formatv("  # of {0} elements: {1}\n", name, count).str();
  }
  if (input_texts.size() == 1) text += "\n  Input tensor: " + input_texts[0] + "\n";
  if (input_texts.size() > 1) {
    text += "\n  Input tensors (" + std::to_string(input_texts.size()) + "):\n";
    for (size_t i = 0; i < input_texts.size(); ++i)
      text += llvm::formatv("         {0}: {1}\n", i, input_texts[i]).str();
  }
  const Function* function = FunctionOf(node.graph());
  if (function) text += ("  Graph name: \"" + function->name() + "\"\n").str();
  text += "\n  Calls, and the node (\"->\"):\n";
  llvm::SmallVector<const CallFrame*, 4> calls;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) calls.push_back(call);
  for (const CallFrame* call : llvm::reverse(calls)) {
    text += call->caller ? ("    + " + call->caller->name() + " calls " + call->function->name()).str()
                         : "    + loop " + call->loop.str();
    if (call->iteration >= 0) text += ", iteration " + std::to_string(call->iteration);
    text += "\n";
  }
  return text + (" -> + " + node.name() + "\n").str();
}

}  // namespace grapnel
