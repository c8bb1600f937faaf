#include "tests/fuzz/proto_mutation.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "tests/fuzz/value_mutation.h"

namespace grapnel {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Nodes = google::protobuf::RepeatedPtrField<proto::NodeDef>;

constexpr const char* kOps[] = {"Placeholder",
                                "Const",
                                "Identity",
                                "IdentityN",
                                "NoOp",
                                "Switch",
                                "Merge",
                                "Enter",
                                "Exit",
                                "NextIteration",
                                "LoopCond",
                                "If",
                                "StatelessIf",
                                "While",
                                "StatelessWhile",
                                "Case",
                                "_Arg",
                                "_Retval",
                                "_Send",
                                "_Recv",
                                "Concat",
                                "ConcatV2",
                                "Split",
                                "SplitV",
                                "Pack",
                                "Unpack",
                                "Reshape",
                                "Transpose",
                                "StridedSlice",
                                "Slice",
                                "Pad",
                                "Tile",
                                "BroadcastTo",
                                "Fill",
                                "Range",
                                "MatMul",
                                "BatchMatMulV2",
                                "Einsum",
                                "Conv2D",
                                "FusedBatchNormV3",
                                "BiasAdd",
                                "Add",
                                "AddV2",
                                "AddN",
                                "Mul",
                                "Sub",
                                "RealDiv",
                                "Pow",
                                "Square",
                                "Sqrt",
                                "Neg",
                                "Cast",
                                "Sum",
                                "Mean",
                                "ArgMax",
                                "GatherV2",
                                "ScatterNd",
                                "Shape",
                                "ShapeN",
                                "Size",
                                "Rank",
                                "Squeeze",
                                "ExpandDims",
                                "VarHandleOp",
                                "ReadVariableOp",
                                "AssignVariableOp",
                                "TensorListReserve",
                                "TensorListStack",
                                "TensorArrayV3",
                                "QueueDequeueV2",
                                "PartitionedCall",
                                "StatefulPartitionedCall",
                                "SymbolicGradient",
                                "RemoteCall",
                                "MapDataset",
                                "RestoreV2",
                                "StringFormat",
                                "Assert",
                                "Print",
                                "RandomUniform",
                                "Softmax",
                                "Relu",
                                "Select",
                                "SelectV2",
                                "NoSuchOp"};

std::string Quoted(llvm::StringRef text) { return llvm::formatv("'{0}'", text.take_front(60)); }

// Returns a random list of nodes: the main graph's, or a function's.
Nodes& SomeBody(Random& random, proto::GraphDef& graph) {
  auto& functions = *graph.mutable_library()->mutable_function();
  if (functions.empty() || random.OneIn(2)) return *graph.mutable_node();
  return *functions[static_cast<int>(random.Below(functions.size()))].mutable_node_def();
}

proto::NodeDef& SomeNode(Random& random, Nodes& nodes) {
  if (nodes.empty()) nodes.Add()->set_name("n");
  return nodes[static_cast<int>(random.Below(nodes.size()))];
}

std::string SomeTensor(Random& random, Nodes& nodes) {
  if (random.OneIn(10)) return SomeString(random);
  std::string name = SomeNode(random, nodes).name();
  if (random.OneIn(4)) return "^" + name;
  if (random.OneIn(3)) return name + ":" + std::to_string(SomeInteger(random));
  if (random.OneIn(8)) return name + ":output:" + std::to_string(random.Below(3));
  return name;
}

// --- Nodes

std::string Rename(Random& random, proto::NodeDef& node, Nodes& nodes) {
  std::string was = node.name();
  node.set_name(random.OneIn(2) ? SomeNode(random, nodes).name() : SomeString(random));
  return llvm::formatv("node {0} is called {1}", Quoted(was), Quoted(node.name()));
}

std::string ChangeOp(Random& random, proto::NodeDef& node, Nodes& nodes) {
  node.set_op(random.OneIn(3) ? SomeNode(random, nodes).op() : std::string(random.Of(kOps)));
  return llvm::formatv("node {0} is {1}", Quoted(node.name()), Quoted(node.op()));
}

std::string ChangeInput(Random& random, proto::NodeDef& node, Nodes& nodes) {
  std::string input = random.OneIn(6) ? node.name() : SomeTensor(random, nodes);
  auto& inputs = *node.mutable_input();
  int at = SomeIndex(random, inputs);
  if (inputs.empty() || random.OneIn(4))
    *inputs.Add() = input;
  else if (random.OneIn(6))
    inputs.DeleteSubrange(at, 1);
  else if (random.OneIn(6))
    inputs.SwapElements(at, SomeIndex(random, inputs));
  else
    inputs[at] = input;
  return llvm::formatv("node {0}: input {1} is {2}", Quoted(node.name()), at, Quoted(input));
}

std::string ChangeDevice(Random& random, proto::NodeDef& node) {
  node.set_device(SomeString(random));
  return llvm::formatv("node {0} is on {1}", Quoted(node.name()), Quoted(node.device()));
}

std::string ChangeNodes(Random& random, Nodes& nodes) {
  int at = SomeIndex(random, nodes);
  if (nodes.empty()) return "no nodes";
  std::string name = nodes[at].name();
  switch (random.Below(3)) {
    case 0:
      nodes.DeleteSubrange(at, 1);
      return llvm::formatv("node {0} is gone", Quoted(name));
    case 1: {
      proto::NodeDef copy = nodes[at];
      if (random.OneIn(2)) copy.set_name(name + "_");
      *nodes.Add() = copy;
      return llvm::formatv("node {0} is there twice", Quoted(name));
    }
    default:
      nodes.SwapElements(at, SomeIndex(random, nodes));
      return llvm::formatv("node {0} is elsewhere", Quoted(name));
  }
}

// Adds a chain as long as real programs have, which code that recurses per node does not survive.
std::string AddChain(Random& random, Nodes& nodes) {
  std::string input = SomeTensor(random, nodes);
  const char* op = random.OneIn(3) ? "Neg" : "Identity";
  int64_t length = random.OneIn(4) ? 20'000 : 500;
  for (int64_t i = 0; i < length; ++i) {
    proto::NodeDef& node = *nodes.Add();
    node.set_name("chain" + std::to_string(i));
    node.set_op(op);
    *node.add_input() = input;
    (*node.mutable_attr())["T"].set_type(proto::DT_FLOAT);
    input = node.name();
  }
  SomeNode(random, nodes).add_input(input);
  return llvm::formatv("a chain of {0} {1}", length, op);
}

// --- Attributes and functions

std::string ChangeAttr(Random& random, proto::GraphDef& graph, proto::NodeDef& node,
                       const proto::NodeDef& other) {
  auto& attrs = *node.mutable_attr();
  std::vector<std::string> keys;
  for (const auto& [key, value] : attrs) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  if (keys.empty() || random.OneIn(8)) keys.push_back(random.OneIn(2) ? "T" : SomeString(random));
  std::string key = random.Of(keys);
  std::string what = llvm::formatv("node {0}: attribute {1}", Quoted(node.name()), Quoted(key));
  if (random.OneIn(10)) {
    attrs.erase(key);
    return what + " is gone";
  }
  auto others = other.attr().find(key);
  if (others != other.attr().end() && random.OneIn(4)) {
    proto::AttrValue copy = others->second;
    attrs[key] = copy;
    return what + " is another node's";
  }
  if (random.OneIn(3) || !ChangeWithinKind(random, graph, attrs[key]))
    SetValue(random, graph, attrs[key]);
  return what + " = " + attrs[key].ShortDebugString().substr(0, 120);
}

std::string ChangeSignature(Random& random, proto::FunctionDef& function) {
  proto::OpDef& signature = *function.mutable_signature();
  bool is_input = random.OneIn(2);
  auto& args = is_input ? *signature.mutable_input_arg() : *signature.mutable_output_arg();
  int at = SomeIndex(random, args);
  std::string what = llvm::formatv("function {0}: {1} {2}", Quoted(signature.name()),
                                   is_input ? "argument" : "result", at);
  if (args.empty() || random.OneIn(4)) {
    proto::OpDef::ArgDef& arg = *args.Add();
    arg.set_name(SomeString(random));
    arg.set_type(SomeType(random));
    return what + " is new";
  }
  switch (random.Below(4)) {
    case 0:
      args.DeleteSubrange(at, 1);
      return what + " is gone";
    case 1:
      args[at].set_type(SomeType(random));
      return what + " has another dtype";
    case 2:
      args[at].set_number_attr("N");
      args[at].set_type_attr(SomeString(random));
      return what + " is a list";
    default:
      args[at].set_name(SomeString(random));
      return what + " is called otherwise";
  }
}

std::string ChangeReturns(Random& random, proto::FunctionDef& function) {
  auto& returns = random.OneIn(4) ? *function.mutable_control_ret() : *function.mutable_ret();
  std::vector<std::string> keys;
  for (const auto& [key, value] : returns) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::string key = keys.empty() || random.OneIn(8) ? SomeString(random) : random.Of(keys);
  if (random.OneIn(4))
    returns.erase(key);
  else
    returns[key] = random.OneIn(3) ? SomeString(random)
                                   : SomeNode(random, *function.mutable_node_def()).name() +
                                         (random.OneIn(2) ? ":output:0" : ":0");
  return llvm::formatv("function {0}: returns {1}", Quoted(function.signature().name()),
                       Quoted(key));
}

// Makes the function call itself, with no end in its body.
std::string CallItself(proto::FunctionDef& function) {
  const proto::OpDef& signature = function.signature();
  proto::NodeDef& call = *function.add_node_def();
  call.set_name("again");
  call.set_op("PartitionedCall");
  for (const auto& arg : signature.input_arg()) {
    call.add_input(arg.name());
    (*call.mutable_attr())["Tin"].mutable_list()->add_type(arg.type());
  }
  int at = 0;
  for (const auto& result : signature.output_arg()) {
    (*call.mutable_attr())["Tout"].mutable_list()->add_type(result.type());
    (*function.mutable_ret())[result.name()] = "again:output:" + std::to_string(at++);
  }
  (*call.mutable_attr())["f"].mutable_func()->set_name(signature.name());
  return llvm::formatv("function {0} calls itself", Quoted(signature.name()));
}

std::string ChangeLibrary(Random& random, proto::GraphDef& graph) {
  auto& functions = *graph.mutable_library()->mutable_function();
  if (functions.empty()) return "no functions";
  int at = SomeIndex(random, functions);
  proto::FunctionDef& function = functions[at];
  switch (random.Below(6)) {
    case 0:
      functions.DeleteSubrange(at, 1);
      return "a function is gone";
    case 1: {
      proto::FunctionDef copy = function;
      *functions.Add() = copy;
      return "a function is there twice";
    }
    case 2:
      return CallItself(function);
    case 3:
      return ChangeReturns(random, function);
    case 4:
      function.mutable_signature()->set_name(
          random.OneIn(2) ? functions[SomeIndex(random, functions)].signature().name()
                          : SomeString(random));
      return "a function has another name";
    default:
      return ChangeSignature(random, function);
  }
}

std::string ChangeVersions(Random& random, proto::GraphDef& graph) {
  graph.mutable_versions()->set_producer(static_cast<int>(SomeInteger(random)));
  if (random.OneIn(2))
    graph.mutable_versions()->set_min_consumer(static_cast<int>(SomeInteger(random)));
  return "versions: " + graph.versions().ShortDebugString();
}

// --- Any field of any message, through protobuf's reflection

void SetScalar(Random& random, Message& message, const FieldDescriptor& field) {
  const Reflection& set = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return set.SetInt32(&message, &field, static_cast<int>(SomeInteger(random)));
    case FieldDescriptor::CPPTYPE_INT64:
      return set.SetInt64(&message, &field, SomeInteger(random));
    case FieldDescriptor::CPPTYPE_BOOL:
      return set.SetBool(&message, &field, random.OneIn(2));
    case FieldDescriptor::CPPTYPE_ENUM:
      return set.SetEnumValue(&message, &field, static_cast<int>(random.Below(200)));
    case FieldDescriptor::CPPTYPE_STRING:
      return set.SetString(&message, &field, SomeString(random));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      set.MutableMessage(&message, &field);
      return;
    default:
      return;
  }
}

std::string ChangeField(Random& random, Message& message) {
  const auto& type = *message.GetDescriptor();
  const FieldDescriptor& field = *type.field(static_cast<int>(random.Below(type.field_count())));
  const Reflection& set = *message.GetReflection();
  std::string what = llvm::formatv("{0}.{1}", type.name(), field.name());
  if (field.is_repeated() && set.FieldSize(message, &field) > 0) {
    bool is_message = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field.is_map();
    int at = static_cast<int>(random.Below(set.FieldSize(message, &field)));
    if (is_message && !random.OneIn(4))
      return what + " > " + ChangeField(random, *set.MutableRepeatedMessage(&message, &field, at));
    set.RemoveLast(&message, &field);
    return what + " is one shorter";
  }
  if (field.is_repeated()) return what + " is empty";
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && set.HasField(message, &field))
    return what + " > " + ChangeField(random, *set.MutableMessage(&message, &field));
  SetScalar(random, message, field);
  return what + " is set";
}

std::string ChangeOnce(Random& random, proto::GraphDef& graph) {
  Nodes& nodes = SomeBody(random, graph);
  proto::NodeDef& node = SomeNode(random, nodes);
  switch (random.Below(20)) {
    case 0:
      return Rename(random, node, nodes);
    case 1:
    case 2:
      return ChangeOp(random, node, nodes);
    case 3:
    case 4:
    case 5:
    case 6:
      return ChangeInput(random, node, nodes);
    case 7:
      return ChangeDevice(random, node);
    case 8:
    case 9:
      return ChangeNodes(random, nodes);
    case 10:
    case 11:
    case 12:
      return ChangeLibrary(random, graph);
    case 13:
      return random.OneIn(4) ? ChangeVersions(random, graph) : ChangeField(random, graph);
    case 14:
      return random.OneIn(6) ? AddChain(random, nodes) : ChangeInput(random, node, nodes);
    default:
      return ChangeAttr(random, graph, node, SomeNode(random, nodes));
  }
}

}  // namespace

std::string MutateGraphDef(Random& random, proto::GraphDef& graph) {
  std::string what;
  int64_t times = random.OneIn(3) ? 2 + random.Below(5) : 1;
  for (int64_t i = 0; i < times; ++i) what += (i ? ", " : "") + ChangeOnce(random, graph);
  return what;
}

}  // namespace grapnel
