#include "lib/job/function_signature.h"

#include "lib/io/object_functions.h"
#include "lib/io/object_nodes.h"
#include "lib/io/saved_objects.h"
#include "lib/io/signature.h"
#include "lib/ir/attr.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/job/function_graph.h"
#include "lib/job/signature_graph.h"
#include "lib/proto/saved_object_graph.pb.h"
#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

// Returns a name that a node may have: "call" for "__call__", "layers.0.encode" for
// "layers[0].encode".
std::string NodeNameOf(llvm::StringRef path) {
  std::string name;
  for (char c : path) {
    if (llvm::isAlnum(c) || c == '_' || (c == '.' && !name.empty() && name.back() != '.'))
      name += c;
    else if (c == '[')
      name += '.';
  }
  llvm::StringRef trimmed = llvm::StringRef(name).trim("_.");
  return trimmed.empty() ? "function" : trimmed.str();
}

// Returns the trace of an object's function; nullopt if `name` is at most a function of the
// library.
Expected<std::optional<ChosenTrace>> ChooseTrace(llvm::StringRef name, const OpenedGraph& opened) {
  ASSIGN_OR_RETURN(std::optional<ChosenTrace> chosen, FindObjectFunction(opened.file(), name));
  if (chosen) return chosen;
  const Function* function = FindLibraryFunction(opened.module(), name);
  return function ? FindTraceOf(opened.file(), function->name()) : std::nullopt;
}

Error NoSuchFunction(llvm::StringRef name, const OpenedGraph& opened) {
  std::vector<std::string> names;
  for (const ObjectFunction& known : ObjectFunctionsOf(opened.file())) names.push_back(known.path);
  for (const auto& known : opened.module().functions) names.push_back(known->name().str());
  return NotFound("function", name, names);
}

// Adds a call of a function to a copy of the main graph, with its ends as the only signature.
class CallOfTrace {
 public:
  CallOfTrace(const OpenedGraph& opened, const ChosenTrace& chosen)
      : file_(opened.file()), chosen_(chosen), module_(opened.module().Copy()) {}

  Expected<GraphInFile> Add() && {
    function_ = module_->FindFunction(chosen_.trace.function);
    if (!function_)
      return MakeError("function '{0}': the library has no '{1}'", chosen_.path,
                       chosen_.trace.function);
    if (function_->args.size() != chosen_.trace.inputs.size() + chosen_.trace.captures.size())
      return MakeError(
          "function '{0}': '{1}' takes {2} tensors, but the objects say that it takes {3} and "
          "captures {4}",
          chosen_.path, function_->name(), function_->args.size(), chosen_.trace.inputs.size(),
          chosen_.trace.captures.size());
    RETURN_IF_ERROR(AddPlaceholders());
    RETURN_IF_ERROR(AddCaptures());
    AddCall();
    return File();
  }

 private:
  Graph& main() { return module_->main; }

  Error AddPlaceholders() {
    for (SignatureTensor input : chosen_.trace.inputs) {
      if (input.dtype == proto::DT_INVALID)
        return MakeError("function '{0}': argument '{1}' has an unknown dtype", chosen_.path,
                         input.tensor);
      std::string name = main().UniqueName(NodeNameOf(input.tensor));
      NodeId id = main().AddNode(name, "Placeholder");
      main().SetAttr(id, "dtype", attr::Type(input.dtype));
      main().SetAttr(id, "shape", attr::ShapeOf(input.shape));
      arguments_.push_back({id, 0});
      types_.push_back(input.dtype);
      input.tensor = OutputName(name, 0);
      signature_.inputs.push_back(std::move(input));
    }
    return Error::success();
  }

  Error AddCaptures() {
    if (chosen_.trace.captures.empty()) return Error::success();
    proto::SavedObjectGraph saved;
    ReadSavedObjects(file_, &saved);  // it was read before to find the function
    ObjectNodes nodes(file_, saved);
    for (int object : chosen_.trace.captures) {
      DataType type = TypeOfArgument(function_->body.node(function_->args[types_.size()])).dtype;
      if (object < 0 || object >= saved.nodes_size())
        return MakeError("function '{0}' captures object {1}, which the file does not have",
                         chosen_.path, object);
      Port given = nodes.Of(object);
      if (given.node == kNoNode && saved.nodes(object).has_variable())
        given = {AddVariable(saved.nodes(object).variable()), 0};
      if (given.node == kNoNode)
        return MakeError("function '{0}' captures object {1} ({2}), which the graph lacks",
                         chosen_.path, object, KindOf(saved.nodes(object)));
      // The main graph reads the path of an asset after the initializer's assignment, which
      // RestoreSession runs.
      Node read = main().node(given.node);
      if (read.op() == "ReadVariableOp" && read.num_controls() > 0) given = read.input(0);
      bool is_handle = TypeOfPort(main(), given) == proto::DT_RESOURCE;
      if (is_handle && type != proto::DT_RESOURCE) given = {AddRead(given, type), 0};
      arguments_.push_back(given);
      types_.push_back(type);
    }
    return Error::success();
  }

  static llvm::StringRef KindOf(const proto::SavedObject& object) {
    if (object.has_constant()) return "a constant";
    if (object.has_asset()) return "an asset";
    if (object.has_resource()) return "a table or another resource";
    return object.has_captured_tensor() ? "a tensor of another function" : "an object";
  }

  // Adds a variable that the main graph lacks. The call, which captures it, says which object it
  // is, and so which value of the checkpoint is restored.
  NodeId AddVariable(const proto::SavedVariable& variable) {
    std::string name = variable.name().empty() ? "variable" : NodeNameOf(variable.name());
    name = main().UniqueName(name);
    NodeId id = main().AddNode(name, "VarHandleOp");
    main().SetAttr(id, "dtype", attr::Type(variable.dtype()));
    main().SetAttr(id, "shape", attr::ShapeOf(Shape::FromProto(variable.shape())));
    main().SetAttr(id, "shared_name", attr::String(name));
    return id;
  }

  NodeId AddRead(Port handle, DataType type) {
    std::string name = main().node(handle.node).name().str() + "/Read/ReadVariableOp";
    NodeId id = main().AddNode(main().UniqueName(name), "ReadVariableOp");
    main().SetAttr(id, "dtype", attr::Type(type));
    main().AddInput(id, handle);
    return id;
  }

  // A call without results is itself what the signature runs.
  void AddCall() {
    std::string name = main().UniqueName(NodeNameOf(chosen_.path));
    bool is_stateful = function_->info.is_stateful;
    NodeId call = main().AddNode(name, is_stateful ? "StatefulPartitionedCall" : "PartitionedCall");
    for (Port port : arguments_) main().AddInput(call, port);
    std::vector<DataType> results;
    for (SignatureTensor output : chosen_.trace.outputs) {
      output.tensor = OutputName(name, static_cast<int32_t>(results.size()));
      results.push_back(output.dtype);
      signature_.outputs.push_back(std::move(output));
    }
    if (results.empty()) signature_.outputs.push_back({"", name, proto::DT_INVALID, Shape()});
    main().SetAttr(call, "Tin", attr::Types(types_));
    main().SetAttr(call, "Tout", attr::Types(results));
    main().SetAttr(call, "f", attr::Func(function_->name()));
  }

  // The signatures of TensorFlow's loader stay: they initialize the model.
  GraphInFile File() {
    GraphInFile file;
    file.title = file_.title;
    file.path = file_.path;
    file.module = std::move(module_);
    file.tags = file_.tags;
    for (const Signature& signature : file_.signatures)
      if (IsInternal(signature)) file.signatures.push_back(signature);
    signature_.name = chosen_.path;
    file.signatures.push_back(std::move(signature_));
    file.collections = file_.collections;
    file.assets = file_.assets;
    file.saver = file_.saver;
    file.tensorflow_version = file_.tensorflow_version;
    file.object_graph = file_.object_graph;
    file.meta_graph = file_.meta_graph;
    return file;
  }

  const GraphInFile& file_;
  const ChosenTrace& chosen_;
  std::unique_ptr<Module> module_;
  const Function* function_ = nullptr;
  std::vector<Port> arguments_;
  std::vector<DataType> types_;  // of the arguments
  Signature signature_;
};

}  // namespace

Expected<std::string> UseFunction(llvm::StringRef name, OpenedGraph* opened) {
  const std::string& path = opened->model().path;
  auto chosen = ChooseTrace(name, *opened);
  if (!chosen) return Annotate(path, chosen.takeError());
  if (!*chosen && !FindLibraryFunction(opened->module(), name))
    return Annotate(path, NoSuchFunction(name, *opened));
  if (!*chosen) {
    RETURN_IF_ERROR(TakeLibraryFunction(name, opened).takeError());
    return std::string();
  }
  auto file = CallOfTrace(*opened, **chosen).Add();
  if (!file) return Annotate(path, file.takeError());
  opened->ContinueInstead(std::move(*file), [name = name.str()](OpenedGraph* again) {
    return UseFunction(name, again).takeError();
  });
  return (*chosen)->path;
}

Error TakeFunction(llvm::StringRef name, const ShapeOverrides& given, OpenedGraph* opened) {
  ASSIGN_OR_RETURN(std::string signature, UseFunction(name, opened));
  if (signature.empty()) return FillSizes(given, {}, opened);
  return TakeSignature(signature, given, opened).takeError();
}

bool IsObjectFunction(llvm::StringRef name, const OpenedGraph& opened) {
  auto found = FindObjectFunction(opened.file(), name);
  if (found) return found->has_value();
  llvm::consumeError(found.takeError());
  return true;  // UseFunction tells which trace has to be named
}

}  // namespace grapnel
