#include "lib/job/place.h"

#include <cstdlib>
#include <set>

#include "lib/function/call.h"
#include "lib/io/signature.h"
#include "lib/io/write.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/job/dump.h"
#include "lib/place/partition.h"
#include "lib/place/placement_report.h"
#include "lib/place/runtime_graph.h"
#include "lib/support/file.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

Expected<std::vector<PartitionSize>> Split(OpenedGraph& opened, const KernelCatalog& kernels,
                                           llvm::StringRef folder) {
  auto split = PartitionByDevice(opened.module(), kernels);
  if (!split) return Annotate(opened.model().path, split.takeError());
  RETURN_IF_ERROR(WritePartitions(*split, folder, opened.name()).takeError());
  std::vector<PartitionSize> sizes;
  for (const Partition& part : split->partitions)
    sizes.push_back({part.device, static_cast<int64_t>(part.module->main.num_nodes())});
  for (const Transfer& transfer : split->transfers) {
    ++sizes[transfer.from].sends;
    ++sizes[transfer.to].receives;
  }
  return sizes;
}

Error RunPass(PassManager& manager, OpenedGraph& opened, const OptimizeOptions& options) {
  auto result = manager.Run(opened.module(), options);
  return result ? Error::success() : Annotate(opened.model().path, result.takeError());
}

// Returns the call that produces all outputs of the signature, or a null node.
Node EntryCall(const Graph& main, const Signature& signature) {
  Node call;
  for (const SignatureTensor& output : signature.outputs) {
    auto port = FindTensorIfThere(main, output.tensor);
    if (!port) return {};
    Node node = main.node(port->node);
    bool is_call = node.op() == "PartitionedCall" || node.op() == "StatefulPartitionedCall";
    if (!is_call || !CallOf(node).function || (call && call != node)) return {};
    call = node;
  }
  return call;
}

// Returns the device on which tf.saved_model.load creates a node of the main graph, such as a
// variable: the device that the node requests (if `asks`), else the best device with a kernel for
// it, else the preferred device.
int DeviceWhenMade(const Node& node, const PlacerSetup& setup, bool asks) {
  auto asked = DeviceSpec::Parse(asks ? node.device() : "");
  if (!asked) {
    llvm::consumeError(asked.takeError());
  } else if (!asked->IsOpen()) {
    if (std::optional<int> device = setup.devices.Find(*asked)) return *device;
  }
  int best = -1, highest = 0;
  for (int i = 0; i < setup.devices.size(); ++i) {
    auto priority = setup.kernels->Priority(node, setup.devices.device(i).name.type.text());
    if (!priority) continue;
    bool is_alike = best >= 0 && *priority == highest;
    if (best < 0 || *priority > highest || (is_alike && setup.devices.IsPreferred(i, best))) {
      best = i;
      highest = *priority;
    }
  }
  return best < 0 ? PreferredDevice(setup.devices) : best;
}

RuntimeCall CallOnPaper(const Node& entry, int device, const PlacerSetup& setup,
                        bool saved_variable_devices) {
  Call called = CallOf(entry);
  const Function& function = *called.function;
  RuntimeCall call{function.name().str(), called.attrs, false, device, {}};
  int given = std::min<int>(entry.num_inputs(), function.args.size());
  for (int i = 0; i < given; ++i) {
    DataType dtype = function.body.node(function.args[i]).GetType("T");
    call.args.push_back(
        dtype == proto::DT_RESOURCE
            ? DeviceWhenMade(entry.input_node(i), setup,
                             saved_variable_devices || entry.input_node(i).op() != "VarHandleOp")
            : DeviceOfArgument(setup.devices, device, dtype));
  }
  return call;
}

std::vector<std::string> ControlResultsOf(const Module& module, llvm::StringRef function) {
  std::vector<std::string> names;
  const Function* found = function.empty() ? nullptr : module.FindFunction(function);
  if (!found) return names;
  for (const auto& [name, id] : found->control_results)
    names.push_back(found->body.node(id).name().str());
  return names;
}

// Returns the bytes of the variables that `entry` passes to the arguments of `body`, by argument.
std::map<NodeId, int64_t> VariablesOfEntry(const Graph& body, const Node& entry) {
  std::map<NodeId, int64_t> variables;
  for (Node node : body.nodes()) {
    int64_t index = node.op() == "_Arg" ? node.GetInt("index", -1) : -1;
    if (index < 0 || index >= entry.num_inputs()) continue;
    Node given = entry.input_node(static_cast<int>(index));
    int64_t bytes = IsVariable(given) ? BytesOfVariable(given) : -1;
    if (bytes >= 0) variables[node.id()] = bytes;
  }
  return variables;
}

// Returns the arguments of the graph, or of the placed function's body, that have no device.
std::vector<std::string> OpenArguments(const Graph& graph) {
  std::vector<std::string> names;
  for (Node node : graph.nodes()) {
    if (node.op() == "_Arg" && node.device().empty()) names.push_back(node.name().str());
  }
  return names;
}

// Adds to `calls` the functions whose calls in a placed graph are not inlined, and the functions
// that these call.
Error AddStayingCalls(llvm::StringRef function, const OpenedGraph& opened,
                      const PlacerSettings& settings, const PlacedGraph& placed,
                      std::set<RuntimeCall>* known, std::vector<PlacedCall>* calls) {
  if (placed.placement.failure) return Error::success();
  const DeviceSet& devices = placed.setup.devices;
  std::vector<std::string> kept = ControlResultsOf(opened.module(), function);
  std::string id = function.empty() ? OptimizeOptions().id : function.str();
  NonInlinedCalls staying =
      FindNonInlinedCalls(opened.module(), placed.placement, devices, id, kept);
  for (NonInlinedCalls::Callee& callee : staying.callees) {
    if (!known->insert(callee.call).second) continue;
    auto module = OpenForPlacing(*staying.module, callee.call, devices);
    if (!module) return Annotate(opened.model().path, module.takeError());
    PlacedCall call{callee.call.function, std::move(callee.nodes), nullptr, {}};
    call.opened = std::make_unique<OpenedGraph>(opened.With(std::move(*module)));
    PlacerSettings inner = settings;
    inner.default_device = devices.device(callee.call.device).text;
    ASSIGN_OR_RETURN(call.placed, PlaceGraph(*call.opened, inner));
    size_t at = calls->size();
    calls->push_back(std::move(call));
    std::vector<PlacedCall> called;
    RETURN_IF_ERROR(AddStayingCalls((*calls)[at].function, *(*calls)[at].opened, inner,
                                    (*calls)[at].placed, known, &called));
    llvm::move(called, std::back_inserter(*calls));
  }
  return Error::success();
}

}  // namespace

Expected<RuntimeView> OpenForPlacing(const OpenedGraph& opened, const PlaceRequest& request) {
  RuntimeView view;
  view.settings = request.settings;
  view.function = request.function;
  if (request.as_it_stands) return std::move(view);
  ASSIGN_OR_RETURN(PlacerSetup setup, PlacerSetup::Make(request.settings));
  int device = setup.options.default_device.value_or(PreferredDevice(setup.devices));
  const Module& module = opened.module();
  RuntimeCall call{request.function, {}, false, device, {}};
  Node entry;
  if (call.function.empty()) {
    ASSIGN_OR_RETURN(const Signature* signature,
                     ChooseOneSignature(opened.model(), opened.file(), request.signature));
    if (signature) entry = EntryCall(module.main, *signature);
    if (signature && !entry) view.signature = *signature;
    if (entry) call = CallOnPaper(entry, device, setup, request.saved_variable_devices);
  }
  view.function = call.function;
  auto copy = call.function.empty() ? OpenForPlacing(module, device, setup.devices)
                                    : OpenForPlacing(module, call, setup.devices);
  if (!copy) return Annotate(opened.model().path, copy.takeError());
  if (!*copy) return std::move(view);
  view.own = std::make_unique<OpenedGraph>(opened.With(std::move(*copy)));
  if (call.args.empty()) {
    const Function* body = call.function.empty() ? nullptr : module.FindFunction(call.function);
    view.assumed = OpenArguments(body ? body->body : module.main);
  }
  if (entry) view.variables = VariablesOfEntry(view.own->module().main, entry);
  bool is_function = !call.function.empty();
  for (Node node : view.own->module().main.nodes()) is_function |= node.op() == "_Retval";
  if (is_function) view.settings.default_device = setup.devices.device(device).text;
  return std::move(view);
}

int64_t DropPlacedDevices(OpenedGraph& opened) {
  int64_t count = 0;
  auto drop = [&](Graph& graph) {
    for (Node node : graph.nodes()) {
      auto name = DeviceSpec::Parse(node.device());
      bool is_full = name && name->IsFull();
      llvm::consumeError(name.takeError());
      if (!is_full) continue;
      graph.SetDevice(node.id(), "");
      ++count;
    }
  };
  drop(opened.module().main);
  for (auto& function : opened.module().functions) drop(function->body);
  return count;
}

bool PutArguments(const LogOfGraph& logged, RuntimeView& view, OpenedGraph& opened) {
  auto setup = PlacerSetup::Make(view.settings);
  if (!setup) {
    llvm::consumeError(setup.takeError());
    return false;
  }
  Graph& graph = view.graph(opened).module().main;
  bool moved = false;
  std::vector<std::string> unknown;
  for (const std::string& name : view.assumed) {
    Node node = graph.Find(name);
    llvm::StringRef device = node ? logged.DeviceOf(node.id()) : "";
    bool is_there = llvm::any_of(setup->devices.devices(),
                                 [&](const ListedDevice& each) { return each.text == device; });
    if (!is_there) {
      unknown.push_back(name);
      continue;
    }
    moved |= node.device() != device;
    graph.SetDevice(node.id(), device);
  }
  view.assumed = std::move(unknown);
  return moved;
}

std::string AssumedText(const RuntimeView& view, const PlacementContext& context) {
  std::string variables, others;
  size_t num_variables = 0, num_others = 0;
  for (const std::string& name : view.assumed) {
    Node node = context.graph.Find(name);
    if (!node) continue;
    bool is_variable = node.GetType("T") == proto::DT_RESOURCE;
    std::string& text = is_variable ? variables : others;
    size_t& count = is_variable ? num_variables : num_others;
    if (++count > 8) continue;
    text += (text.empty() ? "'" : ", '") + name + "'";
    int device = context.placement.Of(node.id()).device;
    if (device >= 0 && is_variable) text += " on " + context.devices.device(device).text;
  }
  if (num_variables + num_others == 0) return "";
  std::string text = "assumed, since the graph does not record the devices of arguments: ";
  if (num_variables > 0) {
    text += Plural(num_variables, "variable") + " where the function is called (" + variables +
            (num_variables > 8 ? ", ..." : "") + ")";
  }
  if (num_others > 0) {
    text += (num_variables > 0 ? "; " : "") + Plural(num_others, "argument") +
            " on the caller's device (" + others + (num_others > 8 ? ", ..." : "") + ")";
  }
  return text + "; dumps from before_bridge on record them, and --log shows them";
}

Expected<PlacedGraph> PlaceGraph(const OpenedGraph& opened, const PlacerSettings& settings,
                                 llvm::StringRef function) {
  PlacedGraph placed;
  ASSIGN_OR_RETURN(placed.setup, PlacerSetup::Make(settings));
  placed.graph = &opened.module().main;
  if (!function.empty()) {
    auto found = FindFunction(opened.module(), function);
    if (!found) return Annotate(opened.model().path, found.takeError());
    placed.graph = &(*found)->body;
  }
  placed.placement =
      Place(*placed.graph, placed.setup.devices, *placed.setup.kernels, placed.setup.options);
  return std::move(placed);
}

Expected<PlacedGraph> PlaceView(const RuntimeView& view, const OpenedGraph& opened) {
  ASSIGN_OR_RETURN(PlacedGraph placed,
                   PlaceGraph(view.graph(opened), view.settings, view.own ? "" : view.function));
  placed.variables = view.variables;
  if (!view.signature) return std::move(placed);
  placed.counted.resize(placed.graph->end_id());
  for (NodeId id : NeededNodes(*placed.graph, *view.signature)) placed.counted[id] = true;
  if (!llvm::is_contained(placed.counted, true)) placed.counted.clear();
  return std::move(placed);
}

Expected<std::vector<PlacedCall>> PlaceStayingCalls(const RuntimeView& view,
                                                    const PlacedGraph& placed) {
  std::vector<PlacedCall> calls;
  if (!view.own) return std::move(calls);
  std::set<RuntimeCall> known;
  RETURN_IF_ERROR(AddStayingCalls(view.function, *view.own, view.settings, placed, &known, &calls));
  return std::move(calls);
}

std::string TitleOf(const PlacerSettings& settings) {
  std::string title = settings.devices + (settings.soft ? " (soft" : " (hard");
  if (!settings.default_device.empty()) title += ", default " + settings.default_device;
  if (settings.kernels != PlacerSettings().kernels) title += ", " + settings.kernels + "'s kernels";
  return title + ")";
}

PlacerSettings WithChanges(PlacerSettings settings, llvm::StringRef changes) {
  std::string devices;
  for (const std::string& item : SplitList(changes)) {
    if (item == "hard" || item == "soft") {
      settings.soft = item == "soft";
    } else {
      devices += (devices.empty() ? "" : ",") + item;
    }
  }
  if (!devices.empty()) settings.devices = devices;
  return settings;
}

Expected<std::vector<PartitionSize>> WritePlaced(OpenedGraph& opened,
                                                 const PlacerSettings& settings,
                                                 const KernelCatalog& kernels,
                                                 const PlacementFiles& files,
                                                 const MessageSink& sink) {
  std::vector<PartitionSize> sizes;
  if (files.graph.empty() && files.partitions.empty() && files.ledger.empty() &&
      files.dump_folder.empty() && !std::getenv("TF_DUMP_GRAPH_PREFIX"))
    return sizes;
  OptimizeOptions options;
  options.passes = {"placer"};
  options.sink = sink;
  settings.AddTo(&options.config);
  PassManager manager;
  std::unique_ptr<AtomicFile> ledger;
  if (!files.ledger.empty()) {
    ASSIGN_OR_RETURN(ledger, AtomicFile::Create(files.ledger));
    manager.Add(MakeLedgerInstrumentation(ledger->os(), options.onednn));
  }
  RETURN_IF_ERROR(AddDump({files.dump_folder, opened.name(), sink, /*stages_alone=*/true},
                          opened.module(), options, &manager));
  manager.Add(MakeVerifyInstrumentation());
  RETURN_IF_ERROR(RunPass(manager, opened, options));
  if (!files.graph.empty()) {
    RETURN_IF_ERROR(
        WriteGraph(opened.module(), files.graph, TopologicalOrder(opened.module().main)));
  }
  if (!files.partitions.empty()) {
    ASSIGN_OR_RETURN(sizes, Split(opened, kernels, files.partitions));
    options.passes = {"partition"};
    RETURN_IF_ERROR(RunPass(manager, opened, options));
  }
  if (ledger) RETURN_IF_ERROR(ledger->Commit());
  return sizes;
}

Error WriteLogged(OpenedGraph& opened, llvm::ArrayRef<std::string> logged, llvm::StringRef path) {
  Graph& graph = opened.module().main;
  for (Node node : graph.nodes()) {
    if (!logged[node.id()].empty()) graph.SetDevice(node.id(), logged[node.id()]);
  }
  return WriteGraph(opened.module(), path, TopologicalOrder(graph));
}

}  // namespace grapnel
