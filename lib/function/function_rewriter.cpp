#include "lib/function/function_rewriter.h"

#include <deque>
#include <queue>

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns how many tensors an argument or result of the function has (a list has several); 0 if
// `callee` lacks the attribute that determines it.
int64_t TensorsOf(const OpArg& arg, const proto::NameAttrList& callee) {
  const std::string& key = arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr;
  if (key.empty()) return 1;
  auto attr = callee.attr().find(key);
  if (attr == callee.attr().end()) return 0;
  return arg.number_attr.empty() ? attr->second.list().type_size() : attr->second.i();
}

// Returns the nodes in the order of the ids that TensorFlow gives them: inputs first; among nodes
// whose inputs all have ids, the one with the lowest rank. Without `ranks`, in TopologicalOrder.
std::vector<NodeId> InputsFirst(const Graph& graph, llvm::ArrayRef<uint32_t> ranks) {
  if (ranks.empty()) return TopologicalOrder(graph);
  OpKinds kinds(graph.module());
  auto is_back_edge = [&](Node from, Node to) {
    return kinds.Is(from, kNextIterationOp) && kinds.Is(to, kMergeOp);
  };
  using Ranked = std::pair<uint32_t, NodeId>;
  auto ranked = [&](NodeId id) { return Ranked(id < ranks.size() ? ranks[id] : ~0u, id); };
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> ready;
  std::vector<uint32_t> waiting(graph.end_id(), 0);
  for (Node node : graph.nodes()) {
    for (Port port : node.inputs())
      waiting[node.id()] += port.node != kNoNode && !is_back_edge(graph.node(port.node), node);
    if (waiting[node.id()] == 0) ready.push(ranked(node.id()));
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    NodeId id = ready.top().second;
    ready.pop();
    order.push_back(id);
    Node node = graph.node(id);
    for (const Use& use : node.uses()) {
      if (!is_back_edge(node, graph.node(use.node)) && --waiting[use.node] == 0)
        ready.push(ranked(use.node));
    }
  }
  return order;
}

}  // namespace

void OpenCalls(FunctionRewriter& rewriter) {
  RuleTable rules(rewriter.edit, FunctionRewriter::kOptimizer, FunctionRewriter::kOpenCalls);
  for (size_t i = 0; i < rewriter.nodes.size() && !rewriter.stopped; ++i) {
    NodeId id = rewriter.nodes[i];
    if (rewriter.graph.IsAlive(id)) ApplyRules(rewriter, rules, rewriter.graph.node(id));
  }
}

FunctionRewriter::FunctionRewriter(Editor& edit, Opening opening)
    : RuleContext(edit),
      module(edit.module()),
      opening(opening),
      aggressive(edit.config().function_optimization() == proto::RewriterConfig::AGGRESSIVE),
      nodes(InputsFirst(edit.graph(), edit.ranks())) {
  if (!is_runtime()) FindFrames();
}

std::string FunctionRewriter::NewName(const llvm::Twine& prefix) {
  return (prefix + "/_" + llvm::Twine(next_number_++)).str();
}

Node FunctionRewriter::Add(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
                           llvm::ArrayRef<Port> inputs) {
  Node node = edit.AddNode(name.str(), op, device);
  nodes.push_back(node.id());
  if (!inputs.empty()) edit.SetInputs(node, inputs);
  return node;
}

Node FunctionRewriter::AddTyped(const llvm::Twine& name, llvm::StringRef op, llvm::StringRef device,
                                llvm::ArrayRef<Port> inputs) {
  Node node = Add(name, op, device, inputs);
  edit.SetAttr(node, "T", attr::Type(BaseType(edit.TypeOf(inputs[0]))));
  return node;
}

Node FunctionRewriter::AddCall(const llvm::Twine& name, const proto::NameAttrList& function,
                               llvm::StringRef device, llvm::ArrayRef<Port> inputs) {
  Node call = Add(name, function.name(), device, inputs);
  for (const auto& [key, value] : function.attr())
    edit.SetAttr(call, key, value.SerializeAsString());
  edit.SetAttr(call, kPartOfControlFlow, attr::Bool(true));
  return call;
}

void FunctionRewriter::WaitForInputs(const Node& call, bool always) {
  if (is_runtime()) return;
  bool has_resource = false, has_loop_constant = false;
  for (int i = 0; i < call.num_inputs(); ++i) {
    has_resource |= edit.TypeOf(call.input(i)) == proto::DT_RESOURCE;
    Node input = call.input_node(i);
    has_loop_constant |=
        (input.op() == "Enter" || input.op() == "RefEnter") && input.GetBool("is_constant");
  }
  if (!always && !(has_resource && call.num_controls() == 0) && !has_loop_constant) return;
  for (int i = 0; i < call.num_inputs(); ++i) {
    if (call.input_node(i).op() != "Placeholder") edit.AddControl(call, call.input_node(i));
  }
}

void FunctionRewriter::FindFrames() {
  auto enters = [](const Node& node) { return node.op() == "Enter" || node.op() == "RefEnter"; };
  if (llvm::none_of(nodes, [&](NodeId id) { return enters(graph.node(id)); })) return;
  llvm::DenseMap<NodeId, NodeId> parent_of;  // maps an Enter to the frame around its own
  llvm::DenseMap<NodeId, NodeId> seen;       // maps a visited node to its frame; kNoNode: no frame
  std::deque<NodeId> open;
  for (NodeId id : nodes) {
    if (graph.node(id).inputs().empty()) {
      seen[id] = kNoNode;
      open.push_back(id);
    }
  }
  while (!open.empty()) {
    Node node = graph.node(open.front());
    open.pop_front();
    NodeId frame = seen[node.id()];
    if (frame != kNoNode) frame_of_[node.id()] = frame;
    bool leaves = node.op() == "Exit" || node.op() == "RefExit";
    if (leaves && frame != kNoNode) frame = parent_of[frame];
    for (const Use& use : node.uses()) {
      if (seen.count(use.node)) continue;
      Node reader = graph.node(use.node);
      if (enters(reader)) parent_of[reader.id()] = frame;
      seen[reader.id()] = enters(reader) ? reader.id() : frame;
      open.push_back(reader.id());
    }
  }
}

void FunctionRewriter::WaitForFrame(const Node& call) {
  auto it = frame_of_.find(call.id());
  if (it == frame_of_.end() || call.num_controls() > 0 || !graph.IsAlive(it->second)) return;
  Node enter = graph.node(it->second);
  if (enter.GetBool("is_constant")) {
    edit.AddControl(call, enter);
    return;
  }
  // An Enter that is not constant has an output only in the first iteration. The Merge that reads
  // it runs in each iteration, so the call waits for the Merge.
  for (const Use& use : enter.UsesOf(0)) {
    Node reader = graph.node(use.node);
    if (reader.op() != "Merge") continue;
    edit.AddControl(call, reader);
    return;
  }
}

bool FunctionRewriter::IsRecursive(const Node& call, const Function& function) const {
  if (edit.function() == &function) return true;
  auto it = came_from_.find(call.id());
  for (int at = it == came_from_.end() ? -1 : it->second; at >= 0; at = ancestors_[at].parent) {
    if (ancestors_[at].function == &function) return true;
  }
  return false;
}

void FunctionRewriter::CameFrom(NodeId made, const Node& call, const Function& function) {
  auto it = came_from_.find(call.id());
  int parent = it == came_from_.end() ? -1 : it->second;
  if (ancestors_.empty() || ancestors_.back().function != &function ||
      ancestors_.back().parent != parent) {
    ancestors_.push_back({&function, parent});
  }
  came_from_[made] = static_cast<int>(ancestors_.size()) - 1;
}

void FunctionRewriter::InheritOrigin(NodeId made, const Node& node) {
  auto it = came_from_.find(node.id());
  if (it == came_from_.end()) return;
  int from = it->second;
  came_from_[made] = from;
}

std::string FunctionRewriter::WhyNotCallable(const proto::NameAttrList& callee, int takes,
                                             int gives) const {
  const Function* function = module.FindFunction(callee.name());
  if (!function) return "function '" + callee.name() + "' is not in the library";
  auto count = [&](llvm::ArrayRef<OpArg> args) {
    int64_t tensors = 0;
    for (const OpArg& arg : args) tensors += TensorsOf(arg, callee);
    return tensors;
  };
  int64_t arguments = count(function->info.inputs), results = count(function->info.outputs);
  if (arguments == takes && results == gives) return "";
  return llvm::formatv(
      "'{0}' with these attributes has {1} arguments and {2} results, {3} and {4} were expected",
      callee.name(), arguments, results, takes, gives);
}

std::string FunctionRewriter::WhyNotPassed(const Node& node) const {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (edit.TypeOf(node.input(i)) == proto::DT_INVALID)
      return llvm::formatv("the dtype of '{0}' is not known", node.input_node(i).name());
  }
  return "";
}

llvm::StringRef FunctionRewriter::XlaMark(const Node& node) {
  for (const char* key : {"_xla_compile_id", "_tpu_replicate", "_XlaMustCompile"}) {
    std::optional<AttrView> attr = node.FindAttr(key);
    if (attr && (!attr->AsString().value_or("").empty() || attr->AsBool().value_or(false)))
      return key;
  }
  return "";
}

void FunctionRewriter::Redirect(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after) {
  llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
  llvm::SmallVector<NodeId, 8> waiting;
  for (const Use& use : uses) {
    Node reader = graph.node(use.node);
    if (static_cast<int>(use.slot) < reader.num_inputs()) {
      Port read = reader.input(use.slot);
      if (read.index < static_cast<int>(outputs.size()))
        edit.SetInput(reader, use.slot, outputs[read.index]);
    } else {
      waiting.push_back(use.node);
    }
  }
  for (NodeId id : waiting) {
    edit.RemoveControl(graph.node(id), node);
    edit.AddControl(graph.node(id), after);
  }
}

void FunctionRewriter::StandIn(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after) {
  std::string name = node.name().str(), device = node.device().str();
  bool with_values = opening == Opening::kSession && !outputs.empty();
  std::vector<DataType> types;
  for (Port port : outputs) types.push_back(BaseType(edit.TypeOf(port)));
  edit.RemoveNode(node);
  Node made = Add(name, with_values ? "IdentityN" : "NoOp", device);
  if (with_values) {
    edit.SetInputs(made, outputs);
    edit.SetAttr(made, "T", attr::Types(types));
  }
  edit.AddControl(made, after);
}

void FunctionRewriter::KeepAs(const Node& node, llvm::ArrayRef<Port> outputs, const Node& after) {
  if (is_runtime()) return StandIn(node, outputs, after);
  bool with_values = edit.IsFetched(node) && !outputs.empty();
  llvm::SmallVector<Port, 8> inputs;
  std::vector<DataType> types;
  if (with_values) {
    for (Port port : outputs) {
      inputs.push_back(port);
      types.push_back(BaseType(edit.TypeOf(port)));
    }
  }
  inputs.push_back({after.id(), kControlPort});
  edit.SetOp(node, with_values ? "IdentityN" : "NoOp");
  edit.SetInputs(node, inputs);
  for (const auto& [key, value] : node.Attrs()) edit.RemoveAttr(node, key);
  if (with_values) edit.SetAttr(node, "T", attr::Types(types));
}

}  // namespace grapnel
