// A traced body becomes a function of the library: placeholders become arguments, and the signature
// is named as TensorFlow's graph_to_functiondef names it.

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/serialize.h"
#include "lib/proto/function.pb.h"
#include "lib/trace/body.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

// Lower case, with '_' for what is no letter or digit, from the first letter on.
std::string Normalized(llvm::StringRef name) {
  std::string text = name.lower();
  for (char& c : text) {
    if (!llvm::isAlnum(c)) c = '_';
  }
  size_t begin = text.find_first_of("abcdefghijklmnopqrstuvwxyz");
  return begin == std::string::npos ? "unknown" : text.substr(begin);
}

// The name, or name_0, name_1, ...
template <typename Taken>
std::string FirstFree(const std::string& name, Taken taken) {
  std::string free = name;
  for (int i = 0; taken(free); ++i) free = name + "_" + std::to_string(i);
  return free;
}

class FunctionMaker {
 public:
  explicit FunctionMaker(TraceBody& body)
      : body_(body), graph_(*body.graph), function_(*body.function) {}

  void Run(llvm::ArrayRef<NodeId> args, llvm::ArrayRef<Port> results) {
    signature_.set_name(function_.name().str());
    // Before there are arguments, whose ops are stateful by their definition.
    signature_.set_is_stateful(body_.HasStatefulNodes());
    // Results are named first: an argument gives way to a result of its name.
    for (Port port : results) AddResultArg(port);
    for (NodeId id : args) AddArg(id);
    for (size_t i = 0; i < results.size(); ++i) AddResult(static_cast<int>(i), results[i]);
    for (NodeId id : body_.must_run) {
      std::string name = graph_.node(id).name().str();
      function_.control_results.emplace_back(name, id);
      signature_.add_control_output(name);
    }
    (*rest_.mutable_attr())["_construction_context"].set_s("kEagerRuntime");
    function_.info = OpInfoFromProto(signature_);
    function_.signature = signature_.SerializeAsString();
    function_.source = graph_.module().Keep(SerializeInOrder(rest_));
    function_.changed = true;
    // TensorFlow writes the nodes of a function that it traced in the order in which they were
    // made.
    function_.source = graph_.module().Keep(ExportFunctionDef(function_, /*in_order_made=*/true));
    function_.changed = false;
  }

 private:
  void AddResultArg(Port port) {
    std::string name = FirstFree(Normalized(graph_.node(port.node).name()),
                                 [&](const std::string& n) { return names_.count(n) != 0; });
    names_.insert(name);
    auto* arg = signature_.add_output_arg();
    arg->set_name(name);
    arg->set_type(body_.shapes.TypeOf(port));
  }

  void AddArg(NodeId id) {
    Node node = graph_.node(id);
    std::string name = FirstFree(Normalized(node.name()), [&](const std::string& n) {
      Node other = graph_.Find(n);
      return names_.count(n) != 0 || (other && other.id() != id);
    });
    names_.insert(name);
    DataType dtype = node.GetType("dtype");
    auto* arg = signature_.add_input_arg();
    arg->set_name(name);
    arg->set_type(dtype);
    int index = static_cast<int>(function_.args.size());
    auto& attrs = *(*rest_.mutable_arg_attr())[index].mutable_attr();
    if (auto shape = node.FindAttr("shape")) {
      *attrs["_output_shapes"].mutable_list()->add_shape() =
          shape->AsShape().value_or(Shape()).ToProto();
    }
    if (node.FindAttr("_user_specified_name"))
      attrs["_user_specified_name"].set_s(node.GetString("_user_specified_name"));
    for (const char* key : {"dtype", "shape", "_user_specified_name"}) graph_.RemoveAttr(id, key);
    graph_.SetOp(id, "_Arg");
    if (node.name() != name) graph_.Rename(id, name);
    graph_.SetAttr(id, "T", attr::Type(dtype));
    graph_.SetAttr(id, "index", attr::Int(index));
    function_.args.push_back(id);
  }

  void AddResult(int index, Port port) {
    const auto& arg = signature_.output_arg(index);
    NodeId id = graph_.AddNode(graph_.UniqueName(arg.name() + "_RetVal"), "_Retval");
    graph_.AddInput(id, port);
    graph_.SetAttr(id, "T", attr::Type(arg.type()));
    graph_.SetAttr(id, "index", attr::Int(index));
    function_.results.push_back({arg.name(), id});
  }

  TraceBody& body_;
  Graph& graph_;
  Function& function_;
  proto::OpDef signature_;
  proto::FunctionDef rest_;  // what Function has no member for
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
  NodeId id = body.AddNode("Placeholder", unique, {}, Where());
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
