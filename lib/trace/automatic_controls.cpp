// Makes stateful ops run in program order, and run even if no node reads them: tf.function's
// automatic control dependencies (tensorflow/python/framework/auto_control_deps.py), without the
// parts for v1 control flow and collectives.

#include "lib/ir/node_types.h"
#include "lib/trace/body.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// True for ops that are stateful by definition, but that automatic control dependencies do not
// order.
bool IsUnordered(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("CollectiveGather", "CollectiveReduce", "CollectiveBcastSend", "CollectiveBcastSendV2",
             true)
      .Cases("CollectiveBcastRecv", "CollectiveBcastRecvV2", "NcclAllReduce", "Recv", true)
      .Cases("CollectiveInitializeCommunicator", "CollectiveAssignGroupV2", true)
      .Cases("RandomUniform", "RandomUniformInt", "RandomStandardNormal",
             "ParameterizedTruncatedNormal", true)
      .Cases("TruncatedNormal", "RandomShuffle", "Multinomial", "RandomGamma", "RandomGammaGrad",
             true)
      .Cases("RandomPoisson", "RandomPoissonV2", "RestoreV2", "SaveV2", true)
      .Cases("CudnnRNN", "CudnnRNNBackprop", "CudnnRNNV2", "CudnnRNNV3", true)
      .Cases("CudnnRNNBackpropV2", "CudnnRNNBackpropV3", true)
      .Case("VarHandleOp", true)  // an argument in a tf.function
      .Default(false);
}

bool ReadsOnly(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("ReadVariableOp", "VariableShape", "ResourceGather", "ResourceGatherNd", true)
      .Default(false);
}

bool ReadsDataset(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("DatasetToSingleElement", "DatasetToTFRecord", "ReduceDataset", true)
      .Default(false);
}

// True if input `i` is a resource that the node, or a function that it calls, only reads.
bool ReadsOnly(const Node& node, int i) {
  if (ReadsOnly(node.op())) return true;
  std::optional<AttrView> attr = node.FindAttr("_read_only_resource_inputs");
  auto inputs = attr ? attr->AsInts() : std::nullopt;
  return inputs && llvm::is_contained(*inputs, i);
}

// The last write of one resource and the reads since then. Reads between two writes may happen in
// any order.
struct Resource {
  NodeId last_write = kNoNode;
  std::vector<NodeId> reads;
};

class Orderer {
 public:
  explicit Orderer(TraceBody& body) : body_(body), graph_(*body.graph) {}

  std::vector<NodeId> Run() {
    FindUsed();
    for (NodeId id = 0, end = graph_.end_id(); id < end; ++id) {
      if (graph_.IsAlive(id) && (id >= body_.first_traced || used_[id])) Visit(graph_.node(id));
    }
    return std::move(must_run_);
  }

 private:
  // Finds the imported nodes that traced nodes depend on. Only these count: other nodes of the
  // imported graph, such as the ops that restore a SavedModel, need not run.
  void FindUsed() {
    used_.assign(body_.first_traced, false);
    if (used_.empty()) return;
    std::vector<NodeId> open;
    for (NodeId id = body_.first_traced, end = graph_.end_id(); id < end; ++id) {
      if (graph_.IsAlive(id)) open.push_back(id);
    }
    while (!open.empty()) {
      Node node = graph_.node(open.back());
      open.pop_back();
      for (Port port : node.inputs()) {
        if (port.node >= body_.first_traced || used_[port.node]) continue;
        used_[port.node] = true;
        open.push_back(port.node);
      }
    }
  }

  void Visit(const Node& node) {
    bool stateful = HasOrderedState(node);
    const bool is_traced = node.id() >= body_.first_traced;
    if (stateful && is_traced && (!ReadsOnly(node.op()) || node.HasDataUses()))
      must_run_.push_back(node.id());
    bool has_resources = UseInputs(node, node);
    if (ReadsDataset(node.op())) has_resources |= UseOfDatasets(node);
    // The control edges of an imported graph order its nodes already; this pass orders only the
    // nodes that the trace adds.
    if (!stateful || has_resources || !is_traced) return;
    if (last_ != kNoNode) graph_.AddControl(node.id(), last_);
    last_ = node.id();
  }

  bool HasOrderedState(const Node& node) {
    auto [it, added] = has_state_.try_emplace(node.op_id(), false);
    if (!added) return it->second;
    const OpInfo* info = DefinitionOf(node);
    return it->second = info && info->is_stateful && !IsUnordered(node.op());
  }

  // Records that `node` uses the resources among the inputs of `reader`, which is `node` itself or
  // a dataset that `node` runs.
  bool UseInputs(const Node& node, const Node& reader) {
    bool has_resources = false;
    for (int i = 0; i < reader.num_inputs(); ++i) {
      if (body_.shapes.TypeOf(reader.input(i)) != proto::DT_RESOURCE) continue;
      has_resources = true;
      Use(node, reader.input(i), ReadsOnly(reader, i));
    }
    return has_resources;
  }

  // An op that runs a dataset uses the resources of that dataset and of all datasets that it reads.
  bool UseOfDatasets(const Node& node) {
    bool has_resources = false;
    llvm::SetVector<NodeId> datasets;
    auto add = [&](const Node& reader) {
      for (int i = 0; i < reader.num_inputs(); ++i) {
        if (body_.shapes.TypeOf(reader.input(i)) == proto::DT_VARIANT)
          datasets.insert(reader.input(i).node);
      }
    };
    add(node);
    for (size_t i = 0; i < datasets.size(); ++i) {
      Node dataset = graph_.node(datasets[i]);
      has_resources |= UseInputs(node, dataset);
      add(dataset);
    }
    return has_resources;
  }

  void Use(const Node& node, Port port, bool reads_only) {
    Resource& resource = resources_[{port.node, port.index}];
    if (resource.last_write == node.id()) return;
    const bool is_traced = node.id() >= body_.first_traced;
    if (resource.last_write != kNoNode && is_traced)
      graph_.AddControl(node.id(), resource.last_write);
    if (reads_only) {
      resource.reads.push_back(node.id());
      return;
    }
    for (NodeId read : resource.reads) {
      if (read != node.id() && is_traced) graph_.AddControl(node.id(), read);
    }
    resource.reads.clear();
    resource.last_write = node.id();
  }

  TraceBody& body_;
  Graph& graph_;
  llvm::DenseMap<std::pair<NodeId, int32_t>, Resource> resources_;
  llvm::DenseMap<StringId, bool> has_state_;  // by op
  NodeId last_ = kNoNode;                     // the last stateful node without a resource input
  std::vector<NodeId> must_run_;
  std::vector<bool> used_;  // by id, for imported nodes
};

// Sorts the control inputs of each node from `first` on by name, as TensorFlow writes them.
void SortControls(Graph& graph, NodeId first) {
  for (NodeId id = first, end = graph.end_id(); id < end; ++id) {
    Node node = graph.node(id);
    if (node.num_controls() < 2) continue;
    llvm::SmallVector<Port, 4> ports = node.inputs();
    auto by_name = [&](Port a, Port b) {
      return graph.node(a.node).name() < graph.node(b.node).name();
    };
    std::sort(ports.begin() + node.num_inputs(), ports.end(), by_name);
    graph.SetInputs(node.id(), ports);
  }
}

}  // namespace

std::vector<bool> OnlyRead(const Graph& graph, llvm::ArrayRef<NodeId> resources) {
  llvm::DenseMap<NodeId, size_t> places;
  for (size_t i = 0; i < resources.size(); ++i) places[resources[i]] = i;
  std::vector<bool> only_read(resources.size(), true);
  for (Node node : graph.nodes()) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      auto place = places.find(node.input(i).node);
      if (place != places.end() && !ReadsOnly(node, i)) only_read[place->second] = false;
    }
  }
  return only_read;
}

void AddAutomaticControls(TraceBody& body, llvm::ArrayRef<NodeId> results) {
  body.must_run = Orderer(body).Run();
  if (!results.empty() && !body.must_run.empty()) {
    // One NoOp waits for all ops in must_run, and all results wait for the NoOp; otherwise each
    // pair would need an edge.
    const SourceLocation where = body.LineOf(results[0]);
    NodeId all = body.AddNode("NoOp", body.UniqueName("NoOp"), {}, where);
    for (NodeId id : body.must_run) body.graph->AddControl(all, id);
    for (NodeId id : results) body.graph->AddControl(id, all);
  }
  SortControls(*body.graph, body.first_traced);
}

}  // namespace grapnel
