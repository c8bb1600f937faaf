#include "lib/place/runtime_graph.h"

#include <map>

#include "lib/function/function_rewriter.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr const char* kClass = "_class";

bool StaysOnHost(DataType dtype) { return dtype == proto::DT_INT32 || dtype == proto::DT_STRING; }

bool IsArgOrRetval(const Node& node) { return node.op() == "_Arg" || node.op() == "_Retval"; }

// The first entry of the node's _class, such as "loc:@v"; empty if there is none.
std::string GroupOf(const Node& node) {
  std::optional<AttrView> attr = node.FindAttr(kClass);
  auto groups = attr ? attr->AsStrings() : std::nullopt;
  return groups && !groups->empty() ? groups->front().str() : "";
}

void Clear(Graph& graph) {
  std::vector<NodeId> ids;
  for (Node node : graph.nodes()) ids.push_back(node.id());
  for (NodeId id : ids) graph.SetInputs(id, {});
  for (NodeId id : ids) graph.RemoveNode(id);
}

std::optional<int> OnlyMatch(const DeviceSet& devices, const DeviceSpec& asked) {
  std::optional<int> match;
  for (int i = 0; i < devices.size(); ++i) {
    if (!asked.Matches(devices.device(i).name)) continue;
    if (match) return std::nullopt;
    match = i;
  }
  return match;
}

// Puts a result on the device that its producer requests, if that is one device and TensorFlow does
// so for the dtype, or into the producer's group. If the producer is an Identity without either,
// uses the Identity's input instead.
Error Pin(Graph& graph, NodeId id, const DeviceSet& devices) {
  Node result = graph.node(id);
  if (result.num_inputs() == 0 || result.input(0).node == kNoNode) return Error::success();
  Node maker = result.input_node(0);
  std::string group = GroupOf(maker);
  while (maker.device().empty() && group.empty() && maker.op() == "Identity" &&
         maker.num_inputs() > 0 && maker.input(0).node != kNoNode) {
    maker = maker.input_node(0);
    group = GroupOf(maker);
  }
  if (!group.empty()) {
    graph.SetAttr(id, kClass, attr::Strings({group}));
    return Error::success();
  }
  DataType dtype = result.GetType("T");
  bool calls = IsMultiDeviceCall(maker) || graph.module().FindFunction(maker.op());
  if (maker.device().empty() || (dtype == proto::DT_RESOURCE && calls) ||
      (dtype == proto::DT_VARIANT && maker.op() != "_Arg"))
    return Error::success();
  ASSIGN_OR_RETURN(DeviceSpec asked, DeviceSpec::Parse(maker.device()));
  if (std::optional<int> device = OnlyMatch(devices, asked))
    graph.SetDevice(id, devices.device(*device).text);
  return Error::success();
}

// Copies the called function's nodes into an empty main graph, with attribute values from the call.
class BodyAsGraph {
 public:
  BodyAsGraph(Module& module, const Call& called, const RuntimeCall& call, const DeviceSet& devices)
      : to_(module.main),
        called_(called),
        call_(call),
        from_(called.function->body),
        devices_(devices) {}

  Error Run() {
    std::vector<NodeId> order = TopologicalOrder(from_);
    for (NodeId id : order) RETURN_IF_ERROR(Copy(from_.node(id)));
    for (NodeId id : order) {
      llvm::SmallVector<Port, 8> ports;
      for (Port port : from_.node(id).inputs())
        ports.push_back({copies_.lookup(port.node), port.index});
      to_.SetInputs(copies_.lookup(id), ports);
    }
    const Function& function = *called_.function;
    for (size_t i = 0; i < function.args.size() && i < call_.args.size(); ++i)
      to_.SetDevice(copies_.lookup(function.args[i]), devices_.device(call_.args[i]).text);
    for (const Function::Result& result : function.results)
      RETURN_IF_ERROR(PlaceResult(copies_.lookup(result.node)));
    return Error::success();
  }

 private:
  Error Copy(const Node& node) {
    ASSIGN_OR_RETURN(CallAttrs filled, DependentAttrs(node, called_));
    NodeId copy = to_.AddNode(node.name(), node.op(), node.device());
    to_.CopyAttrs(copy, node);
    for (const auto& [key, value] : filled) to_.SetAttr(copy, key, value);
    copies_[node.id()] = copy;
    return Error::success();
  }

  Error PlaceResult(NodeId id) {
    if (!call_.is_node) return Pin(to_, id, devices_);
    bool is_handle = to_.node(id).GetType("T") == proto::DT_RESOURCE;
    if (!is_handle) to_.SetDevice(id, devices_.device(call_.device).text);
    return Error::success();
  }

  Graph& to_;
  const Call& called_;
  const RuntimeCall& call_;
  const Graph& from_;
  const DeviceSet& devices_;
  llvm::DenseMap<NodeId, NodeId> copies_;
};

void Open(Graph& graph, Opening opening) {
  proto::RewriterConfig config;
  Boundary boundary;
  boundary.keep_stateful = true;
  Editor edit(graph, nullptr, std::move(boundary), config, nullptr);
  FunctionRewriter in(edit, opening);
  OpenCalls(in);
}

// Adds Identity nodes at the inputs and results of each remaining call that returns handles, as
// TensorFlow does before its placer inspects the called function. They separate the call from its
// neighbors.
class Isolation {
 public:
  explicit Isolation(Graph& graph) : graph_(graph) {}

  void Run() {
    std::vector<NodeId> calls;
    for (Node node : graph_.nodes()) {
      if (GivesHandle(node)) calls.push_back(node.id());
    }
    for (NodeId id : calls) Isolate(id);
  }

 private:
  static bool GivesHandle(const Node& node) {
    const Function* called = IsMultiDeviceCall(node) ? CallOf(node).function : nullptr;
    return called && llvm::any_of(called->results, [&](const Function::Result& result) {
             return called->body.node(result.node).GetType("T") == proto::DT_RESOURCE;
           });
  }

  std::string FreeName(const std::string& name) const {
    if (!graph_.Find(name)) return name;
    for (int i = 0;; ++i) {
      std::string numbered = name + "_" + std::to_string(i);
      if (!graph_.Find(numbered)) return numbered;
    }
  }

  NodeId AddIdentity(const std::string& name, Port input, DataType dtype) {
    NodeId id = graph_.AddNode(FreeName(name), "Identity");
    graph_.SetInputs(id, {input});
    graph_.SetAttr(id, "T", attr::Type(dtype));
    return id;
  }

  void Isolate(NodeId call) {
    Node node = graph_.node(call);
    const Function& function = *CallOf(node).function;
    auto dtype_of = [&](NodeId end) { return function.body.node(end).GetType("T"); };
    std::string name = node.name().str();
    for (int i = 0; i < node.num_inputs(); ++i) {
      Port input = graph_.node(call).input(i);
      std::string passed = (graph_.node(input.node).name() + "_" + name).str();
      graph_.SetInput(call, i, {AddIdentity(passed, input, dtype_of(function.args[i])), 0});
    }
    std::vector<bool> is_read(function.results.size());
    llvm::SmallVector<Use, 8> uses(graph_.node(call).uses().begin(),
                                   graph_.node(call).uses().end());
    for (const Use& use : uses) {
      Node reader = graph_.node(use.node);
      if (static_cast<int>(use.slot) >= reader.num_inputs()) continue;
      Port read = reader.input(use.slot);
      std::string passed = name + "_" + reader.name().str();
      is_read[read.index] = true;
      NodeId made = AddIdentity(passed, read, dtype_of(function.results[read.index].node));
      graph_.SetInput(use.node, use.slot, {made, 0});
    }
    for (size_t i = 0; i < is_read.size(); ++i) {
      if (!is_read[i])
        AddIdentity(name, {call, static_cast<int32_t>(i)}, dtype_of(function.results[i].node));
    }
  }

  Graph& graph_;
};

// Processes calls as Grappler does: inlines some that the runtime did not inline, and makes
// specialized functions for the others.
void Specialize(Graph& graph, llvm::StringRef id) {
  proto::RewriterConfig config;
  Boundary boundary;
  boundary.keep_stateful = true;
  for (Node node : graph.nodes()) {
    if (IsArgOrRetval(node)) boundary.kept.insert(node.id());
  }
  Editor edit(graph, nullptr, std::move(boundary), config, nullptr);
  edit.set_id(id);
  FunctionRewriter in(edit);
  OpenCalls(in);
  llvm::erase_if(in.nodes, [&](NodeId id) { return !graph.IsAlive(id); });
  RuleTable rules(edit, FunctionRewriter::kOptimizer, FunctionRewriter::kWholeBody);
  for (const Rule* rule : rules.all()) in.Apply(*rule);
}

// Returns, by node id, whether the results and `kept` need the node; all true in a graph without
// results.
std::vector<bool> NeededNodes(const Graph& graph, llvm::ArrayRef<std::string> kept) {
  std::vector<bool> needed(graph.end_id());
  std::vector<NodeId> open;
  auto need = [&](NodeId id) {
    if (id == kNoNode || needed[id]) return;
    needed[id] = true;
    open.push_back(id);
  };
  for (Node node : graph.nodes()) {
    if (node.op() == "_Retval") need(node.id());
  }
  if (open.empty()) return std::vector<bool>(graph.end_id(), true);
  for (const std::string& name : kept) {
    if (Node node = graph.Find(name)) need(node.id());
  }
  while (!open.empty()) {
    Node node = graph.node(open.back());
    open.pop_back();
    for (Port port : node.inputs()) need(port.node);
  }
  return needed;
}

int DeviceOf(const Node& node, const DeviceSet& devices, int other) {
  auto name = DeviceSpec::Parse(node.device());
  if (name && !name->IsOpen()) return devices.Find(*name).value_or(other);
  llvm::consumeError(name.takeError());
  return other;
}

RuntimeCall CallOfNode(const Node& node, const Call& called, const DeviceSet& devices) {
  int device = DeviceOf(node, devices, PreferredDevice(devices));
  RuntimeCall call{called.function->name().str(), called.attrs, true, device, {}};
  int given = std::min<int>(node.num_inputs(), called.function->args.size());
  for (int i = 0; i < given; ++i) {
    bool is_handle =
        called.function->body.node(called.function->args[i]).GetType("T") == proto::DT_RESOURCE;
    call.args.push_back(is_handle ? DeviceOf(node.input_node(i), devices, device) : device);
  }
  return call;
}

}  // namespace

int PreferredDevice(const DeviceSet& devices) {
  int best = 0;
  for (int i = 1; i < devices.size(); ++i) {
    if (devices.IsPreferred(i, best)) best = i;
  }
  return best;
}

int DeviceOfArgument(const DeviceSet& devices, int called_on, DataType dtype) {
  if (!StaysOnHost(dtype)) return called_on;
  DeviceSpec host = devices.device(called_on).name;
  if (host.type.text() == "CPU") return called_on;
  host.type = DeviceWord::Of("CPU");
  host.id = DeviceSpec::kOpen;
  return devices.Find(host).value_or(called_on);
}

Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, const RuntimeCall& call,
                                                 const DeviceSet& devices) {
  std::unique_ptr<Module> copy = module.Copy();
  ASSIGN_OR_RETURN(const Function* function, FindFunction(*copy, call.function));
  RuntimeCall full = call;
  for (size_t i = full.args.size(); i < function->args.size(); ++i) {
    DataType dtype = function->body.node(function->args[i]).GetType("T");
    full.args.push_back(DeviceOfArgument(devices, call.device, dtype));
  }
  Clear(copy->main);
  Call called{function, false, call.attrs};
  if (Error error = BodyAsGraph(*copy, called, full, devices).Run())
    return Annotate("function '" + call.function + "'", std::move(error));
  Open(copy->main, Opening::kFunction);
  Isolation(copy->main).Run();
  return std::move(copy);
}

Expected<std::unique_ptr<Module>> OpenForPlacing(const Module& module, int device,
                                                 const DeviceSet& devices) {
  bool is_function = false, lowers = false, calls = false, is_open = false;
  for (Node node : module.main.nodes()) {
    is_function |= IsArgOrRetval(node);
    is_open |= node.op() == "_Arg" && node.device().empty();
    lowers |= node.GetBool(kLower);
    calls |= IsMultiDeviceCall(node) || module.FindFunction(node.op());
  }
  if (!lowers && !is_open && !(is_function && calls)) return nullptr;
  std::unique_ptr<Module> copy = module.Copy();
  Graph& graph = copy->main;
  if (is_function) {
    std::vector<NodeId> ends;
    for (Node node : graph.nodes()) {
      if (IsArgOrRetval(node) && node.device().empty()) ends.push_back(node.id());
    }
    for (NodeId id : ends) {
      if (graph.node(id).op() != "_Arg") continue;
      int at = DeviceOfArgument(devices, device, graph.node(id).GetType("T"));
      graph.SetDevice(id, devices.device(at).text);
    }
    for (NodeId id : ends) {
      if (graph.node(id).op() == "_Retval") RETURN_IF_ERROR(Pin(graph, id, devices));
    }
  }
  Open(graph, is_function ? Opening::kFunction : Opening::kSession);
  Isolation(graph).Run();
  return std::move(copy);
}

NonInlinedCalls FindNonInlinedCalls(const Module& module, const Placement& placement,
                                    const DeviceSet& devices, llvm::StringRef id,
                                    llvm::ArrayRef<std::string> kept) {
  NonInlinedCalls staying;
  if (llvm::none_of(placement.order,
                    [&](NodeId id) { return IsMultiDeviceCall(module.main.node(id)); }))
    return staying;
  staying.module = module.Copy();
  Graph& graph = staying.module->main;
  for (NodeId id : placement.order)
    graph.SetDevice(id, devices.device(placement.Of(id).device).text);
  Specialize(graph, id);
  std::map<RuntimeCall, size_t> known;
  std::vector<bool> needed = NeededNodes(graph, kept);
  for (NodeId id : TopologicalOrder(graph)) {
    Node node = graph.node(id);
    Call called = needed[id] && IsMultiDeviceCall(node) ? CallOf(node) : Call();
    if (!called.function) continue;
    RuntimeCall call = CallOfNode(node, called, devices);
    auto [entry, is_new] = known.try_emplace(call, staying.callees.size());
    if (is_new) staying.callees.push_back({std::move(call), {}});
    staying.callees[entry->second].nodes.push_back(node.name().str());
  }
  return staying;
}

}  // namespace grapnel
