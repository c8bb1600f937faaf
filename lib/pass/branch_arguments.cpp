#include "lib/pass/branch_arguments.h"

#include "lib/ir/node_types.h"
#include "lib/pass/library.h"
#include "lib/proto/op_def.pb.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

using RanksOf = llvm::function_ref<llvm::ArrayRef<uint32_t>(const Function&)>;

bool IsConditional(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase";
}

proto::AttrValue ParseAttr(const Node& node, const char* key) {
  proto::AttrValue value;
  if (auto attr = node.FindAttr(key))
    value.ParseFromArray(attr->bytes().data(), static_cast<int>(attr->bytes().size()));
  return value;
}

// Reads and writes the attributes that name the branch functions of an If or a Case.
class Branches {
 public:
  explicit Branches(const Node& node) : is_case_(node.op().ends_with("Case")) {
    for (const char* key : Keys()) values_.push_back(ParseAttr(node, key));
    if (is_case_) {
      for (auto& func : *values_[0].mutable_list()->mutable_func()) names_.push_back(&func);
    } else {
      for (proto::AttrValue& value : values_) names_.push_back(value.mutable_func());
    }
  }
  size_t size() const { return names_.size(); }
  const std::string& name(size_t i) const { return names_[i]->name(); }
  void SetName(size_t i, const std::string& name) { names_[i]->set_name(name); }
  void WriteTo(Editor& edit, const Node& node) const {
    for (size_t i = 0; i < values_.size(); ++i)
      edit.SetAttr(node, Keys()[i], values_[i].SerializeAsString());
  }

 private:
  llvm::ArrayRef<const char*> Keys() const {
    static constexpr const char* kIf[] = {"then_branch", "else_branch"};
    static constexpr const char* kCase[] = {"branches"};
    return is_case_ ? llvm::ArrayRef<const char*>(kCase) : llvm::ArrayRef<const char*>(kIf);
  }
  bool is_case_;
  std::vector<proto::AttrValue> values_;
  std::vector<proto::NameAttrList*> names_;  // point into values_
};

class Orderer {
 public:
  Orderer(Editor& edit, const Node& node, RanksOf ranks_of)
      : edit_(edit), node_(node), ranks_of_(ranks_of), branches_(node) {}

  void Run() {
    for (size_t i = 0; i < branches_.size(); ++i) {
      const Function* function = edit_.module().FindFunction(branches_.name(i));
      if (!function || !TakesAll(*function)) return;
      functions_.push_back(function);
    }
    if (functions_.empty()) return;
    for (const Function* function : functions_) FindRead(*function);
    llvm::SmallVector<Port, 4> inputs_and_controls = node_.inputs();
    auto given = llvm::ArrayRef(inputs_and_controls).slice(1, node_.num_inputs() - 1);
    if (given == llvm::ArrayRef(read_)) return;
    if (!edit_.Begin("order_branch_arguments", node_)) return;
    for (size_t i = 0; i < functions_.size(); ++i)
      branches_.SetName(i, MakeFunction(*functions_[i], i));
    branches_.WriteTo(edit_, node_);
    std::vector<Port> inputs = {node_.input(0)};
    std::vector<DataType> types;
    for (Port port : read_) {
      inputs.push_back(port);
      types.push_back(TypeOf(port));
    }
    for (int i = 0; i < node_.num_controls(); ++i)
      inputs.push_back({node_.control(i).id(), kControlPort});
    edit_.SetAttr(node_, "Tin", attr::Types(types));
    edit_.SetInputs(node_, inputs);
    edit_.End();
  }

 private:
  // True if the function has one argument, of a fixed dtype, for each input of the node after the
  // condition or the branch index.
  bool TakesAll(const Function& function) const {
    auto is_list = [](const OpArg& arg) {
      return !arg.number_attr.empty() || !arg.type_list_attr.empty() || !arg.type_attr.empty();
    };
    return static_cast<int>(function.args.size()) + 1 == node_.num_inputs() &&
           llvm::none_of(function.info.inputs, is_list);
  }

  // Returns the tensor outside the branch that the argument at `port` stands for; nullopt if `port`
  // is not an argument. For a control edge from an argument, that is output 0 of the node that
  // produces the argument: TensorFlow passes the control edge into the branch as a read of this
  // tensor.
  std::optional<Port> OutsideOf(const Function& function, Port port) const {
    auto arg = llvm::find(function.args, port.node);
    if (arg == function.args.end()) return std::nullopt;
    Port outside = node_.input(static_cast<int>(arg - function.args.begin()) + 1);
    return port.IsControl() ? Port{outside.node, 0} : outside;
  }

  std::vector<NodeId> InOrder(const Function& function) const {
    std::vector<NodeId> order;
    for (Node node : function.body.nodes()) {
      if (node.op() != "_Arg" && node.op() != "_Retval") order.push_back(node.id());
    }
    llvm::ArrayRef<uint32_t> ranks = ranks_of_(function);
    auto rank = [&](NodeId id) { return id < ranks.size() ? ranks[id] : ~0u; };
    llvm::stable_sort(order, [&](NodeId a, NodeId b) { return rank(a) < rank(b); });
    return order;
  }

  void FindRead(const Function& function) {
    auto read = [&](Port port) {
      std::optional<Port> outside = OutsideOf(function, port);
      if (outside && !llvm::is_contained(read_, *outside)) read_.push_back(*outside);
    };
    for (NodeId id : InOrder(function)) llvm::for_each(function.body.node(id).inputs(), read);
    for (const Function::Result& result : function.results)
      llvm::for_each(function.body.node(result.node).inputs(), read);
  }

  DataType TypeOf(Port port) const {
    for (int i = 1; i < node_.num_inputs(); ++i)
      if (node_.input(i) == port) return functions_[0]->info.inputs[i - 1].type;
    return BaseType(edit_.TypeOf(port));
  }

  // The name of the argument that passes `port` to a branch, such as "scope/add_tfg_result_0"; for
  // an _Arg of the calling body, the name of the _Arg.
  std::string ArgumentName(Port port) const {
    std::string name = edit_.graph().node(port.node).name().str();
    bool is_argument = edit_.graph().node(port.node).op() == "_Arg";
    return is_argument ? name : name + "_tfg_result_" + std::to_string(port.index);
  }

  std::string MakeFunction(const Function& from, size_t number) {
    std::string caller = node_.name().str();
    std::replace(caller.begin(), caller.end(), '/', '_');
    std::string base = (from.name() + "_tfg_region_specialized_" + caller + "_").str();
    std::string name = base + std::to_string(number);
    for (int i = 0; edit_.module().FindFunction(name); ++i)
      name = base + std::to_string(number) + "_" + std::to_string(i);
    Function* to = edit_.AddFunction(name);
    to->changed = true;
    to->source = from.source;
    DropArgumentNotes(to);
    llvm::DenseMap<NodeId, NodeId> copies;  // in the body of `to`
    std::vector<NodeId> args;               // by position in read_
    for (Port port : read_) {
      NodeId arg = to->body.AddNode(to->body.UniqueName(ArgumentName(port)), "_Arg");
      to->body.SetAttr(arg, "T", attr::Type(TypeOf(port)));
      to->body.SetAttr(arg, "index", attr::Int(to->args.size()));
      to->args.push_back(arg);
    }
    // Returns the argument of `to` for an argument of `from`; kNoNode if no branch reads it.
    auto copy_arg = [&](Port port) {
      std::optional<Port> outside = OutsideOf(from, port);
      auto place = llvm::find_if(read_, [&](Port other) {
        return port.IsControl() ? other.node == outside->node : other == *outside;
      });
      return place == read_.end() ? kNoNode : to->args[place - read_.begin()];
    };
    for (NodeId arg : from.args) {
      if (NodeId copy = copy_arg({arg, 0}); copy != kNoNode) copies[arg] = copy;
    }
    std::string suffix = ("_tfg_inlined_" + node_.name() + "_" + std::to_string(number)).str();
    std::vector<NodeId> order = InOrder(from);
    for (NodeId id : order) {
      Node node = from.body.node(id);
      copies[id] = to->body.AddNode((node.name() + suffix).str(), node.op(), node.device());
      to->body.CopyAttrs(copies[id], node);
    }
    for (NodeId id : order) {
      llvm::SmallVector<Port, 8> ports;
      for (Port port : from.body.node(id).inputs()) {
        bool waits_for_arg = port.IsControl() && llvm::is_contained(from.args, port.node);
        ports.push_back({waits_for_arg ? copy_arg(port) : copies.lookup(port.node), port.index});
      }
      to->body.SetInputs(copies.lookup(id), ports);
    }
    CopyResults(from, copies, to);
    return name;
  }

  void CopyResults(const Function& from, const llvm::DenseMap<NodeId, NodeId>& copies,
                   Function* to) const {
    for (const Function::Result& result : from.results) {
      Node node = from.body.node(result.node);
      NodeId copy = to->body.AddNode(to->body.UniqueName(node.name()), "_Retval");
      to->body.CopyAttrs(copy, node);
      Port port = node.input(0);
      to->body.AddInput(copy, {copies.lookup(port.node), port.index});
      to->results.push_back({result.name, copy});
    }
    for (const auto& [name, id] : from.control_results)
      to->control_results.emplace_back(name, copies.lookup(id));
    for (const auto& [port, output] : from.unknown_outputs)
      to->unknown_outputs[{copies.lookup(port.first), port.second}] = output;
    proto::OpDef op_def;
    op_def.ParseFromString(from.signature);
    op_def.set_name(to->name().str());
    op_def.clear_input_arg();
    for (size_t i = 0; i < read_.size(); ++i) {
      auto* arg = op_def.add_input_arg();
      arg->set_name(to->body.node(to->args[i]).name().str());
      arg->set_type(TypeOf(read_[i]));
    }
    to->signature = op_def.SerializeAsString();
    to->info = OpInfoFromProto(op_def);
  }

  Editor& edit_;
  Node node_;
  RanksOf ranks_of_;
  Branches branches_;
  std::vector<const Function*> functions_;
  std::vector<Port> read_;  // by the branches, in the order of the first reads
};

}  // namespace

void OrderBranchArguments(Editor& edit, RanksOf ranks_of) {
  for (NodeId id = 0, end = edit.graph().end_id(); id < end; ++id) {
    if (edit.graph().IsAlive(id) && IsConditional(edit.graph().node(id)))
      Orderer(edit, edit.graph().node(id), ranks_of).Run();
  }
}

}  // namespace grapnel
