#include "lib/watch/check_numerics.h"

#include "lib/ir/module.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/types.h"
#include "lib/watch/array_text.h"
#include "lib/watch/debugger_skips.h"
#include "lib/watch/health_counter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// True for ops whose outputs are finite if their inputs are: TensorFlow does not check them.
bool OnlyMoves(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Concat", "ConcatV2", "ExpandDims", "Fill", "Gather", "Maximum", "Minimum", true)
      .Cases("Reshape", "Slice", "Squeeze", "Stack", "StridedSlice", "StridedSliceGrad", true)
      .Cases("TensorListConcatV2", "TensorListGather", "TensorListGetItem", true)
      .Cases("TensorListPopBack", "TensorListStack", "Transpose", "Unpack", true)
      .Default(false);
}

// True for the statistics outputs of batch norms, which have no defined values in inference.
bool IsPassedOver(llvm::StringRef op, size_t output) {
  if (op == "FusedBatchNorm" || op == "FusedBatchNormV2") return output >= 1 && output <= 4;
  return op == "FusedBatchNormV3" && output >= 1 && output <= 5;
}

std::string PythonType(DataType type) {
  llvm::StringRef name = DataTypeName(type);
  return name == "float"    ? "float32"
         : name == "double" ? "float64"
         : name == "half"   ? "float16"
                            : name.str();
}

// The dtype and shape of a node's input, for the error message: the input itself may be gone when
// the node has run, overwritten or forwarded. Filled for each node that runs, so its layout is fast
// to copy.
struct InputForm {
  static constexpr int kDims = 6;
  DataType dtype = proto::DT_INVALID;
  int rank = 0;  // may be larger than kDims; only the first kDims dimensions are kept
  int64_t dims[kDims];
};
struct Given {
  static constexpr int kInputs = 8;  // further inputs are dropped
  const Graph* graph = nullptr;
  NodeId node = kNoNode;
  int num_inputs = 0;
  InputForm inputs[kInputs];
  std::vector<Tensor> kept;  // the inputs, after KeepInputs()
};
// The nodes that are running on this thread: each entry runs in a function that the entry below it
// calls. Entries are reused.
struct GivenStack {
  std::vector<std::unique_ptr<Given>> given;
  size_t depth = 0;
};
// Call it once in each function: every access to a thread_local checks whether it is initialized.
GivenStack& ThisThread() {
  static thread_local GivenStack stack;
  return stack;
}

// Returns a shape in Python's form: "(32, 10)", "(2,)", "()"; with more than six dimensions "(1, 2,
// 3, 4, 5, 6, ...)".
std::string PythonShape(llvm::ArrayRef<int64_t> dims) {
  std::string text = "(";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + (dims.size() == 1 ? ",)" : ")");
}
std::string PythonShape(const int64_t* dims, int rank) {
  std::string text = PythonShape({dims, static_cast<size_t>(std::min(rank, InputForm::kDims))});
  return rank > InputForm::kDims ? text.substr(0, text.size() - 1) + ", ...)" : text;
}

// Returns the repr of an eager tensor: "tf.Tensor([0. 1.], shape=(2,), dtype=float32)".
std::string EagerText(const Tensor& tensor) {
  std::string text = ArrayString(tensor);
  return llvm::formatv("tf.Tensor({0}{1}, shape={2}, dtype={3})",
                       llvm::StringRef(text).contains('\n') ? "\n" : "", text,
                       PythonShape(tensor.dims()), PythonType(tensor.dtype()))
      .str();
}

}  // namespace

bool CheckNumerics::Wants(const Node& node) {
  return !IsSkippedByDebugger(node.op()) && !OnlyMoves(node.op()) &&
         !FitsAny(skipped_, node.name());
}

ElementCounter* CheckNumerics::Counter(const Node& node, const Tensor& output) {
  return HealthCounter::Begin(node, output, HealthDetail::kBad);
}

Error CheckNumerics::BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) {
  GivenStack& stack = ThisThread();
  if (!CurrentCall()) stack.depth = 0;  // a failed run leaves its nodes on the stack
  if (stack.given.size() == stack.depth) stack.given.push_back(std::make_unique<Given>());
  Given& now = *stack.given[stack.depth++];
  now.graph = &node.graph();
  now.node = node.id();
  if (keeps_inputs_) now.kept.assign(inputs.begin(), inputs.end());
  now.num_inputs = std::min<int>(inputs.size(), Given::kInputs);
  for (int i = 0; i < now.num_inputs; ++i) {
    InputForm& form = now.inputs[i];
    llvm::ArrayRef<int64_t> dims = inputs[i].dims();
    form.dtype = inputs[i].dtype();
    form.rank = static_cast<int>(dims.size());
    for (int d = 0; d < std::min(form.rank, InputForm::kDims); ++d) form.dims[d] = dims[d];
  }
  return Error::success();
}

Error CheckNumerics::AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) {
  GivenStack& stack = ThisThread();
  // Find the node's entry on the stack. Constants have none, since BeforeNode() is not called for
  // them.
  size_t at = stack.depth;
  auto is_of_node = [&](const Given& given) {
    return given.graph == &node.graph() && given.node == node.id();
  };
  while (at > 0 && !is_of_node(*stack.given[at - 1])) --at;
  Given* given = at > 0 ? stack.given[at - 1].get() : nullptr;
  if (given) stack.depth = at - 1;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i] || !IsFloating(outputs[i].dtype())) continue;
    std::optional<Health> counted =
        i == 0 ? HealthCounter::Take(node, outputs[0], HealthDetail::kBad) : std::nullopt;
    Health health = counted ? *counted : HealthOf(outputs[i], pool_, HealthDetail::kBad);
    if (!health.IsBad() || IsPassedOver(node.op(), i)) continue;
    std::string text = Message(node, i, outputs[i], health, outputs.size(), given != nullptr);
    std::lock_guard lock(mutex_);
    if (finding_.empty()) {
      finding_ = text;
      if (keeps_inputs_ && given)
        failure_ = NumericsFailure{node, static_cast<int>(i), outputs[i], given->kept};
    }
    return MakeError("{0}", text);
  }
  if (keeps_inputs_ && given) given->kept.clear();
  return Error::success();
}

std::string CheckNumerics::Message(const Node& node, size_t output, const Tensor& tensor,
                                   const Health& health, size_t num_outputs,
                                   bool knows_inputs) const {
  const bool is_eager = is_eager_ && !FunctionOf(node.graph());
  std::vector<std::string> inputs;
  const Given* given = knows_inputs ? ThisThread().given[ThisThread().depth].get() : nullptr;
  for (int i = 0; given && i < node.num_inputs(); ++i) {
    Port from = node.input(i);
    if (from.node == kNoNode || i >= given->num_inputs) continue;
    if (is_eager) {
      inputs.push_back(EagerText(given->kept[i]));
      continue;
    }
    const InputForm& form = given->inputs[i];
    inputs.push_back(llvm::formatv("Tensor(\"{0}:{1}\", shape={2}, dtype={3})",
                                   node.graph().node(from.node).name(), from.index,
                                   PythonShape(form.dims, form.rank), PythonType(form.dtype))
                         .str());
  }
  std::string text =
      llvm::formatv(
          "\n\n!!! Detected Infinity or NaN in output {0} of {1} op \"{2}\" (# of outputs: {3}) "
          "!!!\n  dtype: <dtype: '{4}'>\n  shape: {5}\n",
          output, is_eager ? "eagerly-executing" : "graph", node.op(), num_outputs,
          PythonType(tensor.dtype()), PythonShape(tensor.dims()))
          .str();
  const std::pair<const char*, int64_t> counts[] = {
      {"-Inf", health.neg_inf}, {"+Inf", health.pos_inf}, {"+NaN", health.nan}};
  for (const auto& [name, count] : counts) {
    if (count > 0) text += llvm::formatv("  # of {0} elements: {1}\n", name, count).str();
  }
  if (inputs.size() == 1) text += "\n  Input tensor: " + inputs[0] + "\n";
  if (inputs.size() > 1) {
    text += "\n  Input tensors (" + std::to_string(inputs.size()) + "):\n";
    for (size_t i = 0; i < inputs.size(); ++i)
      text += llvm::formatv("         {0}: {1}\n", i, inputs[i]).str();
  }
  const Function* function = FunctionOf(node.graph());
  if (function) text += ("  Graph name: \"" + function->name() + "\"\n").str();
  llvm::SmallVector<const CallFrame*, 4> calls;
  for (const CallFrame* call = CurrentCall(); call; call = call->outer) calls.push_back(call);
  if (!is_eager || !calls.empty()) text += "\n  Calls, and the node (\"->\"):\n";
  for (const CallFrame* call : llvm::reverse(calls)) {
    text += call->caller
                ? ("    + " + call->caller->name() + " calls " + call->function->name()).str()
                : "    + loop " + call->loop.str();
    if (call->iteration >= 0) text += ", iteration " + std::to_string(call->iteration);
    text += "\n";
  }
  if (!is_eager || !calls.empty()) text += (" -> + " + node.name() + "\n").str();
  std::string stack = stack_ ? stack_(node) : "";
  if (!stack.empty()) text += "\n  The line that made it, and those around:" + stack + "\n";
  return text;
}

}  // namespace grapnel
