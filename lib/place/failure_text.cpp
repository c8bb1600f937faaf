#include "lib/place/failure_text.h"

#include "lib/support/suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

std::string Quoted(const Node& node) { return ("'" + node.name() + "'").str(); }

std::string KernelLines(const KernelCatalog& kernels, const Node& node) {
  std::string lines;
  for (const KernelSummary& kernel : kernels.KernelsOf(node))
    lines += "  " + kernel.ToString() + "\n";
  return lines.empty() ? "  <no registered kernels>\n" : lines;
}

std::string AttrsText(const Node& node) {
  std::string text;
  for (const auto& [key, value] : node.Attrs()) {
    std::string shown = value.ToString();
    if (auto type = value.AsType()) shown = llvm::Twine("DT_", DataTypeName(*type).upper()).str();
    text += (text.empty() ? "" : ", ") + key.str() + "=" + shown;
  }
  return text;
}

// Fills the chain of a failure at an edge that could not be added: from the member with one of the
// conflicting requests, over the edge, to the member with the other request; without such a member,
// from or to the end of the edge.
void AddChain(const Colocation& groups, const ColocationEdge& edge, PlacementFailure* failure) {
  const DeviceSpec &a = groups.GroupOf(edge.a).requested, &b = groups.GroupOf(edge.b).requested;
  Colocation::Chain left = groups.NearestRequest(edge.a, b, /*wanted=*/false);
  Colocation::Chain right = groups.NearestRequest(edge.b, a, /*wanted=*/false);
  if (left.nodes.empty()) left.nodes = {edge.a};
  if (right.nodes.empty()) right.nodes = {edge.b};
  failure->nodes.assign(left.nodes.rbegin(), left.nodes.rend());
  failure->edges.assign(left.edges.rbegin(), left.edges.rend());
  failure->edges.push_back(edge);
  failure->nodes.insert(failure->nodes.end(), right.nodes.begin(), right.nodes.end());
  failure->edges.insert(failure->edges.end(), right.edges.begin(), right.edges.end());
}

std::string Ends(const Graph& graph, const PlacementFailure& failure) {
  return Quoted(graph.node(failure.nodes.front())) + " and " +
         Quoted(graph.node(failure.nodes.back()));
}

// A name that both nodes have in _class; empty if there is none.
std::string CommonClass(const Node& a, const Node& b) {
  auto specs = [](const Node& node) {
    auto attr = node.FindAttr("_class");
    auto strings = attr ? attr->AsStrings() : std::nullopt;
    return strings ? *strings : std::vector<llvm::StringRef>();
  };
  std::vector<llvm::StringRef> others = specs(b);
  for (llvm::StringRef spec : specs(a)) {
    if (llvm::is_contained(others, spec) && spec.consume_front("loc:@")) return spec.str();
  }
  return "";
}

// Advice to use soft placement; `what` says what that would do.
std::string TrySoft(const ColocationInput& input, const char* what) {
  return "or place without " + input.words.hard + ": soft placement " + what;
}

// Advice to add a CPU to the device list, if the list has none and a CPU would help; else empty.
std::string AddCpu(const ColocationInput& input, const Node& node) {
  bool has_cpu =
      llvm::any_of(input.devices.types(), [](DeviceWord type) { return type.text() == "CPU"; });
  if (has_cpu || !input.kernels.Has(node, "CPU")) return "";
  return "add a CPU to " + input.words.devices +
         " (cpu:1): there is one wherever TensorFlow runs, and " + Quoted(node) + " can be on it";
}

constexpr const char* kGivesUp = "drops the part of the name that conflicts";

}  // namespace

std::string ColocationEdgeText(const Graph& graph, const ColocationEdge& edge) {
  std::string a = Quoted(graph.node(edge.a)), b = Quoted(graph.node(edge.b));
  switch (edge.kind) {
    case ColocationEdge::kResource:
      return "a resource handle goes from " + a + " to " + b;
    case ColocationEdge::kReference:
      return "a reference to a variable goes from " + a + " to " + b;
    case ColocationEdge::kDataset:
      return "a dataset goes from " + a + " to " + b;
    case ColocationEdge::kFunction:
      return "the function that " + Quoted(graph.node(edge.label)) +
             " calls passes one handle to " + a + " and " + b;
    case ColocationEdge::kClass:
      break;
  }
  std::string name = graph.module().strings.Get(edge.label).str();
  if (graph.node(edge.b).name() == name) return a + " has _class loc:@" + name + ", which is " + b;
  if (graph.node(edge.a).name() == name) return b + " has _class loc:@" + name + ", which is " + a;
  if (name.empty()) name = CommonClass(graph.node(edge.a), graph.node(edge.b));
  return a + " and " + b + " both have _class loc:@" + name;
}

PlacementFailure NoKernel(const ColocationInput& input, const Node& node) {
  std::vector<std::string> types;
  for (DeviceWord type : input.devices.types()) types.push_back(type.text().str());
  std::sort(types.begin(), types.end());
  std::string name = node.name().str();
  PlacementFailure failure;
  failure.message = "No OpKernel was registered to support Op '" + node.op().str() +
                    "' used by {{node " + name + "}} with these attrs: [" + AttrsText(node) +
                    "]\nRegistered devices: [" + llvm::join(types, ", ") +
                    "]\nRegistered kernels:\n" + KernelLines(input.kernels, node) + "\n\t [[" +
                    name + "]]";
  failure.nodes = {node.id()};
  for (const std::string& type : types) {
    std::vector<std::string> near = NearNames(type, [](NameSink take) {
      take("CPU");
      take("GPU");
    });
    // TPU, XPU and NPU are real device types, so do not treat them as typos of GPU or CPU.
    bool is_a_device =
        type.size() == 3 && llvm::StringRef(type).take_back(2).equals_insensitive("pu");
    if (near.empty() || is_a_device) continue;
    failure.advice.push_back("no kernel is for devices of type '" + type + "': did you mean " +
                             near[0] + " in " + input.words.devices + "?");
  }
  if (input.kernels.KernelsOf(node).empty()) {
    failure.advice.push_back(input.kernels.name() + " has no kernel for op " + node.op().str() +
                             " on any device: replace the op");
  } else if (std::string cpu = AddCpu(input, node); !cpu.empty()) {
    failure.advice.push_back(std::move(cpu));
  } else {
    failure.advice.push_back("change the dtypes of " + Quoted(node) +
                             " to those of a kernel above, or give a device of its type");
  }
  return failure;
}

PlacementFailure MalformedDevice(const Node& node, const std::string& error) {
  PlacementFailure failure;
  failure.message = "Malformed device specification '" + node.device().str() +
                    "' in node: " + Quoted(node) + "\n\t [[{{node " + node.name().str() + "}}]]";
  failure.nodes = {node.id()};
  failure.advice = {"correct the device of " + Quoted(node) + ": " + error};
  return failure;
}

PlacementFailure UnknownAssignedDevice(const ColocationInput& input, const Node& node) {
  PlacementFailure failure;
  failure.message = "Assigned device '" + node.device().str() +
                    "' does not match any device. Here are the devices available: [" +
                    input.devices.List() + "]";
  failure.nodes = {node.id()};
  failure.advice = {Quoted(node) + " is an argument or result that the caller has put on " +
                    node.device().str() + ": add that device to " + input.words.devices};
  return failure;
}

PlacementFailure AssignedWithoutKernel(const Node& node) {
  PlacementFailure failure;
  failure.message = "Assigned device '" + node.device().str() +
                    "' does not have registered OpKernel support for " + node.op().str();
  failure.nodes = {node.id()};
  failure.advice = {"the caller has to pass " + Quoted(node) + " on a device of another type"};
  return failure;
}

PlacementFailure EdgeConflict(const Colocation& groups, const ColocationInput& input,
                              const Node& src, const Node& dst, ColocationEdge::Kind kind,
                              const DeviceSpec& from, const DeviceSpec& to, bool assigned) {
  PlacementFailure failure;
  auto debug = [](const Node& node) {
    return llvm::formatv("name='{0}' (op='{1}')", node.name(), node.op()).str();
  };
  failure.message =
      llvm::formatv(
          "Cannot place the graph because a reference or resource edge connects "
          "colocation groups with incompatible {0} devices: {1} vs {2}. The edge src node "
          "is {3}, and the dst node is {4}.",
          assigned ? "assigned" : "resource", from.ToString(), to.ToString(), debug(src),
          debug(dst))
          .str();
  AddChain(groups, {kind, src.id(), dst.id(), 0}, &failure);
  failure.advice = {Quoted(dst) + " would need " + from.ToString() + " and " + to.ToString() +
                    " at once, and soft placement does not move state: give " +
                    Ends(input.graph, failure) + " the same device"};
  if (dst.op().contains("Apply")) {
    failure.advice.push_back(
        "an optimizer's slots belong beside their variable: make them under "
        "tf.device(variable.device), not under the device of the step");
  } else {
    failure.advice.push_back("or pass one of them as a plain tensor (a copy), not as a handle");
  }
  return failure;
}

PlacementFailure ColocationConflict(const Colocation& groups, const ColocationInput& input,
                                    const ColocationEdge& edge, std::string error,
                                    llvm::StringRef at) {
  PlacementFailure failure;
  failure.message = std::move(error) + "\n\t [[{{node " + at.str() + "}}]]";
  AddChain(groups, edge, &failure);
  failure.advice = {"give " + Ends(input.graph, failure) +
                    " the same device, or remove one of the edges between them"};
  if (!input.soft) failure.advice.push_back(TrySoft(input, kGivesUp));
  return failure;
}

Error NoCommonType(const Colocation& groups, const ColocationInput& input,
                   const ColocationEdge& edge) {
  std::string text;
  for (NodeId id : {edge.a, edge.b}) {
    text += llvm::formatv("\n{0} and what is colocated with it can be on: {1}",
                          Quoted(input.graph.node(id)),
                          TypesText(input.devices, groups.GroupOf(id).types.bits))
                .str();
  }
  return MakeError(
      "Cannot colocate nodes {{{{colocation_node {0}}} and {{{{colocation_node {1}}} because "
      "no device type supports both of those nodes and the other nodes colocated with "
      "them.{2}",
      input.graph.node(edge.a).name(), input.graph.node(edge.b).name(), text);
}

PlacementFailure CallConflict(const Colocation& groups, const ColocationInput& input, NodeId node,
                              const Node& call, std::string error) {
  PlacementFailure failure;
  failure.message = std::move(error);
  Colocation::Chain chain =
      groups.NearestRequest(node, groups.GroupOf(node).requested, /*wanted=*/true);
  failure.nodes.assign(chain.nodes.rbegin(), chain.nodes.rend());
  failure.edges.assign(chain.edges.rbegin(), chain.edges.rend());
  if (failure.nodes.empty()) failure.nodes = {node};
  failure.edges.push_back({ColocationEdge::kFunction, node, call.id(), call.id()});
  failure.nodes.push_back(call.id());
  failure.advice = {"the handle that " + Quoted(call) +
                    " passes lives on another device inside the function than " +
                    Quoted(input.graph.node(failure.nodes.front())) +
                    " asks for: change the request here, or the one in the function's body"};
  if (!input.soft) failure.advice.push_back(TrySoft(input, kGivesUp));
  return failure;
}

PlacementFailure RecursiveCall(const Node& call, llvm::StringRef function) {
  PlacementFailure failure;
  failure.message = ("function '" + function + "' calls itself through " + Quoted(call) +
                     " and passes a handle on: the handle's device is unknown")
                        .str();
  failure.nodes = {call.id()};
  failure.advice = {"return no handle from a function that calls itself"};
  return failure;
}

PlacementFailure InFunction(const Node& call, llvm::StringRef function,
                            const PlacementFailure& inside) {
  PlacementFailure failure;
  failure.message = inside.message;
  failure.nodes = {call.id()};
  failure.advice = {("the conflict is in the body of function '" + function + "', which " +
                     Quoted(call) + " calls")
                        .str()};
  failure.advice.insert(failure.advice.end(), inside.advice.begin(), inside.advice.end());
  return failure;
}

namespace {

// Reports that the node's own request cannot be met: the device does not exist, or has no kernel
// for the node.
void ReportRequest(const ColocationInput& input, const Node& node, const DeviceSpec& own,
                   uint32_t types, std::string* why, PlacementFailure* failure) {
  std::string device = node.device().str();
  if (!input.devices.Find(own)) {
    *why = llvm::formatv(
               "{{{{node {0}}} was explicitly assigned to {1} but available devices are "
               "[ {2} ]. Make sure the device specification refers to a valid device.",
               node.name(), device, input.devices.List())
               .str();
    DeviceSpec any_id, any_type = own;
    any_id.type = own.type;
    any_type.type = DeviceWord();
    any_type.id = DeviceSpec::kOpen;
    if (own.type.text() == "GPU" && !input.devices.Find(any_id))
      *why += " The requested device appears to be a GPU, but CUDA is not enabled.";
    failure->advice = {"ask for a device that is there, or add " + own.ToString() + " to " +
                       input.words.devices};
    if (!input.soft && input.devices.Find(any_type)) {
      failure->advice.push_back(TrySoft(input, "takes another device of the task"));
    }
    return;
  }
  *why = llvm::formatv(
             "Could not satisfy explicit device specification '{0}' because no supported "
             "kernel for {1} devices is available.\nOp: {2}\nNode attrs: {3}\n"
             "Registered kernels:\n{4}",
             device, own.type.text(), node.op(), AttrsText(node), KernelLines(input.kernels, node))
             .str();
  failure->advice = {"remove the request of " + Quoted(node) +
                     ": it, with the nodes colocated with it, can be on " +
                     TypesText(input.devices, types)};
  if (!input.soft) failure->advice.push_back("or place without " + input.words.hard);
}

}  // namespace

PlacementFailure NoDevice(const Colocation& groups, const ColocationInput& input,
                          const Node& node) {
  const ColocationGroup& group = groups.GroupOf(node.id());
  const DeviceSpec& own = groups.RequestOf(node.id());
  PlacementFailure failure;
  std::string why;
  if (group.requested.IsOpen()) {
    why = "Node had no OpKernel registered to support this operation: Operation was " +
          node.op().str();
    failure.advice = {"give a device of type " + TypesText(input.devices, group.types.bits)};
  } else if (own == group.requested) {
    ReportRequest(input, node, own, group.types.bits, &why, &failure);
  } else {
    why = llvm::formatv(
              "Could not satisfy explicit device specification '{0}' because the node "
              "{{{{colocation_node {1}}} was colocated with a group of nodes that required "
              "incompatible device '{2}'. All available devices [{3}].",
              node.device(), node.name(), group.requested.ToString(), input.devices.List())
              .str();
    failure.advice = {"list its members' requests and kernels: " + input.words.explain + " " +
                      node.name().str()};
  }
  std::string cpu = input.soft ? AddCpu(input, node) : "";
  if (!cpu.empty()) failure.advice.insert(failure.advice.begin(), std::move(cpu));
  failure.message =
      llvm::formatv("Cannot assign a device for operation {0}: {1}\n\t [[{0}]]", node.name(), why)
          .str();
  Colocation::Chain chain = groups.NearestRequest(node.id(), group.requested, /*wanted=*/true);
  failure.nodes = chain.nodes.empty() ? std::vector<NodeId>{node.id()} : chain.nodes;
  failure.edges = chain.edges;
  return failure;
}

}  // namespace grapnel
