#include "lib/pass/cut.h"

#include "lib/ir/tensor_name.h"
#include "lib/ir/verify.h"
#include "lib/pass/library.h"
#include "lib/shape/inference.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

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
    DropColocations();
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
      input.dtype = shapes.TypeOf(port);
      input.shape = shapes.OfPort(port);
      llvm::StringRef op = graph_.node(port.node).op();
      if (input.dtype == proto::DT_INVALID)
        return MakeError("input '{0}': its dtype is not known (op '{1}')", input.tensor, op);
      if (IsRefType(input.dtype))
        return MakeError(
            "input '{0}': is a reference to a variable (op '{1}'), for which no value "
            "can be given",
            input.tensor, op);
      result_.inputs.push_back(std::move(input));
    }
    return Error::success();
  }

  // Backwards from the outputs, and not past what is given.
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

  // What waits for a node whose outputs are given waits for the first of them.
  template <typename Need>
  void NeedControl(Node from, Need need) {
    auto given = llvm::find_if(inputs_, [&](Port port) { return port.node == from.id(); });
    need(given == inputs_.end() ? Port{from.id(), kControlPort} : *given);
  }

  // Output 0 last: it takes the node's name in the end, and no number from the others.
  void MakePlaceholders() {
    placeholders_.assign(inputs_.size(), kNoNode);
    for (bool first_output : {false, true})
      for (size_t i = 0; i < inputs_.size(); ++i)
        if (needed_[i] && (inputs_[i].index == 0) == first_output) MakePlaceholder(i);
  }

  void MakePlaceholder(size_t i) {
    Node source = graph_.node(inputs_[i].node);
    std::string name = source.name().str();
    if (inputs_[i].index != 0) name += "_" + std::to_string(inputs_[i].index);
    NodeId id = graph_.AddNode(graph_.UniqueName(name), "Placeholder", source.device());
    graph_.SetAttr(id, "dtype", attr::Type(result_.inputs[i].dtype));
    graph_.SetAttr(id, "shape", attr::ShapeOf(result_.inputs[i].shape));
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

  void DropColocations() {
    for (Node node : graph_.nodes()) {
      auto attr = node.FindAttr("_class");
      auto places = attr ? attr->AsStrings() : std::nullopt;
      if (!places) continue;
      std::vector<std::string> left;
      for (llvm::StringRef place : *places)
        if (!HasPrefix(place, "loc:@") || graph_.Find(place.drop_front(5)))
          left.push_back(place.str());
      if (left.size() == places->size()) continue;
      if (left.empty()) {
        graph_.RemoveAttr(node.id(), "_class");
      } else {
        std::vector<llvm::StringRef> views(left.begin(), left.end());
        graph_.SetAttr(node.id(), "_class", attr::Strings(views));
      }
    }
  }

  // A value from outside of a loop comes into it through an Enter only.
  Error CheckLoops() {
    for (const Problem& problem : VerifyModule(module_))
      if (problem.severity == Severity::kError)
        return MakeError("the part is no valid graph: {0}", problem.ToString());
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
        return MakeError("an input is within a loop of which '{0}' ({1}) is needed too",
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

}  // namespace

Expected<CutResult> CutGraph(Module* module, llvm::ArrayRef<Port> inputs,
                             llvm::ArrayRef<Port> outputs) {
  return Cut(module, inputs, outputs).Run();
}

}  // namespace grapnel
