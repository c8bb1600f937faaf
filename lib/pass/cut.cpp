#include "lib/pass/cut.h"

#include <map>
#include <set>

#include "lib/ir/import.h"
#include "lib/ir/node_types.h"
#include "lib/ir/tensor_name.h"
#include "lib/ir/verify.h"
#include "lib/pass/library.h"
#include "lib/proto/graph.pb.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Sets dtype and shape of the tensor that a Placeholder replaces.
Error Describe(const ShapeMap& shapes, Port port, llvm::StringRef op, CutInput* input) {
  input->dtype = shapes.TypeOf(port);
  input->shape = shapes.OfPort(port);
  if (input->dtype == proto::DT_INVALID)
    return MakeError("input '{0}': unknown dtype (op '{1}')", input->tensor, op);
  if (IsRefType(input->dtype))
    return MakeError("input '{0}' (op '{1}') is a reference to a variable, which cannot be fed",
                     input->tensor, op);
  return Error::success();
}

std::string PlaceholderName(const Node& source, int port) {
  return port == 0 ? source.name().str() : source.name().str() + "_" + std::to_string(port);
}

NodeId AddPlaceholder(Graph& graph, llvm::StringRef name, llvm::StringRef device,
                      const CutInput& input) {
  NodeId id = graph.AddNode(name, "Placeholder", device);
  graph.SetAttr(id, "dtype", attr::Type(input.dtype));
  graph.SetAttr(id, "shape", attr::ShapeOf(input.shape));
  return id;
}

// Drops requests to share a device with nodes that are gone.
void DropColocations(Graph& graph) {
  for (Node node : graph.nodes()) {
    auto attr = node.FindAttr("_class");
    auto places = attr ? attr->AsStrings() : std::nullopt;
    if (!places) continue;
    std::vector<std::string> left;
    for (llvm::StringRef place : *places)
      if (!HasPrefix(place, "loc:@") || graph.Find(place.drop_front(5)))
        left.push_back(place.str());
    if (left.size() == places->size()) continue;
    if (left.empty()) {
      graph.RemoveAttr(node.id(), "_class");
    } else {
      std::vector<llvm::StringRef> views(left.begin(), left.end());
      graph.SetAttr(node.id(), "_class", attr::Strings(views));
    }
  }
}

class Cut {
 public:
  Cut(Module* module, llvm::ArrayRef<Port> inputs, llvm::ArrayRef<Port> outputs)
      : module_(*module), graph_(module->main), inputs_(inputs), outputs_(outputs) {}

  Expected<CutResult> Run() {
    result_.nodes_before = graph_.num_nodes();
    RETURN_IF_ERROR(DescribeInputs());
    Mark();
    MakePlaceholders();
    Redirect();
    RemoveOthers();
    TakeNames();
    DropColocations(graph_);
    result_.functions = DropUnreachableFunctions(module_);
    RETURN_IF_ERROR(CheckLoops());
    return std::move(result_);
  }

 private:
  std::string NameOf(Port port) const {
    return OutputName(graph_.node(port.node).name(), port.index);
  }
  bool IsCut(Port port) const { return llvm::is_contained(inputs_, port); }
  bool IsKept(NodeId id) const { return id < kept_.size() && kept_[id]; }

  Error DescribeInputs() {
    ShapeMap shapes = InferShapes(graph_);
    for (Port port : inputs_) {
      CutInput input;
      input.tensor = NameOf(port);
      RETURN_IF_ERROR(Describe(shapes, port, graph_.node(port.node).op(), &input));
      result_.inputs.push_back(std::move(input));
    }
    return Error::success();
  }

  // Marks the nodes that the outputs need: walks backwards from the outputs and stops at the
  // tensors in `inputs_`.
  void Mark() {
    kept_.assign(graph_.end_id(), false);
    needed_.assign(inputs_.size(), false);
    std::vector<NodeId> work;
    auto need = [&](Port port) {
      if (IsCut(port)) {
        needed_[llvm::find(inputs_, port) - inputs_.begin()] = true;
      } else if (!kept_[port.node]) {
        kept_[port.node] = true;
        work.push_back(port.node);
      }
    };
    for (Port port : outputs_) need(port);
    while (!work.empty()) {
      Node node = graph_.node(work.back());
      work.pop_back();
      for (int i = 0; i < node.num_inputs(); ++i)
        if (node.input_node(i)) need(node.input(i));
      for (int i = 0; i < node.num_controls(); ++i) NeedControl(node.control(i), need);
    }
  }

  // Marks what a control edge from `from` needs. If outputs of `from` are in `inputs_`, that is the
  // first of these tensors, and otherwise `from` itself.
  template <typename Need>
  void NeedControl(Node from, Need need) {
    auto given = llvm::find_if(inputs_, [&](Port port) { return port.node == from.id(); });
    need(given == inputs_.end() ? Port{from.id(), kControlPort} : *given);
  }

  // Makes the Placeholders of outputs 0 last, so that their temporary names (the nodes still have
  // theirs) do not take a name such as "x_1" from the others. TakeNames() renames them.
  void MakePlaceholders() {
    placeholders_.assign(inputs_.size(), kNoNode);
    for (bool first_output : {false, true})
      for (size_t i = 0; i < inputs_.size(); ++i)
        if (needed_[i] && (inputs_[i].index == 0) == first_output) MakePlaceholder(i);
  }

  void MakePlaceholder(size_t i) {
    Node source = graph_.node(inputs_[i].node);
    std::string name = graph_.UniqueName(PlaceholderName(source, inputs_[i].index));
    NodeId id = AddPlaceholder(graph_, name, source.device(), result_.inputs[i]);
    placeholders_[i] = id;
    result_.inputs[i].placeholder = graph_.node(id).name().str();
  }

  void Redirect() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (placeholders_[i] == kNoNode) continue;
      Node source = graph_.node(inputs_[i].node);
      for (const Use& use : source.UsesOf(inputs_[i].index))
        if (IsKept(use.node))
          graph_.SetInput(use.node, static_cast<int>(use.slot), {placeholders_[i], 0});
      if (IsKept(source.id())) continue;
      for (const Use& use : source.UsesOf(kControlPort)) {
        if (!IsKept(use.node)) continue;
        graph_.RemoveControl(use.node, source.id());
        graph_.AddControl(use.node, placeholders_[i]);
      }
    }
  }

  void RemoveOthers() {
    std::vector<NodeId> gone;
    for (Node node : graph_.nodes())
      if (!IsKept(node.id()) && !llvm::is_contained(placeholders_, node.id()))
        gone.push_back(node.id());
    for (NodeId id : gone) graph_.SetInputs(id, {});
    for (NodeId id : gone) graph_.RemoveNode(id);
  }

  void TakeNames() {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (placeholders_[i] == kNoNode || inputs_[i].index != 0) continue;
      llvm::StringRef name = ReadTensorName(result_.inputs[i].tensor).node;
      if (graph_.Find(name)) continue;
      graph_.Rename(placeholders_[i], name);
      result_.inputs[i].placeholder = name.str();
    }
  }

  // Verifies the module, and checks that no Placeholder feeds a loop of Switch and Merge nodes
  // except through an Enter, as TensorFlow requires of a value from outside the loop.
  Error CheckLoops() {
    for (const Problem& problem : VerifyModule(module_))
      if (problem.severity == Severity::kError)
        return MakeError("the part is not a valid graph: {0}", problem.ToString());
    std::vector<NodeId> work;
    std::vector<bool> reached(graph_.end_id());
    for (NodeId id : placeholders_)
      if (id != kNoNode) work.push_back(id);
    while (!work.empty()) {
      Node node = graph_.node(work.back());
      work.pop_back();
      llvm::StringRef op = node.op();
      if (op == "NextIteration" || op == "RefNextIteration" || op == "Exit" || op == "RefExit" ||
          op == "LoopCond")
        return MakeError(
            "an input is inside a loop, and the part also needs '{0}' ({1}) of that loop",
            node.name(), op);
      if (op == "Enter" || op == "RefEnter") continue;
      for (const Use& use : node.uses()) {
        if (reached[use.node]) continue;
        reached[use.node] = true;
        work.push_back(use.node);
      }
    }
    return Error::success();
  }

  Module& module_;
  Graph& graph_;
  llvm::ArrayRef<Port> inputs_, outputs_;
  CutResult result_;
  std::vector<bool> kept_, needed_;   // by node; by input
  std::vector<NodeId> placeholders_;  // by input
};

class Extraction {
 public:
  Extraction(const Graph& body, const ShapeMap& shapes, llvm::ArrayRef<NodeId> ids,
             const StandIns& stand_ins, llvm::ArrayRef<Port> wanted)
      : body_(body), shapes_(shapes), stand_ins_(stand_ins), wanted_(wanted) {
    result_.module = std::make_unique<Module>();
    chosen_.assign(body.end_id(), false);
    for (NodeId id : ids) chosen_[id] = !IsArgument(id) && body.node(id).op() != "_Retval";
    copies_.assign(body.end_id(), kNoNode);
  }

  Expected<ExtractedNodes> Run() && {
    RETURN_IF_ERROR(CopyLibrary());
    result_.module->versions = body_.module().versions;
    result_.module->has_versions = body_.module().has_versions;
    // Copies the chosen nodes first, so that they keep their names and Placeholders get names that
    // are still free.
    for (Node node : body_.nodes())
      if (chosen_[node.id()]) copies_[node.id()] = Copy(node, node.name());
    for (Node node : body_.nodes()) {
      if (!chosen_[node.id()]) continue;
      RETURN_IF_ERROR(Connect(node));
      ListFetches(node);
    }
    for (Port port : wanted_) {
      ASSIGN_OR_RETURN(Port source, SourceOf(port));
      result_.wanted.push_back(source);
    }
    DropColocations(graph());
    return std::move(result_);
  }

 private:
  Graph& graph() { return result_.module->main; }
  bool IsArgument(NodeId id) const { return body_.node(id).op() == "_Arg"; }

  Error CopyLibrary() {
    FunctionSet called;
    for (Node node : body_.nodes()) {
      if (!chosen_[node.id()] || !MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        if (const Function* function = body_.module().FindFunction(name))
          AddReachable(*function, &called);
      }
    }
    if (called.empty()) return Error::success();
    proto::GraphDef library;
    for (const auto& function : body_.module().functions) {
      if (called.contains(function.get()) &&
          !library.mutable_library()->add_function()->ParseFromString(ExportFunctionDef(*function)))
        return MakeError("function '{0}' cannot be copied", function->name());
    }
    auto file = FileBytes::FromString(library.SerializeAsString(), "library");
    ASSIGN_OR_RETURN(result_.module, ImportGraphDef(file, file->bytes()));
    return Error::success();
  }

  NodeId Copy(const Node& node, llvm::StringRef name) {
    StringTable& strings = result_.module->strings;
    if (node.graph().HasAttrsOfSource(
            node.id())) {  // constants may be large: their bytes are not copied
      return graph().AddImported(strings.Intern(name), strings.Intern(node.op()),
                                 strings.Intern(node.device()), node.graph().Source(node.id()));
    }
    NodeId id = graph().AddNode(name, node.op(), node.device());
    node.ForEachAttr(
        [&](llvm::StringRef key, AttrView value) { graph().SetAttr(id, key, value.bytes()); });
    return id;
  }

  Error Connect(const Node& node) {
    NodeId copy = copies_[node.id()];
    for (int slot = 0; slot < node.num_inputs(); ++slot) {
      Port port = node.input(slot);
      if (port.node == kNoNode) {
        graph().AddImportedInput(copy, port, result_.module->Keep(node.DanglingText(slot)), false);
        continue;
      }
      ASSIGN_OR_RETURN(Port source, SourceOf(port));
      graph().AddInput(copy, source);
    }
    for (int i = 0; i < node.num_controls(); ++i) {
      Node from = node.control(i);
      if (from && chosen_[from.id()]) graph().AddControl(copy, copies_[from.id()]);
    }
    return Error::success();
  }

  // Returns the port that copies read in place of `port`; adds a Placeholder for it if necessary.
  Expected<Port> SourceOf(Port port) {
    if (copies_[port.node] != kNoNode) return Port{copies_[port.node], port.index};
    Node source = body_.node(port.node);
    if (auto found = stand_ins_.find(port); found != stand_ins_.end())
      return StandIn(found->second.first, found->second.second);
    if (source.num_inputs() == 0 && !IsArgument(source.id()) && !graph().Find(source.name()))
      return Port{copies_[source.id()] = Copy(source, source.name()), port.index};
    auto [it, fresh] = placeholders_.try_emplace({port.node, port.index}, kNoNode);
    if (!fresh) return Port{it->second, 0};
    CutInput input;
    input.tensor = OutputName(source.name(), port.index);
    RETURN_IF_ERROR(Describe(shapes_, port, source.op(), &input));
    std::string name = graph().UniqueName(PlaceholderName(source, port.index));
    it->second = AddPlaceholder(graph(), name, source.device(), input);
    input.placeholder = std::move(name);
    result_.inputs.push_back(std::move(input));
    return Port{it->second, 0};
  }

  // Returns output `index` of the copy of `node`. A node is copied only once, even if it replaces
  // several arguments.
  Port StandIn(const Node& node, int32_t index) {
    auto [it, fresh] = stood_in_.try_emplace({&node.graph(), node.id()}, kNoNode);
    if (fresh) it->second = Copy(node, graph().UniqueName(node.name()));
    return Port{it->second, index};
  }

  void ListFetches(const Node& node) {
    std::set<int> ports;
    for (const Use& use : node.uses()) {
      Port port = body_.node(use.node).input(static_cast<int>(use.slot));
      if (!port.IsControl() && !chosen_[use.node]) ports.insert(port.index);
    }
    for (int port : ports)
      result_.fetches.push_back(port == 0 ? node.name().str() : OutputName(node.name(), port));
  }

  const Graph& body_;
  const ShapeMap& shapes_;
  const StandIns& stand_ins_;
  llvm::ArrayRef<Port> wanted_;
  ExtractedNodes result_;
  std::vector<bool> chosen_;    // by id in the body
  std::vector<NodeId> copies_;  // by id in the body; kNoNode: not copied
  std::map<std::pair<NodeId, int>, NodeId> placeholders_;
  std::map<std::pair<const Graph*, NodeId>, NodeId> stood_in_;
};

}  // namespace

Expected<ExtractedNodes> ExtractNodes(const Graph& body, const ShapeMap& shapes,
                                      llvm::ArrayRef<NodeId> ids, const StandIns& stand_ins,
                                      llvm::ArrayRef<Port> wanted) {
  return Extraction(body, shapes, ids, stand_ins, wanted).Run();
}

Expected<CutResult> CutGraph(Module* module, llvm::ArrayRef<Port> inputs,
                             llvm::ArrayRef<Port> outputs) {
  return Cut(module, inputs, outputs).Run();
}

}  // namespace grapnel
