// Moves small tensors, such as shapes, and the ops on them from a GPU to its host, where these
// values are needed.
//
//   Before (all on GPU:0):  x -> Shape s -> Prod p -> Reshape      After:  s stays, p on CPU:0
//
// The devices are those that the graph names: without a GPU among them nothing moves. A node moves
// if all its inputs are small and on the host, and all its outputs are small; constants move back
// if a reader needs them on the GPU. A tensor is small if its dtype is string, or if it has at most
// 64 elements of int32, int64 or float.
//
// TensorFlow checks its kernels to find the arguments that a GPU kernel keeps in host memory. Here
// it is a fixed list: the integers of shapes, axes and sizes, and int32 arithmetic.
//
// Refuses: control flow, collectives, NoOp, and ops that are not in the op table; large tensors and
// other dtypes; nodes that read results of a GPU.
#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/pass/op_kinds.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

constexpr const char* kRule = "pin_to_host";
constexpr int64_t kMaxElements = 64;

bool IsOnCpu(const Node& node) { return MentionsCpu(node.device()); }

bool IsNeverMoved(const Node& node) {
  llvm::StringRef op = node.op();
  return llvm::StringSwitch<bool>(op)
             .Cases("NoOp", "ControlTrigger", "LoopCond", "Switch", "RefSwitch", true)
             .Cases("_SwitchN", "Merge", "RefMerge", "_XlaMerge", true)
             .Cases("Enter", "RefEnter", "Exit", "RefExit", true)
             .Cases("NextIteration", "RefNextIteration", true)
             .Default(false) ||
         op.take_front(10) == "Collective";
}

bool IsIdentity(const Node& node) {
  return node.op() == "Identity" || node.op() == "RefIdentity" || IsIdentityNOfOne(node);
}

// True if a GPU kernel of this op works on int32 in host memory.
bool IsHostOpForInt32(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Const", "HostConst", "Identity", "Reshape", "ExpandDims", "Squeeze", "Pack", true)
      .Cases("Concat", "ConcatV2", "Slice", "StridedSlice", "Range", "Fill", "Split", "Unpack",
             true)
      .Cases("Add", "AddV2", "Sub", "Mul", "Div", "FloorDiv", "FloorMod", "Maximum", "Minimum",
             true)
      .Cases("Neg", "Abs", "Sum", "Prod", "Max", "Min", "Mean", true)
      .Cases("Switch", "Merge", "Enter", "Exit", "NextIteration", true)
      .Cases("Equal", "NotEqual", "Less", "LessEqual", true)
      .Cases("Greater", "GreaterEqual", true)
      .Default(false);
}

// True if kernels read or write the argument in host memory even on a GPU.
bool IsHostArgument(llvm::StringRef op, llvm::StringRef argument) {
  bool gives_shape = llvm::StringSwitch<bool>(op)
                         .Cases("Shape", "ShapeN", "Size", "Rank", "ConcatOffset", true)
                         .Cases("BroadcastArgs", "BroadcastGradientArgs", true)
                         .Default(false);
  if (gives_shape) return argument != "input";
  return llvm::StringSwitch<bool>(argument)
      .Cases("shape", "dims", "dim", "axis", "concat_dim", "split_dim", "perm", true)
      .Cases("begin", "end", "strides", "size", "size_splits", true)
      .Cases("multiples", "paddings", "reduction_indices", "block_shape", "crops", true)
      .Cases("input_sizes", "filter_sizes", "orig_input_shape", "output_shape", true)
      .Default(false);
}

// The name of the argument in the list `args` that `port` belongs to.
llvm::StringRef ArgumentOf(const Node& node, const std::vector<OpArg>& args, int port) {
  for (const OpArg& arg : args) {
    int count = 1;
    if (!arg.number_attr.empty()) {
      count = static_cast<int>(node.GetInt(arg.number_attr));
    } else if (!arg.type_list_attr.empty()) {
      auto attr = node.Attr(arg.type_list_attr);
      auto types = attr ? attr->AsTypes() : std::nullopt;
      count = types ? static_cast<int>(types->size()) : 0;
    }
    if (port < count) return arg.name;
    port -= count;
  }
  return {};
}

class PinToHost : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    edit_ = &edit;
    FindHosts();
    if (hosts_.empty()) return Error::success();
    std::vector<std::pair<Node, std::string>> constants;  // moved ones, with their previous device
    for (NodeId id : edit.NodesInOrder()) {
      Node node = edit.graph().node(id);
      if (IsOnCpu(node)) continue;
      std::string host = HostOf(node.device());
      if (host.empty() || !IsCandidate(node)) continue;
      std::string from = node.device().str();
      if (!Move(node, host)) return Error::success();
      if (edit.IsConstant(node)) constants.emplace_back(node, from);
    }
    for (const auto& [node, from] : constants) {
      if (!ReadersAreOnHost(node) && !Move(node, from)) return Error::success();
    }
    return Error::success();
  }

 private:
  void FindHosts() {
    for (Node node : edit_->graph().nodes()) {
      if (std::string host = HostOfGpu(node.device()); !host.empty()) hosts_.insert(host);
    }
  }
  std::string HostOf(llvm::StringRef device) const {
    if (!device.empty()) return HostOfGpu(device);
    std::string cpu = LocalDeviceName("CPU", 0);
    return hosts_.contains(cpu) ? cpu : "";
  }

  bool Move(const Node& node, llvm::StringRef device) {
    if (!edit_->Begin(kRule, node)) return false;
    edit_->SetDevice(node, device);
    edit_->End();
    return true;
  }

  // The words for IsSmall in messages.
  static constexpr char kSmall[] = "a string or at most 64 elements of int32, int64 or float";

  bool IsSmall(Port port) {
    DataType type = edit_->TypeOf(port);  // references to variables never count
    if (type == proto::DT_STRING) return true;
    if (type != proto::DT_INT32 && type != proto::DT_INT64 && type != proto::DT_FLOAT) return false;
    std::optional<int64_t> size = edit_->ShapeOf(port).NumElements();
    return size && *size <= kMaxElements;
  }

  bool IsOutputOnHost(Port port) {
    Node node = edit_->graph().node(port.node);
    if (IsNeverMoved(node) || !IsSmall(port)) return false;
    // An Identity may be optimized away, so what counts is whether its input is on the host.
    if (IsIdentity(node)) return node.num_inputs() == 1 && IsOutputOnHost(node.input(0));
    if (IsOnCpu(node)) return true;
    const OpInfo* info = FindOp(node.op());
    if (!info) return false;
    DataType type = edit_->TypeOf(port);
    if (type == proto::DT_INT32 && IsHostOpForInt32(node.op())) return true;
    return IsHostArgument(node.op(), ArgumentOf(node, info->outputs, port.index));
  }

  bool IsCandidate(const Node& node) {
    // An op that is not in the op table may have no CPU kernel, so its nodes stay.
    if (IsNeverMoved(node) || !FindOp(node.op())) return false;
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (IsOutputOnHost(node.input(i))) continue;
      edit_->Refuse(kRule, node, "input {0} of '{1}' is not known to be on the host and {2}", i,
                    node.name(), kSmall);
      return false;
    }
    int outputs = NumOutputs(node);
    for (int i = 0; i < outputs; ++i) {
      if (IsSmall({node.id(), i})) continue;
      edit_->Refuse(kRule, node, "output {0} of '{1}' is not known to be {2}", i, node.name(),
                    kSmall);
      return false;
    }
    return outputs >= 0;
  }

  bool ReadersAreOnHost(const Node& node) {
    return llvm::all_of(node.UsesOf(0), [&](const Use& use) {
      Node reader = edit_->graph().node(use.node);
      if (IsOnCpu(reader)) return true;
      const OpInfo* info = FindOp(reader.op());
      if (!info) return false;
      if (edit_->TypeOf({node.id(), 0}) == proto::DT_INT32 && IsHostOpForInt32(reader.op()))
        return true;
      return IsHostArgument(reader.op(), ArgumentOf(reader, info->inputs, use.slot));
    });
  }

  Editor* edit_ = nullptr;
  llvm::StringSet<> hosts_;
};

GRAPNEL_PASS(
    PinToHost,
    (PassInfo{
        .name = "pin_to_host_optimizer",
        .config_name = "pin_to_host",
        .order = 10,
        .toggle = "pin_to_host_optimization",
        .help = "moves small tensors and the ops on them to the host of their GPU",
        .refuses =
            "tensors of more than 64 elements, dtypes other than int32, int64, float and string, "
            "control flow, NoOp, collectives, unknown ops, nodes that read results of a GPU"}),
    {kRule, "moves the node to the host of its GPU"});

}  // namespace
}  // namespace grapnel
