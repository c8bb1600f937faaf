// Gives a call that stays a function of its own, specialized for the call's inputs and the results
// that are read.
//
//   Before:  x, c -> PartitionedCall(f) -> y:0, :1 (unread)        f(a, b) = a * b, a + b
//   After:   x -> PartitionedCall(f_specialized_for_PartitionedCall_at_ID) -> y:0
//            f_specialized_for_PartitionedCall_at_ID(a) = a * c
//
// Dtypes and attributes that the call determines are written into the body. Constant inputs become
// constants of the body, and the call waits for the control inputs of those constants. Unless the
// call is fetched, unread results are removed, and readers of later ones are renumbered. Calls that
// agree in all this share one function.
//
// Refuses: functions marked `_nospecialize` or with a gradient of their own; calls that are fed or
// for XLA, or that pass another number of arguments; lists as arguments or results.
#include "lib/function/function_rewriter.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/pass/library.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The constant inputs of a call and the results that are read.
struct Context {
  std::vector<NodeId> constants;  // by argument; kNoNode: not a constant
  llvm::BitVector read;           // by result
  bool is_fetched = false;        // then all results stay

  bool KeepsArg(size_t arg) const { return constants[arg] == kNoNode; }
  bool KeepsResult(size_t result) const { return is_fetched || read[result]; }
};

// Field numbers of FunctionDef.
enum { kAttrs = 5, kArgAttrs = 7 };

class Copier {
 public:
  Copier(Editor& edit, const Call& call, const Context& context)
      : edit_(edit), call_(call), context_(context), from_(*call.function) {}

  // Makes a copy of the function with that name; an error if the call does not provide everything
  // that the body needs.
  Expected<Function*> Make(llvm::StringRef name) {
    std::vector<CallAttrs> attrs(from_.body.end_id());
    for (Node node : from_.body.nodes()) {
      ASSIGN_OR_RETURN(CallAttrs filled, DependentAttrs(node, call_));
      attrs[node.id()] = std::move(filled);
    }
    to_ = edit_.AddFunction(name);
    to_->changed = true;
    CopyArgs();
    for (Node node : from_.body.nodes()) {
      if (node.op() == "_Arg" || node.op() == "_Retval") continue;
      NodeId copy = to_->body.AddNode(node.name(), node.op(), node.device());
      to_->body.CopyAttrs(copy, node);
      for (const auto& [key, value] : attrs[node.id()]) to_->body.SetAttr(copy, key, value);
      copies_[node.id()] = copy;
    }
    for (Node node : from_.body.nodes()) {
      if (node.op() == "_Arg" || node.op() == "_Retval") continue;
      llvm::SmallVector<Port, 8> ports;
      for (Port port : node.inputs()) ports.push_back({copies_.lookup(port.node), port.index});
      to_->body.SetInputs(copies_.lookup(node.id()), ports);
    }
    CopyResults();
    for (const auto& result : from_.control_results)
      to_->control_results.emplace_back(result.first, copies_.lookup(result.second));
    for (const auto& [port, output] : from_.unknown_outputs)
      to_->unknown_outputs[{copies_.lookup(port.first), port.second}] = output;
    CopySignature(name);
    CopyFunctionAttrs();
    return to_;
  }

 private:
  void CopyArgs() {
    for (size_t i = 0; i < from_.args.size(); ++i) {
      Node arg = from_.body.node(from_.args[i]);
      NodeId copy;
      if (context_.KeepsArg(i)) {
        copy = to_->body.AddNode(arg.name(), "_Arg", arg.device());
        to_->body.SetAttr(copy, "T", attr::Type(TypeOf(from_.info.inputs[i])));
        to_->body.SetAttr(copy, "index", attr::Int(to_->args.size()));
        to_->args.push_back(copy);
      } else {
        copy = to_->body.AddNode(arg.name(), "Const");
        to_->body.CopyAttrs(copy, edit_.graph().node(context_.constants[i]));
      }
      copies_[arg.id()] = copy;
    }
  }

  void CopyResults() {
    for (size_t i = 0; i < from_.results.size(); ++i) {
      if (!context_.KeepsResult(i)) continue;
      Node result = from_.body.node(from_.results[i].node);
      NodeId copy = to_->body.AddNode(to_->body.UniqueName(result.name()), "_Retval");
      to_->body.SetAttr(copy, "T", attr::Type(TypeOf(from_.info.outputs[i])));
      to_->body.SetAttr(copy, "index", attr::Int(to_->results.size()));
      Port port = result.input(0);
      to_->body.AddInput(copy, {copies_.lookup(port.node), port.index});
      to_->results.push_back({from_.results[i].name, copy});
    }
  }

  DataType TypeOf(const OpArg& arg) const {
    if (arg.type_attr.empty()) return arg.type;
    auto it = call_.attrs.find(arg.type_attr);
    if (it != call_.attrs.end()) return AttrView(it->second).AsType().value_or(proto::DT_INVALID);
    const OpAttr* declared = from_.info.FindAttr(arg.type_attr);
    if (!declared || !declared->default_value) return proto::DT_INVALID;
    return AttrView(*declared->default_value).AsType().value_or(proto::DT_INVALID);
  }

  void CopySignature(llvm::StringRef name) {
    proto::OpDef old, op_def;
    old.ParseFromString(from_.signature);
    op_def.set_name(name.str());
    op_def.set_description(old.description());
    op_def.set_is_stateful(old.is_stateful());
    auto add = [&](const OpArg& arg, proto::OpDef::ArgDef* def) {
      def->set_name(arg.name);
      def->set_type(TypeOf(arg));
      def->set_is_ref(arg.is_ref);
    };
    for (size_t i = 0; i < from_.info.inputs.size(); ++i) {
      if (context_.KeepsArg(i)) add(from_.info.inputs[i], op_def.add_input_arg());
    }
    for (size_t i = 0; i < from_.info.outputs.size(); ++i) {
      if (context_.KeepsResult(i)) add(from_.info.outputs[i], op_def.add_output_arg());
    }
    *op_def.mutable_control_output() = old.control_output();
    to_->signature = op_def.SerializeAsString();
    to_->info = OpInfoFromProto(op_def);
  }

  // Copies the attributes of the function, and those of its remaining arguments, which have new
  // numbers.
  void CopyFunctionAttrs() {
    std::vector<int> number(from_.args.size(), -1);
    int kept = 0;
    for (size_t i = 0; i < number.size(); ++i) {
      if (context_.KeepsArg(i)) number[i] = kept++;
    }
    std::string source;
    WireReader reader(from_.source);
    while (reader.Next()) {
      if (reader.Is(kAttrs, WireType::kBytes)) source += reader.whole_field();
      if (!reader.Is(kArgAttrs, WireType::kBytes)) continue;
      uint64_t arg = 0;
      llvm::StringRef value;
      WireReader entry(reader.bytes());
      while (entry.Next()) {
        if (entry.Is(1, WireType::kVarint)) arg = entry.number();
        if (entry.Is(2, WireType::kBytes)) value = entry.bytes();
      }
      if (arg >= number.size() || number[arg] < 0) continue;
      std::string renumbered;
      AppendVarintField(&renumbered, 1, number[arg]);
      AppendBytesField(&renumbered, 2, value);
      AppendBytesField(&source, kArgAttrs, renumbered);
    }
    to_->source = edit_.module().Keep(source);
    SetFunctionAttr(to_, "_GrapplerSpecializedFunc", attr::Bool(true));
    CopyInputShapes();
  }

  // Copies `_input_shapes` for the remaining arguments; drops the attribute unless it has one shape
  // for each argument.
  void CopyInputShapes() {
    std::optional<AttrView> attr = FunctionAttr(from_, kInputShapes);
    auto shapes = attr ? attr->AsShapes() : std::nullopt;
    std::vector<Shape> kept;
    for (size_t i = 0; shapes && i < shapes->size() && i < from_.args.size(); ++i) {
      if (context_.KeepsArg(i)) kept.push_back((*shapes)[i]);
    }
    if (shapes && shapes->size() == from_.args.size()) {
      SetFunctionAttr(to_, kInputShapes, attr::Shapes(kept));
    } else {
      RemoveFunctionAttr(to_, kInputShapes);
    }
  }

  Editor& edit_;
  const Call& call_;
  const Context& context_;
  const Function& from_;
  Function* to_ = nullptr;
  llvm::DenseMap<NodeId, NodeId> copies_;
};

class Specializer {
 public:
  explicit Specializer(FunctionRewriter& rule) : rule_(rule), edit_(rule.edit) {}

  void Look(const Node& node) {
    Call call = CallOf(node);
    if (!call.function || IsRefused(node, *call.function)) return;
    Context context = ContextOf(node, *call.function);
    if (!IsWorthIt(node, *call.function, context) || !rule_.BeginAt(node)) return;
    Specialize(node, call, context);
    rule_.End();
  }

 private:
  bool IsRefused(const Node& node, const Function& function) {
    auto refuse = [&](const auto&... arguments) {
      rule_.RefuseAt(node, arguments...);
      return true;
    };
    auto is_list = [](const OpArg& arg) {
      return !arg.number_attr.empty() || !arg.type_list_attr.empty();
    };
    if (llvm::any_of(function.info.inputs, is_list) || llvm::any_of(function.info.outputs, is_list))
      return refuse("'{0}' has a list as argument or result", function.name());
    if (node.num_inputs() != static_cast<int>(function.args.size()))
      return refuse("'{0}' takes {1} arguments, the call gives {2}", function.name(),
                    function.args.size(), node.num_inputs());
    if (edit_.IsFed(node)) return refuse("'{0}' is fed\nfeed another node", node.name());
    if (FunctionFlag(function, "_nospecialize"))
      return refuse("'{0}' is marked _nospecialize\nremove the mark", function.name());
    if (!CustomGradientOf(rule_.module, function.name()).empty())
      return refuse("'{0}' has a gradient of its own", function.name());
    llvm::StringRef mark = rule_.XlaMark(node);
    return !mark.empty() &&
           refuse("'{0}' is marked for XLA ({1})\nremove the mark: jit_compile=False", node.name(),
                  mark);
  }

  Context ContextOf(const Node& node, const Function& function) {
    Context context;
    context.is_fetched = edit_.IsFetched(node);
    context.read.resize(function.results.size());
    // The rule knows that the call is fetched, but not which of its results. It counts the first as
    // read, since that is what TensorFlow fetches for a node's name.
    if (context.is_fetched && context.read.size() > 0) context.read.set(0);
    for (const Use& use : node.uses()) {
      Port read = rule_.graph.node(use.node).input(use.slot);
      if (!read.IsControl() && read.index < static_cast<int>(context.read.size()))
        context.read.set(read.index);
    }
    for (int i = 0; i < node.num_inputs(); ++i) {
      Node input = node.input_node(i);
      bool is_constant = input && input.op() == "Const" && !edit_.IsFed(input);
      context.constants.push_back(is_constant ? input.id() : kNoNode);
    }
    return context;
  }

  bool IsWorthIt(const Node& node, const Function& function, const Context& context) {
    if (!context.read.all() || IsParametrized(function)) return true;
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) continue;
      Node input = rule_.graph.node(port.node);
      if (input.op() == "Const" && !edit_.IsFed(input)) return true;
    }
    return false;
  }

  // Returns a key that is equal for calls that can share one function.
  std::string KeyOf(const Call& call, const Context& context) {
    std::string key;
    llvm::raw_string_ostream os(key);
    os << call.function->name() << (context.is_fetched ? " fetched" : "");
    for (int result : context.read.set_bits()) os << " " << result;
    for (NodeId constant : context.constants) os << "," << static_cast<int64_t>(constant);
    for (const OpAttr& attr : call.function->info.attrs) {
      auto it = call.attrs.find(attr.name);
      if (it != call.attrs.end()) os << " " << attr.name << "=" << it->second.size() << it->second;
    }
    return key;
  }

  void Specialize(const Node& node, const Call& call, const Context& context) {
    Function*& function = made_[KeyOf(call, context)];
    if (!function) {
      std::string caller = node.name().str();
      std::replace(caller.begin(), caller.end(), '/', '_');
      std::string name = llvm::formatv("{0}_specialized_for_{1}_at_{2}", call.function->name(),
                                       caller, edit_.id());
      if (rule_.module.FindFunction(name)) {
        rule_.RefuseAt(node, "function '{0}' already exists", name);
        return;
      }
      auto copy = Copier(edit_, call, context).Make(name);
      if (!copy) {
        rule_.RefuseAt(node, "{0}", TextOf(copy.takeError()));
        return;
      }
      function = *copy;
    }
    UpdateCall(node, call, context, *function);
  }

  void UpdateCall(const Node& node, const Call& call, const Context& context,
                  const Function& function) {
    if (call.direct) {
      edit_.SetOp(node, function.name());
    } else {
      proto::AttrValue f;
      std::optional<AttrView> old = node.FindAttr("f");
      f.ParseFromArray(old->bytes().data(), old->bytes().size());
      f.mutable_func()->set_name(function.name().str());
      edit_.SetAttr(node, "f", f.SerializeAsString());
      SetTypes(node, "Tin", function.info.inputs);
      SetTypes(node, "Tout", function.info.outputs);
    }
    edit_.RemoveAttr(node, "_gradient_op_type");
    llvm::SmallVector<Port, 8> inputs;
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (context.KeepsArg(i)) inputs.push_back(node.input(i));
    }
    for (int i = 0; i < node.num_controls(); ++i)
      inputs.push_back({node.control(i).id(), kControlPort});
    if (inputs.size() != node.inputs().size()) edit_.SetInputs(node, inputs);
    for (NodeId constant : context.constants) {
      if (constant == kNoNode) continue;
      edit_.Used(rule_.graph.node(constant));
      Node input = rule_.graph.node(constant);
      for (int i = 0; i < input.num_controls(); ++i) {
        bool has_it = llvm::any_of(node.inputs(),
                                   [&](Port port) { return port.node == input.control(i).id(); });
        if (!has_it) edit_.AddControl(node, input.control(i));
      }
    }
    RenumberReaders(node, context);
  }

  void SetTypes(const Node& node, const char* key, llvm::ArrayRef<OpArg> args) {
    std::vector<DataType> types;
    for (const OpArg& arg : args) types.push_back(arg.type);
    edit_.SetAttr(node, key, attr::Types(types));
  }

  void RenumberReaders(const Node& node, const Context& context) {
    if (context.is_fetched) return;
    std::vector<int> number(context.read.size());
    int kept = 0;
    for (size_t i = 0; i < number.size(); ++i) number[i] = context.read[i] ? kept++ : -1;
    llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
    for (const Use& use : uses) {
      Node reader = rule_.graph.node(use.node);
      Port read = reader.input(use.slot);
      if (!read.IsControl()) edit_.SetInput(reader, use.slot, {node.id(), number[read.index]});
    }
  }

  FunctionRewriter& rule_;
  Editor& edit_;
  std::map<std::string, Function*> made_;
};

// A rule of the whole body, because equal calls share the function that is made for the first.
Verdict SpecializeCalls(FunctionRewriter& rule) {
  Specializer specializer(rule);
  for (NodeId id : rule.nodes) {
    if (!rule.stopped) specializer.Look(rule.graph.node(id));
  }
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "function_optimizer",
     .phase = FunctionRewriter::kWholeBody,
     .after = kFirst,
     .name = "specialize_call",
     .ops = {},
     .help = "gives a call a function of its own: with its dtypes, its constants inside, and "
             "without unread results",
     .refuses =
         "functions marked _nospecialize or with a gradient of their own; calls that are fed or "
         "for XLA, or pass another number of arguments; lists as arguments or results",
     .apply = SpecializeCalls});

}  // namespace
}  // namespace grapnel
