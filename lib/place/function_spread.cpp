#include "lib/place/function_spread.h"

#include "lib/function/function_rewriter.h"
#include "lib/ir/find.h"
#include "lib/ir/function_ends.h"
#include "lib/pass/library.h"
#include "lib/place/explanation.h"
#include "lib/place/placement_log.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsMultiDeviceCall(const Node& node) {
  return node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
}

// True if the device string of a node of the function's body, which may be empty, is not `device`.
bool HasOther(const Function& function, llvm::StringRef device) {
  for (Node node : function.body.nodes()) {
    if (node.device() != device) return true;
  }
  return false;
}

bool AsksForDevice(const Function* function) { return HasOther(*function, ""); }

FunctionSet CalledBy(const Function& function) {
  FunctionSet reached;
  for (Node node : function.body.nodes()) {
    const Function* called = IsMultiDeviceCall(node) ? CallOf(node).function : nullptr;
    if (called && !reached.contains(called)) AddReachable(*called, &reached);
  }
  return reached;
}

// True for a call that may run on several devices, of a function that can be placed: it has no
// attributes to fill in.
bool CanVisit(const Node& node) {
  const Function* called = IsMultiDeviceCall(node) ? CallOf(node).function : nullptr;
  return called && !IsParametrized(*called);
}

// Returns, by node id, whether the fetches need the node.
std::vector<bool> NeededFor(const Graph& graph, llvm::ArrayRef<std::string> fetches) {
  std::vector<bool> needed(graph.end_id());
  std::vector<NodeId> open;
  auto need = [&](NodeId id) {
    if (!needed[id]) open.push_back(id);
    needed[id] = true;
  };
  for (const std::string& fetch : fetches) need(llvm::cantFail(FindEnd(graph, fetch)).node);
  while (!open.empty()) {
    Node node = graph.node(open.back());
    open.pop_back();
    for (Port port : node.inputs()) need(port.node);
  }
  return needed;
}

// Returns the node that produces all fetches, if it calls a function, has no control inputs, and
// its arguments come from nodes without inputs (feeds, variables), as for a tf.function or a
// SavedModel's signature; else a null node.
Node EntryCall(const Graph& graph, llvm::ArrayRef<std::string> fetches) {
  Node call;
  for (const std::string& fetch : fetches) {
    auto port = FindTensorIfThere(graph, fetch);
    if (!port) return {};
    Node node = graph.node(port->node);
    if (!CanVisit(node) || (call && call != node)) return {};
    call = node;
  }
  if (!call || call.num_controls() > 0) return {};
  for (Port input : call.inputs()) {
    if (!graph.node(input.node).inputs().empty()) return {};
  }
  return call;
}

}  // namespace

// Inlines calls in the main graph. Does not inline the entry call (EntryCall) the first time:
// VisitCall first places its function, and marks the call to be inlined completely if necessary.
Error FunctionSpread::OpenMain() {
  Boundary boundary;
  for (const std::string& fetch : tensors_.fetches) {
    ASSIGN_OR_RETURN(Port port, FindEnd(module_.main, fetch));
    boundary.fetched.insert(port.node);
  }
  for (const std::string& feed : tensors_.feeds) {
    ASSIGN_OR_RETURN(Port port, FindTensor(module_.main, feed));
    boundary.fed.insert(port.node);
  }
  if (settled_.empty()) {
    if (Node entry = EntryCall(module_.main, tensors_.fetches)) {
      entry_ = entry.name().str();
      boundary.fed.insert(entry.id());
    }
  }
  proto::RewriterConfig config;
  Editor edit(module_.main, nullptr, std::move(boundary), config, nullptr);
  FunctionRewriter in(edit);
  OpenCalls(in);
  return Error::success();
}

void FunctionSpread::OpenBody(Function& function) {
  if (!opened_.insert(function.name().str()).second) return;
  Boundary boundary;
  for (NodeId id : function.args) boundary.fed.insert(id);
  for (const Function::Result& result : function.results) boundary.fetched.insert(result.node);
  for (const auto& [name, id] : function.control_results) boundary.kept.insert(id);
  boundary.keep_stateful = true;
  proto::RewriterConfig config;
  Editor edit(function.body, &function, std::move(boundary), config, nullptr);
  FunctionRewriter in(edit);
  OpenCalls(in);
}

// Places the graph and sets the devices of its nodes.
Error FunctionSpread::PlaceGraph(Graph& graph, const PlacerOptions& options, bool logs) {
  Placement placement = Place(graph, setup_.devices, *setup_.kernels, options);
  if (placement.failure) {
    PlacementContext context{graph, setup_.devices, *setup_.kernels, options, placement};
    return MakeError("{0}", llvm::StringRef(ExplainFailure(context)).rtrim());
  }
  for (NodeId id : placement.order) {
    const std::string& device = setup_.devices.device(placement.Of(id).device).text;
    if (logs) WritePlacementLogLine(graph.node(id).name(), graph.node(id).op(), device, *log_);
    graph.SetDevice(id, device);
  }
  return Error::success();
}

FunctionSpread::BodyPlace FunctionSpread::PlaceOf(const Node& call,
                                                  const Function& function) const {
  BodyPlace place{call.device().str(), {}};
  for (size_t i = 0; i < function.args.size() && static_cast<int>(i) < call.num_inputs(); ++i) {
    bool is_resource = function.body.node(function.args[i]).GetType("T") == proto::DT_RESOURCE;
    place.args.push_back(is_resource ? call.input_node(i).device().str() : place.call);
  }
  return place;
}

// Places a function's body: its arguments on the devices of `place`, a result on the device that
// the result's producer requests, if any.
Error FunctionSpread::PlaceBody(Function& function, const BodyPlace& place) {
  OpenBody(function);
  Graph& body = function.body;
  std::vector<std::string>& own = own_devices_[function.name().str()];
  own.resize(body.end_id());
  for (Node node : body.nodes()) own[node.id()] = node.device().str();
  for (size_t i = 0; i < place.args.size(); ++i) body.SetDevice(function.args[i], place.args[i]);
  for (const Function::Result& result : function.results) {
    Node node = body.node(result.node);
    auto asked = node.num_inputs() > 0 ? DeviceSpec::Parse(node.input_node(0).device())
                                       : Expected<DeviceSpec>(DeviceSpec());
    if (!asked) return asked.takeError();
    std::optional<int> device;
    if (!asked->IsOpen()) device = setup_.devices.Find(*asked);
    if (device) body.SetDevice(result.node, setup_.devices.device(*device).text);
  }
  PlacerOptions options = setup_.options;
  ASSIGN_OR_RETURN(DeviceSpec caller, DeviceSpec::Parse(place.call));
  options.default_device = setup_.devices.Find(caller);
  bool logs = log_ && logged_.insert({function.name().str(), place}).second;
  return Annotate("function '" + function.name() + "'", PlaceGraph(body, options, logs));
}

bool FunctionSpread::IsSpread(const Function& function, llvm::StringRef device) const {
  return setup_.devices.size() > 1 &&
         (HasOther(function, device) || llvm::any_of(CalledBy(function), AsksForDevice));
}

// Places the functions that `function`, the function of a call that is not inlined, calls. They run
// on that call's device, and are placed only for the log.
Error FunctionSpread::VisitInner(Function& function) {
  if (!log_) return Error::success();
  for (NodeId id : TopologicalOrder(function.body)) {
    Node node = function.body.node(id);
    if (!CanVisit(node)) continue;
    const Function* called = CallOf(node).function;
    BodyPlace place = PlaceOf(node, *called);
    if (logged_.count({called->name().str(), place}) || own_devices_.count(called->name().str()))
      continue;
    Function& inner = *module_.FindFunction(called->name());
    RETURN_IF_ERROR(PlaceBody(inner, place));
    RETURN_IF_ERROR(VisitInner(inner));
  }
  return Error::success();
}

// Places the called function; true if the call must be inlined. A round of OpenNextCalls() places
// each function once. If this round has placed the function for a call on other devices, this call
// is left for the next round.
Expected<bool> FunctionSpread::VisitCall(const Node& call) {
  Function& function = *module_.FindFunction(CallOf(call).function->name());
  BodyPlace place = PlaceOf(call, function);
  auto [entry, is_first] = placed_.try_emplace(function.name().str(), place);
  if (!is_first && entry->second != place) return false;
  settled_.insert(call.name().str());
  if (is_first) RETURN_IF_ERROR(PlaceBody(function, place));
  if (log_ && call.name() == entry_)
    *log_ << "Executing op " << function.name() << " in device " << place.call << "\n";
  bool is_recursive = CalledBy(function).contains(&function);
  if (!is_recursive && IsSpread(function, place.call)) return true;
  RETURN_IF_ERROR(VisitInner(function));
  return false;
}

// Visits the calls of the main graph that were not visited before, and inlines those that must be.
// False if there was no call to visit.
Expected<bool> FunctionSpread::OpenNextCalls() {
  placed_.clear();
  bool opens = false;
  std::vector<bool> needed = NeededFor(module_.main, tensors_.fetches);
  for (NodeId id : TopologicalOrder(module_.main)) {
    Node node = module_.main.node(id);
    if (!needed[id] || settled_.count(node.name().str()) || !CanVisit(node)) continue;
    ASSIGN_OR_RETURN(bool is_opened, VisitCall(node));
    if (is_opened) module_.main.SetAttr(id, kOpenWhole, attr::Bool(true));
    opens |= is_opened;
  }
  if (opens) RETURN_IF_ERROR(OpenMain());
  RestoreBodies();
  if (opens) FillDevices();
  return !placed_.empty();
}

void FunctionSpread::RestoreBodies() {
  for (const auto& [name, devices] : own_devices_) {
    Function* function = module_.FindFunction(name);
    if (!function) continue;
    for (NodeId id = 0; id < devices.size(); ++id) {
      if (function->body.IsAlive(id)) function->body.SetDevice(id, devices[id]);
    }
  }
  own_devices_.clear();
}

// After inlining, gives each node without a device the device of its first input.
void FunctionSpread::FillDevices() {
  Graph& graph = module_.main;
  for (NodeId id : TopologicalOrder(graph)) {
    Node node = graph.node(id);
    if (node.device().empty() && node.num_inputs() > 0)
      graph.SetDevice(id, node.input_node(0).device());
  }
}

Error FunctionSpread::Run() {
  bool asks = llvm::any_of(ReachableFunctions(module_), AsksForDevice);
  bool opens = !module_.functions.empty() && (log_ || (asks && setup_.devices.size() > 1));
  if (opens) RETURN_IF_ERROR(OpenMain());
  RETURN_IF_ERROR(PlaceGraph(module_.main, setup_.options, log_ && entry_.empty()));
  while (opens) {
    ASSIGN_OR_RETURN(opens, OpenNextCalls());
  }
  return Error::success();
}

}  // namespace grapnel
