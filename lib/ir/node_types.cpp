#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

Error Append(const Node& node, const OpArg& arg, llvm::SmallVectorImpl<DataType>* types) {
  auto add = [&](DataType type) { types->push_back(arg.is_ref ? RefType(type) : type); };
  if (!arg.type_list_attr.empty()) {
    auto attr = node.Attr(arg.type_list_attr);
    auto list = attr ? attr->AsTypes() : std::nullopt;
    if (!list)
      return MakeError("attribute '{0}' is missing or not a list of dtypes", arg.type_list_attr);
    for (DataType type : *list) add(type);
    return Error::success();
  }
  ASSIGN_OR_RETURN(int64_t count, NumTensors(node, arg));
  DataType type = arg.type;
  if (!arg.type_attr.empty()) {
    auto attr = node.Attr(arg.type_attr);
    auto value = attr ? attr->AsType() : std::nullopt;
    if (!value) return MakeError("attribute '{0}' is missing or not a dtype", arg.type_attr);
    type = *value;
  }
  for (int64_t i = 0; i < count; ++i) add(type);
  return Error::success();
}

OpArg ArgFromProto(const proto::OpDef::ArgDef& proto) {
  OpArg arg;
  arg.name = proto.name();
  arg.type = proto.type();
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  arg.is_ref = proto.is_ref();
  return arg;
}

}  // namespace

const OpInfo* DefinitionOf(const Node& node) {
  if (const Function* function = node.graph().module().FindFunction(node.op()))
    return &function->info;
  return FindOp(node.op());
}

OpInfo OpInfoFromProto(const proto::OpDef& op_def) {
  OpInfo info;
  info.name = op_def.name();
  for (const auto& arg : op_def.input_arg()) info.inputs.push_back(ArgFromProto(arg));
  for (const auto& arg : op_def.output_arg()) info.outputs.push_back(ArgFromProto(arg));
  for (const auto& proto : op_def.attr()) {
    OpAttr attr;
    attr.name = proto.name();
    attr.type = proto.type();
    if (proto.has_default_value()) attr.default_value = proto.default_value().SerializeAsString();
    if (proto.has_minimum()) attr.minimum = proto.minimum();
    info.attrs.push_back(std::move(attr));
  }
  info.is_stateful = op_def.is_stateful();
  info.is_commutative = op_def.is_commutative();
  info.is_aggregate = op_def.is_aggregate();
  return info;
}

Expected<int64_t> NumTensors(const Node& node, const OpArg& arg) {
  constexpr int64_t kMaxPorts = 1 << 20;
  if (!arg.type_list_attr.empty()) {
    auto attr = node.Attr(arg.type_list_attr);
    auto types = attr ? attr->AsTypes() : std::nullopt;
    if (!types)
      return MakeError("attribute '{0}' is missing or not a list of dtypes", arg.type_list_attr);
    return types->size();
  }
  if (arg.number_attr.empty()) return 1;
  auto attr = node.Attr(arg.number_attr);
  auto count = attr ? attr->AsInt() : std::nullopt;
  if (!count) return MakeError("attribute '{0}' is missing or not an int", arg.number_attr);
  if (*count < 0 || *count > kMaxPorts)
    return MakeError("attribute '{0}' is {1}, a number of tensors from 0 to 1048576 was expected",
                     arg.number_attr, *count);
  return *count;
}

Expected<NodeTypes> TypesOf(const Node& node, const OpInfo& info) {
  NodeTypes types;
  for (const OpArg& arg : info.inputs) RETURN_IF_ERROR(Append(node, arg, &types.inputs));
  for (const OpArg& arg : info.outputs) RETURN_IF_ERROR(Append(node, arg, &types.outputs));
  return types;
}

DataType TypeOfPort(const Graph& graph, Port port) {
  if (port.node == kNoNode || port.index < 0) return proto::DT_INVALID;
  Node node = graph.node(port.node);
  const OpInfo* info = DefinitionOf(node);
  if (!info) return proto::DT_INVALID;
  // Counts the tensors of each argument and makes no list of all dtypes, because an argument may
  // stand for a million tensors.
  int64_t index = port.index;
  for (const OpArg& arg : info->outputs) {
    std::optional<std::vector<DataType>> list;
    int64_t count = 0;
    if (!arg.type_list_attr.empty()) {
      auto attr = node.Attr(arg.type_list_attr);
      list = attr ? attr->AsTypes() : std::nullopt;
      if (!list) return proto::DT_INVALID;
      count = static_cast<int64_t>(list->size());
    } else {
      auto number = NumTensors(node, arg);
      if (!number) {
        llvm::consumeError(number.takeError());
        return proto::DT_INVALID;
      }
      count = *number;
    }
    if (index >= count) {
      index -= count;
      continue;
    }
    DataType type = list                    ? (*list)[index]
                    : arg.type_attr.empty() ? arg.type
                                            : node.GetType(arg.type_attr);
    return arg.is_ref && type != proto::DT_INVALID ? RefType(type) : type;
  }
  return proto::DT_INVALID;
}

int NumOutputs(const Node& node) {
  const OpInfo* info = DefinitionOf(node);
  if (!info) return -1;
  int64_t total = 0;
  for (const OpArg& arg : info->outputs) {
    auto count = NumTensors(node, arg);
    if (!count) {
      llvm::consumeError(count.takeError());
      return -1;
    }
    total += *count;
  }
  return static_cast<int>(total);
}

int PortOfOutput(const Node& node, const OpInfo& info, llvm::StringRef output, int index) {
  int64_t base = 0;
  for (const OpArg& arg : info.outputs) {
    auto count = NumTensors(node, arg);
    if (!count) {
      llvm::consumeError(count.takeError());
      return -1;
    }
    if (arg.name == output)
      return index >= 0 && index < *count ? static_cast<int>(base + index) : -1;
    base += *count;
  }
  return -1;
}

std::pair<llvm::StringRef, int> OutputOfPort(const Node& node, const OpInfo& info, int port) {
  // If the only output argument is a list, as in a call, each port belongs to it. Returns early,
  // because NumTensors would read the whole list.
  if (info.outputs.size() == 1 && !info.outputs[0].type_list_attr.empty())
    return {info.outputs[0].name, port};
  for (const OpArg& arg : info.outputs) {
    auto count = NumTensors(node, arg);
    if (!count) {
      llvm::consumeError(count.takeError());
      break;
    }
    if (port < *count) return {arg.name, port};
    port -= static_cast<int>(*count);
  }
  return {{}, 0};
}

llvm::StringRef ArgumentOfInput(const Node& node, const OpInfo& info, int slot) {
  for (const OpArg& arg : info.inputs) {
    auto count = NumTensors(node, arg);
    if (!count) {
      llvm::consumeError(count.takeError());
      break;
    }
    if (slot < *count) return arg.name;
    slot -= static_cast<int>(*count);
  }
  return {};
}

bool IsVariable(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "VarHandleOp" || op == "VariableV2" || op == "Variable";
}

bool IsConstant(const Node& node) { return node.op() == "Const" || node.op() == "HostConst"; }

std::vector<llvm::StringRef> CalledFunctions(const Node& node) {
  std::vector<llvm::StringRef> names;
  if (node.graph().module().FindFunction(node.op())) names.push_back(node.op());
  for (const auto& [key, value] : node.Attrs()) {
    for (llvm::StringRef name : value.FuncNames()) names.push_back(name);
  }
  return names;
}

bool MayCallFunctions(const Node& node) {
  const OpInfo* info = FindOp(node.op());
  if (!info) return true;
  return llvm::any_of(info->attrs, [](const OpAttr& attr) {
    return attr.type == "func" || attr.type == "list(func)";
  });
}

}  // namespace grapnel
