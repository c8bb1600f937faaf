#include "lib/place/partition.h"

#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "lib/io/write.h"
#include "lib/ir/device_name.h"
#include "lib/ir/import.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/wire.h"
#include "lib/place/control_loops.h"
#include "lib/place/memory_types.h"
#include "lib/support/file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace grapnel {
namespace {

// Field numbers of GraphDef and FunctionDefLibrary.
enum { kGraphVersions = 4, kGraphLibrary = 2, kLibraryFunction = 1 };

class Partitioner {
 public:
  Partitioner(Module& module, const KernelCatalog& kernels, const PartitionScope& scope)
      : module_(module), memory_(kernels), scope_(scope), graph_(&module) {}

  Expected<PartitionedGraph> Run() {
    FindNeeded();
    RETURN_IF_ERROR(CheckDevices());
    CopyGraph();
    ColocateControlFlow(&graph_);
    auto new_name = [this](llvm::StringRef prefix) { return NewName(prefix); };
    ASSIGN_OR_RETURN(pivots_, AddControlLoops(&graph_, new_name));
    pivots_.resize(graph_.end_id());
    RETURN_IF_ERROR(MakePartitions());
    place_.resize(graph_.end_id());
    PlanTransfers();
    for (NodeId id : TopologicalOrder(graph_)) AddReader(graph_.node(id));
    for (Part& part : parts_) {
      SetInputs(&part);
      result_.partitions.push_back({part.device, std::move(part.module)});
    }
    return std::move(result_);
  }

 private:
  // An input of a node of a partition. If `is_made`, `node` was made for the partition and is an id
  // in it; else `node` is an id in graph_, whose id in the partition is known only at the end.
  struct Input {
    bool is_made;
    NodeId node;
    int32_t port;
  };
  struct Part {
    std::string device, type;
    std::unique_ptr<Module> module;
    std::vector<std::vector<Input>> inputs;  // by node id in the partition
  };
  // kFed: the node must exist because its output is fed, but its inputs are not needed.
  enum Need : char { kNone, kFed, kWhole };

  void FindNeeded() {
    const Graph& main = module_.main;
    needed_.assign(main.end_id(), scope_.fetches.empty() ? kWhole : kNone);
    std::vector<NodeId> open;
    auto need = [&](Port port) {
      if (port.node == kNoNode || needed_[port.node] == kWhole) return;
      needed_[port.node] = llvm::is_contained(scope_.feeds, port) ? kFed : kWhole;
      if (needed_[port.node] == kWhole) open.push_back(port.node);
    };
    for (Port fetch : scope_.fetches) need(fetch);
    while (!open.empty()) {
      Node node = main.node(open.back());
      open.pop_back();
      for (Port port : node.inputs()) need(port);
    }
    if (scope_.fetches.empty()) {
      for (Port feed : scope_.feeds) needed_[feed.node] = kFed;
    }
  }

  Error CheckDevices() const {
    for (Node node : module_.main.nodes()) {
      if (needed_[node.id()] == kNone) continue;
      auto name = DeviceSpec::Parse(node.device());
      if (!name) return Annotate("node '" + node.name().str() + "'", name.takeError());
      if (name->IsFull()) continue;
      return MakeError(
          "node '{0}' has device '{1}', a full name was expected: place the graph first",
          node.name(), node.device());
    }
    return Error::success();
  }

  // Copies the needed nodes of the main graph to graph_, which may then be changed. Shares strings
  // and attribute bytes; ids are in topological order.
  void CopyGraph() {
    const Graph& main = module_.main;
    std::vector<NodeId> order = TopologicalOrder(main), copied(main.end_id(), kNoNode);
    for (NodeId id : order) {
      if (needed_[id] == kNone) continue;
      Node node = main.node(id);
      NodeId copy =
          graph_.AddImported(node.name_id(), node.op_id(), node.device_id(), main.Source(id));
      if (!main.HasAttrsOfSource(id)) graph_.CopyAttrs(copy, node);
      copied[id] = copy;
      origin_.push_back(id);
    }
    for (NodeId id : order) {
      if (needed_[id] != kWhole) continue;
      llvm::SmallVector<Port, 4> ports;
      for (Port port : main.node(id).inputs()) ports.push_back({copied[port.node], port.index});
      graph_.SetInputs(copied[id], ports);
    }
  }

  std::string NewName(llvm::StringRef prefix) {
    for (;;) {
      std::string name = (prefix + "/_" + llvm::Twine(next_name_++)).str();
      if (!graph_.Find(name) && made_names_.insert(name).second) return name;
    }
  }

  Error MakePartitions() {
    std::map<std::string, int> known;
    for (Node node : graph_.nodes()) known[node.device().str()];
    for (auto& [device, index] : known) {
      index = static_cast<int>(parts_.size());
      parts_.emplace_back();
      parts_.back().device = device;
      ASSIGN_OR_RETURN(DeviceSpec name, DeviceSpec::Parse(device));
      parts_.back().type = name.type.text().str();
    }
    part_of_.resize(graph_.end_id());
    std::vector<llvm::SetVector<const Function*>> reached(parts_.size());
    for (Node node : graph_.nodes()) {
      part_of_[node.id()] = known[node.device().str()];
      if (!module_.functions.empty()) AddCalled(node, &reached[part_of_[node.id()]]);
    }
    for (size_t i = 0; i < parts_.size(); ++i) {
      ASSIGN_OR_RETURN(parts_[i].module, MakeModule(std::move(reached[i])));
    }
    return Error::success();
  }

  void AddCalled(const Node& node, llvm::SetVector<const Function*>* reached) const {
    for (llvm::StringRef name : CalledFunctions(node)) {
      if (const Function* function = module_.FindFunction(name)) reached->insert(function);
    }
  }

  // Returns a module with an empty main graph, the graph's versions, and the functions that
  // `reached` reaches, in the library's order.
  Expected<std::unique_ptr<Module>> MakeModule(llvm::SetVector<const Function*> reached) const {
    for (size_t i = 0; i < reached.size(); ++i) {
      for (Node node : reached[i]->body.nodes()) AddCalled(node, &reached);
    }
    std::string library, bytes;
    for (const auto& function : module_.functions) {
      if (reached.contains(function.get()))
        AppendBytesField(&library, kLibraryFunction, ExportFunctionDef(*function));
    }
    library += module_.other_library_fields;
    if (!library.empty()) AppendBytesField(&bytes, kGraphLibrary, library);
    if (module_.has_versions) AppendBytesField(&bytes, kGraphVersions, module_.versions);
    auto module = std::make_unique<Module>();
    if (!bytes.empty()) {
      auto file = FileBytes::FromString(bytes, "partition");
      ASSIGN_OR_RETURN(module, ImportGraphDef(file, file->bytes()));
    }
    module->sources.insert(module->sources.end(), module_.sources.begin(), module_.sources.end());
    return module;
  }

  // --- Whether a port's value is in the host's memory.
  bool IsOnHost(const Node& node, int port, bool is_input) {
    const std::string& type = parts_[part_of_[node.id()]].type;
    return is_input ? memory_.IsInputOnHost(node, port, type)
                    : memory_.IsOutputOnHost(node, port, type);
  }

  // True if the edge connects a device's own memory and the host's memory.
  bool CrossesMemory(const Node& source, const Node& reader, Port port, int slot) {
    if (port.IsControl() || parts_[part_of_[reader.id()]].type == "CPU") return false;
    return IsOnHost(source, port.index, false) != IsOnHost(reader, slot, true);
  }

  // --- Nodes of a partition.
  NodeId AddTo(int part, const std::string& name, llvm::StringRef op) {
    Part& to = parts_[part];
    NodeId id = to.module->main.AddNode(name, op, to.device);
    to.inputs.emplace_back();
    return id;
  }
  void SetAttr(int part, NodeId id, llvm::StringRef key, llvm::StringRef value) {
    parts_[part].module->main.SetAttr(id, key, value);
  }

  // Copies the node. If its attributes are in the file's bytes, refers to these bytes.
  NodeId CopyTo(int part, const Node& node) {
    Part& to = parts_[part];
    StringTable& strings = to.module->strings;
    Graph& main = to.module->main;
    NodeId id = main.AddImported(strings.Intern(node.name()), strings.Intern(node.op()),
                                 kEmptyString, graph_.Source(node.id()));
    main.SetDevice(id, to.device);
    if (!graph_.HasAttrsOfSource(node.id())) {
      for (const auto& [key, value] : main.node(id).Attrs()) main.RemoveAttr(id, key);
      for (const auto& [key, value] : node.Attrs()) main.SetAttr(id, key, value.bytes());
    }
    to.inputs.emplace_back();
    return id;
  }

  // A value, or a control dependency, that is sent to another device or memory.
  struct Transfer {
    Node source, reader;  // the first of the readers
    Port port;
    int slot;       // of the first reader
    DataType type;  // of the sent value
    bool is_reference;
    // Names of the tensor and of the nodes to add; `dummy` and `end` only for a control edge.
    std::string tensor_name, dummy, send, recv, end;
    NodeId pivot = kNoNode;  // the Merge that starts the _Recv in each iteration
    NodeId read = kNoNode;   // the node in the readers' partition that they read, once made
  };

  // Plans the values to send, in the file's order of readers, which is TensorFlow's.
  void PlanTransfers() {
    std::vector<NodeId> readers(origin_.size());
    for (NodeId id = 0; id < readers.size(); ++id) readers[id] = id;
    llvm::sort(readers, [&](NodeId a, NodeId b) { return origin_[a] < origin_[b]; });
    for (NodeId id = readers.size(); id < graph_.end_id(); ++id) readers.push_back(id);
    for (NodeId id : readers) {
      Node reader = graph_.node(id);
      int slot = -1;
      for (Port port : reader.inputs()) {
        ++slot;
        Node source = graph_.node(port.node);
        bool stays =
            part_of_[port.node] == part_of_[id] && !CrossesMemory(source, reader, port, slot);
        if (!stays) PlanTransfer(source, reader, port, slot);
        ++num_edges_;
      }
    }
  }

  void PlanTransfer(const Node& source, const Node& reader, Port port, int slot) {
    int part = part_of_[reader.id()];
    bool on_host =
        parts_[part].type == "CPU" || (!port.IsControl() && IsOnHost(reader, slot, true));
    auto key = std::make_tuple(source.id(), port.index, part, on_host);
    auto there = known_.find(key);
    if (there != known_.end()) {
      crossing_of_[{reader.id(), slot}] = there->second;
      return;
    }
    size_t index = crossings_.size();
    crossings_.emplace_back();
    Transfer& crossing = crossings_.back();
    crossing.source = source;
    crossing.reader = reader;
    crossing.port = port;
    crossing.slot = slot;
    crossing.type = port.IsControl() ? proto::DT_FLOAT : BaseType(TypeOfPort(graph_, port));
    crossing.is_reference = IsReference(port);
    crossing.tensor_name = "edge_" + std::to_string(num_edges_) + "_" + source.name().str();
    if (port.IsControl()) crossing.dummy = NewName((source.name() + "/ctrl").str());
    crossing.send = NewName(source.name());
    crossing.recv = NewName(source.name());
    if (port.IsControl()) crossing.end = NewName(source.name());
    LoopPivot& pivot = pivots_[reader.id()];
    if (part_of_[source.id()] != part && pivot.edges > 0) {
      --pivot.edges;
      crossing.pivot = pivot.merge;
    }
    // A reference is sent separately to each reader: its value may change in between.
    if (!crossing.is_reference) known_[key] = index;
    crossing_of_[{reader.id(), slot}] = index;
  }

  void SetTransferAttrs(int part, NodeId id, const Transfer& crossing) {
    const std::string& from = parts_[part_of_[crossing.source.id()]].device;
    const std::string& to = parts_[part_of_[crossing.reader.id()]].device;
    SetAttr(part, id, "_dst", attr::String(crossing.reader.name()));
    SetAttr(part, id, "_src", attr::String(crossing.source.name()));
    SetAttr(part, id, "client_terminated", attr::Bool(false));
    SetAttr(part, id, "recv_device", attr::String(to));
    SetAttr(part, id, "send_device", attr::String(from));
    SetAttr(part, id, "send_device_incarnation", attr::Int(1));
    SetAttr(part, id, "tensor_name", attr::String(crossing.tensor_name));
  }

  NodeId AddSend(const Transfer& crossing) {
    int part = part_of_[crossing.source.id()];
    Input sent = {false, crossing.source.id(), crossing.port.index};
    if (crossing.port.IsControl()) {
      NodeId dummy = AddTo(part, crossing.dummy, "Const");
      SetAttr(part, dummy, "dtype", attr::Type(proto::DT_FLOAT));
      SetAttr(part, dummy, "value",
              attr::Tensor(Literal::Make(proto::DT_FLOAT, {0}, "").ToTensorProto()));
      parts_[part].inputs[dummy].push_back(sent);
      sent = {true, dummy, 0};
    }
    bool on_host =
        !crossing.port.IsControl() && IsOnHost(crossing.source, crossing.port.index, false);
    NodeId send = AddTo(part, crossing.send, on_host ? "_HostSend" : "_Send");
    SetAttr(part, send, "T", attr::Type(crossing.type));
    SetTransferAttrs(part, send, crossing);
    parts_[part].inputs[send].push_back(sent);
    return send;
  }

  NodeId AddRecv(const Transfer& crossing) {
    int part = part_of_[crossing.reader.id()];
    bool on_host = !crossing.port.IsControl() && IsOnHost(crossing.reader, crossing.slot, true);
    NodeId recv = AddTo(part, crossing.recv, on_host ? "_HostRecv" : "_Recv");
    SetAttr(part, recv, "tensor_type", attr::Type(crossing.type));
    SetTransferAttrs(part, recv, crossing);
    return recv;
  }

  void MakeTransfer(Transfer* crossing, std::vector<NodeId>* reference_recvs) {
    int from = part_of_[crossing->source.id()], to = part_of_[crossing->reader.id()];
    NodeId send = AddSend(*crossing), recv = AddRecv(*crossing);
    crossing->read = recv;
    if (crossing->port.IsControl()) {
      crossing->read = AddTo(to, crossing->end, "Identity");
      SetAttr(to, crossing->read, "T", attr::Type(proto::DT_FLOAT));
      parts_[to].inputs[crossing->read].push_back({true, recv, 0});
    }
    if (from == to) {
      parts_[to].inputs[recv].push_back({true, send, kControlPort});
    } else if (crossing->pivot != kNoNode) {
      parts_[to].inputs[recv].push_back({false, crossing->pivot, kControlPort});
    }
    if (crossing->is_reference) reference_recvs->push_back(recv);
    NodeId source = crossing->source.id();
    result_.transfers.push_back({crossing->tensor_name, from, to,
                                 source < origin_.size() ? origin_[source] : kNoNode,
                                 crossing->port.index, crossing->send, crossing->recv});
  }

  // --- Adds one reader with its inputs; adds the _Send and _Recv of values from other partitions
  // before it.
  void AddReader(const Node& reader) {
    int part = part_of_[reader.id()];
    std::vector<Input> inputs, waited;  // `waited`: nodes that a _Recv of a reference waits for
    std::vector<NodeId> reference_recvs;
    int slot = -1;
    for (Port port : reader.inputs()) {
      Input input = {false, port.node, port.index};
      auto crossing = crossing_of_.find({reader.id(), ++slot});
      if (crossing != crossing_of_.end()) {
        Transfer& sent = crossings_[crossing->second];
        if (sent.read == kNoNode) MakeTransfer(&sent, &reference_recvs);
        input = {true, sent.read, port.IsControl() ? kControlPort : 0};
      }
      inputs.push_back(input);
      if (!IsReference(port)) waited.push_back({input.is_made, input.node, kControlPort});
    }
    for (NodeId recv : reference_recvs) {
      for (const Input& input : waited) parts_[part].inputs[recv].push_back(input);
    }
    const LoopPivot& pivot = pivots_[reader.id()];
    if (pivot.edges > 0) inputs.push_back({false, pivot.merge, kControlPort});
    place_[reader.id()] = CopyTo(part, reader);
    parts_[part].inputs.back() = std::move(inputs);
  }

  bool IsReference(Port port) const {
    return !port.IsControl() && IsRefType(TypeOfPort(graph_, port));
  }

  void SetInputs(Part* part) {
    Graph& graph = part->module->main;
    for (NodeId id = 0; id < graph.end_id(); ++id) {
      llvm::SmallVector<Port, 4> data, controls;
      for (const Input& input : part->inputs[id]) {
        Port port = {input.is_made ? input.node : place_[input.node], input.port};
        if (!port.IsControl()) {
          data.push_back(port);
        } else if (!llvm::is_contained(controls, port)) {
          controls.push_back(port);
        }
      }
      data.append(controls.begin(), controls.end());
      graph.SetInputs(id, data);
    }
  }

  const Module& module_;
  MemoryTypes memory_;
  const PartitionScope& scope_;
  std::vector<char> needed_;    // Need, by id in the main graph
  Graph graph_;                 // the main graph with nodes added by partitioning
  std::vector<NodeId> origin_;  // id in the main graph, by id in graph_; ends before added nodes
  std::vector<LoopPivot> pivots_;
  std::vector<Part> parts_;
  std::vector<int> part_of_;   // by id in graph_
  std::vector<NodeId> place_;  // id in its partition, by id in graph_
  std::deque<Transfer> crossings_;
  // Index in crossings_, by source node, its output, the readers' partition, and whether they read
  // it in the host's memory.
  std::map<std::tuple<NodeId, int32_t, int, bool>, size_t> known_;
  llvm::DenseMap<std::pair<NodeId, int>, size_t> crossing_of_;  // by reader and slot
  std::set<std::string> made_names_;
  int next_name_ = 0, num_edges_ = 0;
  PartitionedGraph result_;
};

}  // namespace

Expected<PartitionedGraph> PartitionByDevice(Module& module, const KernelCatalog& kernels,
                                             const PartitionScope& scope) {
  return Partitioner(module, kernels, scope).Run();
}

Expected<std::vector<std::string>> WritePartitions(const PartitionedGraph& graph,
                                                   llvm::StringRef folder, llvm::StringRef name,
                                                   bool binary) {
  RETURN_IF_ERROR(CreateDirectories(folder));
  std::vector<std::string> files;
  for (const Partition& part : graph.partitions) {
    files.push_back(
        FileNamePart(
            (name + "_partition_" + part.device + ".0000.main.before_partition_passes").str()) +
        (binary ? ".pb" : ".pbtxt"));
    RETURN_IF_ERROR(WriteGraph(*part.module, JoinPath(folder, files.back()),
                               TopologicalOrder(part.module->main)));
  }
  return files;
}

}  // namespace grapnel
