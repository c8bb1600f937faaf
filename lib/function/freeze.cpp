#include "lib/function/freeze.h"

#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/pass/library.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

constexpr const char* kOutputShapes = "_output_shapes";

// A function that a node calls, and which inputs of the node are the function's arguments.
struct Callee {
  Function* function;
  int first_input;  // the node's input that is argument 0
  bool gives;       // true if the node's outputs are the function's results
};

std::vector<Callee> CalleesOf(Module& module, const Node& node) {
  std::vector<Callee> callees;
  auto add = [&](llvm::StringRef name, int first_input, bool gives) {
    if (Function* function = module.FindFunction(name))
      callees.push_back({function, first_input, gives});
  };
  llvm::StringRef op = node.op();
  add(op, 0, true);
  auto named = [&](llvm::StringRef key) -> std::vector<llvm::StringRef> {
    std::optional<AttrView> attr = node.FindAttr(key);
    return attr ? attr->FuncNames() : std::vector<llvm::StringRef>();
  };
  if (op == "PartitionedCall" || op == "StatefulPartitionedCall") {
    for (llvm::StringRef name : named("f")) add(name, 0, true);
  } else if (op == "If" || op == "StatelessIf") {
    for (const char* key : {"then_branch", "else_branch"}) {
      for (llvm::StringRef name : named(key)) add(name, 1, true);
    }
  } else if (op == "Case" || op == "StatelessCase") {
    for (llvm::StringRef name : named("branches")) add(name, 1, true);
  } else if (op == "While" || op == "StatelessWhile") {
    for (llvm::StringRef name : named("cond")) add(name, 0, false);
    for (llvm::StringRef name : named("body")) add(name, 0, true);
  }
  return callees;
}

class Freezer {
 public:
  Freezer(Module& module, VariableValue value) : module_(module), value_(value) {}

  Error Run() {
    FindCallers();
    std::vector<Node> variables;
    for (Node node : module_.main.nodes()) {
      if (IsVariable(node)) variables.push_back(node);
    }
    for (const Node& node : variables) {
      ASSIGN_OR_RETURN(Literal value, value_(node));
      Mark(module_.main, {node.id(), 0}, value.dtype(), node.name());
      BecomeConstant(node, value);
    }
    while (!open_.empty()) {
      Handle handle = open_.back();
      open_.pop_back();
      RETURN_IF_ERROR(Follow(handle));
    }
    if (!failure_.empty()) return MakeError("{0}", failure_);
    for (Function* function : changed_) RewriteSignature(function);
    return Error::success();
  }

 private:
  // An output that used to be a variable's handle and is now the variable's value.
  struct Handle {
    Graph* graph;
    Port port;
    DataType dtype;
    std::string variable;
  };

  void FindCallers() {
    for (const Body& body : Bodies(module_)) {
      if (body.function) function_of_[body.graph] = body.function;
      for (Node node : body.graph->nodes()) {
        if (!MayCallFunctions(node)) continue;
        for (const Callee& callee : CalleesOf(module_, node)) {
          if (callee.gives) callers_[callee.function].push_back({body.graph, node.id()});
        }
      }
    }
  }

  void Mark(Graph& graph, Port port, DataType dtype, llvm::StringRef variable) {
    auto [it, fresh] = dtypes_.try_emplace({&graph, port}, dtype);
    if (fresh) {
      open_.push_back({&graph, port, dtype, variable.str()});
    } else if (it->second != dtype && failure_.empty()) {
      failure_ =
          llvm::formatv(
              "node '{0}' receives variables of dtypes {1} and {2}, such as '{3}': "
              "these variables cannot be frozen",
              graph.node(port.node).name(), DataTypeName(it->second), DataTypeName(dtype), variable)
              .str();
    }
  }

  Error Follow(const Handle& handle) {
    Node node = handle.graph->node(handle.port.node);
    auto uses = node.UsesOf(handle.port.index);
    for (const Use& use : uses) {
      RETURN_IF_ERROR(Take(handle, handle.graph->node(use.node), static_cast<int>(use.slot)));
    }
    return Error::success();
  }

  // Makes input `slot` of `node`, which took the variable's handle, take the variable's value;
  // rewrites the node if that is needed. An error if `node` cannot take a value.
  Error Take(const Handle& handle, const Node& node, int slot) {
    Graph& graph = *handle.graph;
    Touched(graph);
    graph.RemoveAttr(node.id(), kOutputShapes);
    if (node.op() == "_Retval") return Give(handle, node);
    if (Read(handle, node)) return Error::success();
    std::vector<Callee> callees = CalleesOf(module_, node);
    if (!callees.empty()) return Pass(handle, node, slot, callees);
    bool one = llvm::StringSwitch<bool>(node.op())
                   .Cases("Identity", "Enter", "Switch", "Merge", "Exit", "NextIteration", true)
                   .Cases("RefIdentity", "RefEnter", "RefSwitch", "RefMerge", "RefExit",
                          "RefNextIteration", true)
                   .Default(false);
    if (one) return HandOn(handle, node);
    if (node.op() == "IdentityN") {
      SetElement(graph, node, "T", slot, handle.dtype);
      Mark(graph, {node.id(), slot}, handle.dtype, handle.variable);
      return Error::success();
    }
    return TakesValue(node, slot) ? Error::success() : Refuse(handle, node);
  }

  // True if input `slot` of `node` is a plain tensor, neither a reference nor a resource. Such an
  // input reads the value of a TF1 variable already, so `node` stays as it is.
  static bool TakesValue(const Node& node, int slot) {
    const OpInfo* info = DefinitionOf(node);
    if (!info) return false;
    llvm::StringRef name = ArgumentOfInput(node, *info, slot);
    auto arg = llvm::find_if(info->inputs, [&](const OpArg& one) { return one.name == name; });
    if (arg == info->inputs.end() || arg->is_ref) return false;
    // An attribute of the node may say that the input is a resource.
    if (!arg->type_attr.empty()) return node.GetType(arg->type_attr) != proto::DT_RESOURCE;
    if (arg->type_list_attr.empty()) return arg->type != proto::DT_RESOURCE;
    auto types = TypesOf(node, *info);
    if (types) return types->inputs[slot] != proto::DT_RESOURCE;
    llvm::consumeError(types.takeError());
    return false;
  }

  static Error Refuse(const Handle& handle, const Node& node) {
    return MakeError(
        "variable '{0}' cannot be frozen: node '{1}' ({2}) writes the variable, or needs its "
        "handle",
        handle.variable, node.name(), node.op());
  }

  // Rewrites `node`, which takes the handle, if its op only reads the variable, such as
  // ReadVariableOp; false for other ops.
  bool Read(const Handle& handle, const Node& node) {
    Graph& graph = *handle.graph;
    llvm::StringRef op = node.op();
    if (op == "ReadVariableOp") {
      Become(graph, node, "Identity", {{"T", attr::Type(handle.dtype)}}, {"dtype"});
    } else if (op == "ResourceGather") {
      std::string axis = attr::Type(proto::DT_INT32);
      int64_t batch_dims = node.GetInt("batch_dims");
      Become(graph, node, "GatherV2",
             {{"Tparams", attr::Type(handle.dtype)},
              {"Taxis", axis},
              {"batch_dims", attr::Int(batch_dims)}},
             {"dtype", "validate_indices"});
      graph.SetInputs(node.id(), WithInput(node, AxisOf(graph, node, batch_dims)));
    } else if (op == "ResourceGatherNd") {
      Become(graph, node, "GatherNd", {{"Tparams", attr::Type(handle.dtype)}}, {"dtype"});
    } else if (op == "VariableShape") {
      Become(graph, node, "Shape", {{"T", attr::Type(handle.dtype)}}, {});
    } else if (op == "VarIsInitializedOp" || op == "IsVariableInitialized") {
      BecomeConstant(node, Literal::Scalar(proto::DT_BOOL, 1));
    } else {
      return false;
    }
    return true;
  }

  // Adds a Const for the axis input of a GatherV2, which a ResourceGather lacks. The Const waits
  // for the gather's indices and so runs in the same loop as the gather.
  Port AxisOf(Graph& graph, const Node& gather, int64_t axis) {
    std::string name = graph.UniqueName((gather.name() + "/axis").str());
    NodeId id = graph.AddNode(name, "Const", gather.device());
    graph.SetAttr(id, "dtype", attr::Type(proto::DT_INT32));
    Literal value = Literal::Scalar(proto::DT_INT32, static_cast<double>(axis));
    graph.SetAttr(id, "value", attr::Tensor(value.ToTensorProto()));
    graph.AddControl(id, gather.input(1).node);
    return {id, 0};
  }

  // Returns the inputs of `node` with `last` added behind the data inputs, before the control
  // inputs.
  static llvm::SmallVector<Port, 4> WithInput(const Node& node, Port last) {
    llvm::SmallVector<Port, 4> ports = node.inputs();
    ports.insert(ports.begin() + node.num_inputs(), last);
    return ports;
  }

  static void Become(Graph& graph, const Node& node, llvm::StringRef op,
                     llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> set,
                     llvm::ArrayRef<llvm::StringRef> removed) {
    graph.SetOp(node.id(), op);
    for (llvm::StringRef key : removed) graph.RemoveAttr(node.id(), key);
    for (const auto& [key, value] : set) graph.SetAttr(node.id(), key, value);
  }

  // Turns `node` into a Const with the value `value`. Keeps its inputs only as control inputs.
  void BecomeConstant(const Node& node, const Literal& value) {
    Graph& graph = const_cast<Graph&>(node.graph());
    llvm::SmallVector<Port, 4> controls;
    for (const Port& port : node.inputs()) {
      Port control = {port.node, kControlPort};
      if (!llvm::is_contained(controls, control)) controls.push_back(control);
    }
    graph.SetInputs(node.id(), controls);
    graph.SetOp(node.id(), "Const");
    for (const auto& [key, unused] : node.Attrs()) {
      if (!key.starts_with("_") || key == kOutputShapes) graph.RemoveAttr(node.id(), key);
    }
    graph.SetAttr(node.id(), "dtype", attr::Type(value.dtype()));
    llvm::StringRef content;
    std::string tensor = value.TensorProtoHead(/*compress=*/false, &content);
    graph.SetAttr(node.id(), "value",
                  {attr::TensorHead(tensor.size() + content.size()), tensor, content});
  }

  Error HandOn(const Handle& handle, const Node& node) {
    Graph& graph = *handle.graph;
    llvm::StringRef op = node.op();
    if (op.consume_front("Ref")) graph.SetOp(node.id(), op.str());
    graph.SetAttr(node.id(), "T", attr::Type(handle.dtype));
    int outputs = node.op() == "Switch" ? 2 : 1;
    for (int i = 0; i < outputs; ++i) Mark(graph, {node.id(), i}, handle.dtype, handle.variable);
    return Error::success();
  }

  void SetElement(Graph& graph, const Node& node, llvm::StringRef key, int index, DataType dtype) {
    std::optional<AttrView> attr = node.FindAttr(key);
    auto types = attr ? attr->AsTypes() : std::nullopt;
    if (!types || index < 0 || static_cast<size_t>(index) >= types->size()) return;
    (*types)[index] = dtype;
    graph.SetAttr(node.id(), key, attr::Types(*types));
  }

  static bool IsWhile(const Node& node) {
    return node.op() == "While" || node.op() == "StatelessWhile";
  }

  Error Pass(const Handle& handle, const Node& node, int slot, llvm::ArrayRef<Callee> callees) {
    for (const Callee& callee : callees) {
      int index = slot - callee.first_input;
      Function& function = *callee.function;
      bool plain = index >= 0 && static_cast<size_t>(index) < function.args.size() &&
                   function.args.size() == function.info.inputs.size() &&
                   function.info.inputs[index].number_attr.empty() &&
                   function.info.inputs[index].type_list_attr.empty();
      if (!plain) return Refuse(handle, node);
      SetArgument(function, index, handle);
    }
    SetElement(*handle.graph, node, IsWhile(node) ? "T" : "Tin", slot - callees[0].first_input,
               handle.dtype);
    if (IsWhile(node)) Mark(*handle.graph, {node.id(), slot}, handle.dtype, handle.variable);
    return Error::success();
  }

  void SetArgument(Function& function, int index, const Handle& handle) {
    Touched(function.body);
    NodeId arg = function.args[index];
    function.info.inputs[index].type = handle.dtype;
    function.info.inputs[index].type_attr.clear();
    function.body.SetAttr(arg, "T", attr::Type(handle.dtype));
    function.body.RemoveAttr(arg, kOutputShapes);
    Mark(function.body, {arg, 0}, handle.dtype, handle.variable);
  }

  // Called when the handle reaches a function result: makes the function and its callers return the
  // variable's value instead.
  Error Give(const Handle& handle, const Node& result) {
    Function* function = function_of_.lookup(handle.graph);
    if (!function) return Error::success();
    size_t index = 0;
    while (index < function->results.size() && function->results[index].node != result.id())
      ++index;
    if (index >= function->info.outputs.size()) return Refuse(handle, result);
    function->info.outputs[index].type = handle.dtype;
    function->info.outputs[index].type_attr.clear();
    function->body.SetAttr(result.id(), "T", attr::Type(handle.dtype));
    for (const auto& [graph, id] : callers_[function]) {
      Node caller = graph->node(id);
      Touched(*graph);
      graph->RemoveAttr(id, kOutputShapes);
      SetElement(*graph, caller, IsWhile(caller) ? "T" : "Tout", static_cast<int>(index),
                 handle.dtype);
      Mark(*graph, {id, static_cast<int32_t>(index)}, handle.dtype, handle.variable);
    }
    return Error::success();
  }

  void Touched(Graph& graph) {
    Function* function = function_of_.lookup(&graph);
    if (!function) return;
    function->changed = true;
    changed_.insert(function);
  }

  // Rewrites the dtypes in the OpDef of a function from its `info`, and drops the FunctionDef's
  // argument shapes, which were those of handles.
  void RewriteSignature(Function* function) {
    proto::OpDef signature;
    signature.ParseFromString(function->signature);
    auto rewrite = [](llvm::ArrayRef<OpArg> args, auto* defs) {
      for (int i = 0; i < defs->size() && static_cast<size_t>(i) < args.size(); ++i) {
        if (!args[i].type_attr.empty() || !args[i].type_list_attr.empty()) continue;
        defs->at(i).clear_type_attr();
        defs->at(i).set_type(args[i].type);
        defs->at(i).clear_handle_data();
      }
    };
    rewrite(function->info.inputs, signature.mutable_input_arg());
    rewrite(function->info.outputs, signature.mutable_output_arg());
    function->signature = signature.SerializeAsString();
    DropArgumentNotes(function);
  }

  struct InOrder {
    bool operator()(const Function* a, const Function* b) const { return a->name() < b->name(); }
  };

  Module& module_;
  VariableValue value_;
  std::string failure_;  // the first node that receives variables of two dtypes; empty: none
  llvm::DenseMap<const Graph*, Function*> function_of_;
  llvm::DenseMap<const Function*, std::vector<std::pair<Graph*, NodeId>>> callers_;
  std::map<std::pair<const Graph*, Port>, DataType> dtypes_;
  std::vector<Handle> open_;
  std::set<Function*, InOrder> changed_;
};

}  // namespace

Error FreezeVariables(Module& module, VariableValue value) { return Freezer(module, value).Run(); }

}  // namespace grapnel
