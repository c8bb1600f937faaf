// Turns a traced body into a function of the library: placeholders become arguments, and the
// signature is named as in TensorFlow's graph_to_functiondef.

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire_map.h"
#include "lib/proto/op_def.pb.h"
#include "lib/trace/body.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Returns the name in lower case, from its first letter on, with '_' for anything but letters and
// digits; "unknown" if it has no letter.
std::string Normalized(llvm::StringRef name) {
  std::string text = name.lower();
  for (char& c : text) {
    if (!llvm::isAlnum(c)) c = '_';
  }
  size_t begin = text.find_first_of("abcdefghijklmnopqrstuvwxyz");
  return begin == std::string::npos ? "unknown" : text.substr(begin);
}

// Returns the first of name, name_0, name_1, ... that is not taken.
template <typename Taken>
std::string FirstFree(const std::string& name, Taken taken) {
  std::string free = name;
  for (int i = 0; taken(free); ++i) free = name + "_" + std::to_string(i);
  return free;
}

// Writes the FunctionDef without protobuf objects, because building and parsing them would take a
// fifth of the time of tracing a small function.
class FunctionMaker {
 public:
  explicit FunctionMaker(TraceBody& body)
      : body_(body), graph_(*body.graph), function_(*body.function) {}

  void Run(llvm::ArrayRef<NodeId> args, llvm::ArrayRef<Port> results) {
    OpInfo& info = function_.info;
    info = OpInfo();
    info.name = function_.name().str();
    // Set before AddArg makes argument nodes, because the ops of these count as stateful.
    info.is_stateful = body_.HasStatefulNodes();
    // Names the results first: if an argument and a result have the same name, the argument gets a
    // number.
    for (Port port : results) AddResultArg(port);
    for (NodeId id : args) AddArg(id);
    for (size_t i = 0; i < results.size(); ++i) AddResult(static_cast<int>(i), results[i]);
    for (NodeId id : body_.must_run)
      function_.control_results.emplace_back(graph_.node(id).name().str(), id);
    function_.signature = Signature();
    // The FunctionDef fields that Function has no member for.
    std::string rest;
    AppendMapEntry(&rest, kFunctionAttr, "_construction_context", attr::String("kEagerRuntime"));
    rest += arg_attrs_;
    function_.source = rest;
    function_.changed = true;
    // TensorFlow writes the nodes of a traced function in creation order.
    function_.source = graph_.module().Keep(ExportFunctionDef(function_, /*in_order_made=*/true));
    function_.changed = false;
  }

 private:
  // Field numbers of FunctionDef, its ArgAttrs, OpDef and its ArgDef.
  static constexpr uint32_t kFunctionAttr = 5, kFunctionArgAttr = 7, kArgAttrs = 1;
  static constexpr uint32_t kOpName = 1, kOpInput = 2, kOpOutput = 3, kOpIsStateful = 17,
                            kOpControlOutput = 20;
  static constexpr uint32_t kArgName = 1, kArgType = 3;

  std::string Signature() const {
    std::string bytes;
    AppendBytesField(&bytes, kOpName, function_.name());
    std::string arg_bytes;
    auto append = [&](uint32_t field, const OpArg& arg) {
      arg_bytes.clear();
      AppendBytesField(&arg_bytes, kArgName, arg.name);
      if (arg.type != proto::DT_INVALID) AppendVarintField(&arg_bytes, kArgType, arg.type);
      AppendBytesField(&bytes, field, arg_bytes);
    };
    for (const OpArg& arg : function_.info.inputs) append(kOpInput, arg);
    for (const OpArg& arg : function_.info.outputs) append(kOpOutput, arg);
    if (function_.info.is_stateful) AppendVarintField(&bytes, kOpIsStateful, 1);
    for (const auto& [name, node] : function_.control_results)
      AppendBytesField(&bytes, kOpControlOutput, name);
    return bytes;
  }

  void AddResultArg(Port port) {
    OpArg& arg = function_.info.outputs.emplace_back();
    arg.name = FirstFree(Normalized(graph_.node(port.node).name()),
                         [&](const std::string& n) { return names_.count(n) != 0; });
    names_.insert(arg.name);
    arg.type = body_.shapes.TypeOf(port);
  }

  void AddArg(NodeId id) {
    Node node = graph_.node(id);
    OpArg& arg = function_.info.inputs.emplace_back();
    arg.name = FirstFree(Normalized(node.name()), [&](const std::string& n) {
      Node other = graph_.Find(n);
      return names_.count(n) != 0 || (other && other.id() != id);
    });
    names_.insert(arg.name);
    arg.type = node.GetType("dtype");
    AppendArgAttrs(node, function_.args.size());
    SetAttrsOfArg(id, arg.type);
    graph_.SetOp(id, "_Arg");
    if (node.name() != arg.name) graph_.Rename(id, arg.name);
    function_.args.push_back(id);
  }

  void SetAttrsOfArg(NodeId id, DataType dtype) {
    std::string type = attr::Type(dtype);
    std::string index = attr::Int(static_cast<int64_t>(function_.args.size()));
    if (graph_.SharesAttrs(id)) {
      body_.ReplaceAttrs(id, {{"T", type}, {"index", index}});
      return;
    }
    for (const char* key : {"dtype", "shape", "_user_specified_name"}) graph_.RemoveAttr(id, key);
    graph_.SetAttr(id, "T", type);
    graph_.SetAttr(id, "index", index);
  }

  // Appends an entry of arg_attr: the argument's position and its attributes by key.
  void AppendArgAttrs(const Node& node, size_t index) {
    std::string attrs;
    if (auto shape = node.FindAttr("shape")) {
      AppendMapEntry(&attrs, kArgAttrs, "_output_shapes",
                     attr::Shapes({shape->AsShape().value_or(Shape())}));
    }
    if (auto name = node.FindAttr("_user_specified_name"))
      AppendMapEntry(&attrs, kArgAttrs, "_user_specified_name", name->bytes());
    std::string entry;
    AppendVarintField(&entry, 1, index);
    AppendBytesField(&entry, 2, attrs);
    AppendBytesField(&arg_attrs_, kFunctionArgAttr, entry);
  }

  void AddResult(int index, Port port) {
    const OpArg& arg = function_.info.outputs[index];
    NodeId id = graph_.AddNode(graph_.UniqueName(arg.name + "_RetVal"), "_Retval");
    graph_.AddInput(id, port);
    body_.SetAttrs(id, {{"T", attr::Type(arg.type)}, {"index", attr::Int(index)}});
    function_.results.push_back({arg.name, id});
  }

  TraceBody& body_;
  Graph& graph_;
  Function& function_;
  std::string arg_attrs_;
  llvm::StringSet<> names_;
};

}  // namespace

struct FunctionExtender::Impl {
  explicit Impl(TraceBody& body) : body(body), function(*body.function) {
    signature.ParseFromString(function.signature);
    for (const auto& arg : signature.input_arg()) names.insert(arg.name());
    for (const auto& arg : signature.output_arg()) names.insert(arg.name());
  }

  TraceBody& body;
  Function& function;
  proto::OpDef signature;
  llvm::StringSet<> names;
};

FunctionExtender::FunctionExtender(TraceBody& body) : impl_(new Impl(body)) {}

FunctionExtender::~FunctionExtender() {
  Function& function = impl_->function;
  function.info = OpInfoFromProto(impl_->signature);
  function.signature = impl_->signature.SerializeAsString();
  function.changed = true;
}

int FunctionExtender::AddArgument(DataType dtype, const Shape& shape, llvm::StringRef name) {
  TraceBody& body = impl_->body;
  Function& function = impl_->function;
  int index = static_cast<int>(function.args.size());
  std::string unique = FirstFree(Normalized(body.UniqueName(name)), [&](const std::string& n) {
    return bool(body.graph->Find(n)) || impl_->names.count(n) != 0;
  });
  impl_->names.insert(unique);
  auto* arg = impl_->signature.add_input_arg();
  arg->set_name(unique);
  arg->set_type(dtype);
  NodeId id = body.AddNode("Placeholder", unique, {}, SourceLocation());
  body.graph->SetAttr(id, "dtype", attr::Type(dtype));
  body.graph->SetAttr(id, "shape", attr::ShapeOf(shape));
  body.InferShapes(id);
  for (const char* key : {"dtype", "shape"}) body.graph->RemoveAttr(id, key);
  body.graph->SetOp(id, "_Arg");
  body.graph->SetAttr(id, "T", attr::Type(dtype));
  body.graph->SetAttr(id, "index", attr::Int(index));
  function.args.push_back(id);
  return index;
}

int FunctionExtender::AddResult(Port port, llvm::StringRef name) {
  TraceBody& body = impl_->body;
  Function& function = impl_->function;
  int index = static_cast<int>(function.results.size());
  auto* arg = impl_->signature.add_output_arg();
  arg->set_name((name + "_" + llvm::Twine(index)).str());
  impl_->names.insert(arg->name());
  arg->set_type(body.shapes.TypeOf(port));
  NodeId id = body.graph->AddNode(body.graph->UniqueName(arg->name() + "_RetVal"), "_Retval");
  body.graph->AddInput(id, port);
  body.graph->SetAttr(id, "T", attr::Type(arg->type()));
  body.graph->SetAttr(id, "index", attr::Int(index));
  function.results.push_back({arg->name(), id});
  return index;
}

void FinishFunction(TraceBody& body, llvm::ArrayRef<NodeId> args, llvm::ArrayRef<Port> results) {
  FunctionMaker(body).Run(args, results);
}

}  // namespace grapnel
