#include "lib/place/memory_types.h"

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

bool IsAlwaysOnHost(DataType type) {
  DataType base = BaseType(type);
  return base == proto::DT_STRING || base == proto::DT_RESOURCE;
}

// TensorFlow ignores the host arguments of these ops' kernels.
bool IsCallOp(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("PartitionedCall", "StatefulPartitionedCall", true)
      .Cases("SymbolicGradient", "While", "StatelessWhile", true)
      .Default(false);
}

void AddListed(const Node& node, llvm::StringRef attr, std::vector<bool>* on_host) {
  auto value = node.FindAttr(attr);
  auto listed = value ? value->AsInts() : std::nullopt;
  if (!listed) return;
  for (int64_t i : *listed) {
    if (i >= 0 && i < static_cast<int64_t>(on_host->size())) (*on_host)[i] = true;
  }
}

}  // namespace

bool AreOfOneTask(const DeviceSet& devices, int a, int b) {
  const DeviceSpec &one = devices.device(a).name, &other = devices.device(b).name;
  return one.job == other.job && one.replica == other.replica && one.task == other.task;
}

MemoryTypes::OnHost MemoryTypes::Make(const Node& node, llvm::StringRef type) const {
  OnHost made;
  const OpInfo* info = DefinitionOf(node);
  if (!info) return made;
  auto types = TypesOf(node, *info);
  if (!types) {
    llvm::consumeError(types.takeError());
    return made;
  }
  std::optional<KernelSummary> kernel;
  if (!IsCallOp(node.op())) kernel = kernels_.Find(node, type);
  auto lies_there = [&](DataType dtype, llvm::StringRef argument) {
    if (IsAlwaysOnHost(dtype)) return true;
    return kernel ? llvm::is_contained(kernel->host_arguments, argument)
                  : BaseType(dtype) == proto::DT_INT32;
  };
  for (size_t i = 0; i < types->inputs.size(); ++i)
    made.inputs.push_back(lies_there(types->inputs[i], ArgumentOfInput(node, *info, i)));
  for (size_t i = 0; i < types->outputs.size(); ++i)
    made.outputs.push_back(lies_there(types->outputs[i], OutputOfPort(node, *info, i).first));
  AddListed(node, "_input_hostmem", &made.inputs);
  AddListed(node, "_output_hostmem", &made.outputs);
  return made;
}

const MemoryTypes::OnHost& MemoryTypes::Of(const Node& node, llvm::StringRef type) {
  auto [entry, is_new] = found_.try_emplace(node.id());
  if (is_new) entry->second = Make(node, type);
  return entry->second;
}

bool MemoryTypes::IsInputOnHost(const Node& node, int slot, llvm::StringRef type) {
  const std::vector<bool>& inputs = Of(node, type).inputs;
  return slot >= 0 && slot < static_cast<int>(inputs.size()) && inputs[slot];
}

bool MemoryTypes::IsOutputOnHost(const Node& node, int port, llvm::StringRef type) {
  const std::vector<bool>& outputs = Of(node, type).outputs;
  return port >= 0 && port < static_cast<int>(outputs.size()) && outputs[port];
}

TensorWay PlacedMemory::WayTo(const Use& reader) {
  Node node = context_.graph.node(reader.node);
  Port from = node.input(reader.slot);
  TensorWay way;
  way.source = context_.placement.Of(from.node).device;
  way.target = context_.placement.Of(reader.node).device;
  way.from_host = IsOnHost(from);
  llvm::StringRef type = TypeOf(way.target);
  way.to_host = type == "CPU" || types_.IsInputOnHost(node, reader.slot, type);
  // Between two CPUs of one task, the bytes count as copied, because a cluster file may describe a
  // link between them.
  bool is_handed_over = way.from_host && way.to_host &&
                        (type != "CPU" || TypeOf(way.source) != "CPU") &&
                        AreOfOneTask(context_.devices, way.source, way.target);
  way.is_copied = way.Crosses() && !is_handed_over;
  return way;
}

bool PlacedMemory::IsOnHost(Port output) {
  llvm::StringRef type = TypeOf(context_.placement.Of(output.node).device);
  return type == "CPU" ||
         types_.IsOutputOnHost(context_.graph.node(output.node), output.index, type);
}

int PlacedMemory::HostOf(int device) const {
  for (int i = 0; i < context_.devices.size(); ++i) {
    if (TypeOf(i) == "CPU" && AreOfOneTask(context_.devices, i, device)) return i;
  }
  return -1;
}

}  // namespace grapnel
