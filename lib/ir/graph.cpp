#include "lib/ir/graph.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <queue>

#include "lib/ir/module.h"
#include "lib/support/memory.h"
#include "llvm/ADT/BitVector.h"

namespace grapnel {
llvm::StringRef Node::DanglingText(int slot) const {
  const NodeTable::Edge& edge = table_->nodes_[id_].edges[slot];
  return edge.node == kNoNode ? table_->strings_.Get(edge.use) : llvm::StringRef();
}

llvm::SmallVector<Use, 4> Node::UsesOf(int port) const {
  llvm::SmallVector<Use, 4> result;
  for (const Use& use : uses()) {
    if (table_->nodes_[use.node].edges[use.slot].port == port) result.push_back(use);
  }
  return result;
}

Graph::Graph(Module* module, const Function* function)
    : NodeTable(module->strings),
      module_(module),
      function_(function),
      version_(FirstVersion()),
      changes_from_(version_) {}

uint64_t Graph::FirstVersion() {
  static std::atomic<uint64_t> graphs{0};
  return graphs.fetch_add(1, std::memory_order_relaxed) << kBitsOfChanges;
}

Node Graph::Find(llvm::StringRef name) const {
  StringId id = module_->strings.Find(name);
  return id == kNoString ? Node(this, kNoNode) : Find(id);
}

Node Graph::Find(StringId name) const {
  auto it = by_name_.find(name);
  return Node(this, it == by_name_.end() ? kNoNode : it->second);
}

void Graph::Reserve(size_t nodes) {
  // Reserves a quarter more, for nodes that optimizers add: they then do not cause all nodes to be
  // copied. Reserved memory that is not written costs nothing.
  size_t some_more = nodes + nodes / 4;
  nodes_.reserve(some_more);
  texts_.reserve(some_more);
  alive_.reserve(some_more);
  UseHugePages(nodes_.data() + nodes_.size(), (nodes - nodes_.size()) * sizeof(Data));
  UseHugePages(texts_.data() + texts_.size(), (nodes - texts_.size()) * sizeof(Text));
  by_name_.reserve(nodes);
}

void Graph::CopyNodes(const Graph& original,
                      llvm::function_ref<llvm::StringRef(llvm::StringRef)> share) {
  ++version_;
  nodes_ = original.nodes_;
  texts_ = original.texts_;
  alive_ = original.alive_;
  attrs_ = original.attrs_;
  by_name_ = original.by_name_;
  num_alive_ = original.num_alive_;
  ForgetChanges();
  attr_keys_.reset();
  for (Text& text : texts_) {
    if (text.source) text.source = share({text.source, text.source_size}).data();
  }
  for (std::vector<Attribute>& attrs : attrs_) {
    for (Attribute& attr : attrs) attr.value = share(attr.value);
  }
}

NodeId Graph::AddNode(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device) {
  StringTable& strings = module_->strings;
  StringId name_id = strings.Intern(name);
  NodeId id = Append(name_id, strings.Intern(op), strings.Intern(device), {}, nullptr, 0);
  assert(by_name_[name_id] == id && "the name is taken");
  Mark(id);
  return id;
}

NodeId Graph::AddImported(StringId name, StringId op, StringId device, llvm::StringRef source,
                          bool* name_taken, size_t attrs_at) {
  NodeId id = Append(name, op, device, source, name_taken, attrs_at);
  ForgetChanges();
  attr_keys_.reset();
  return id;
}

NodeId Graph::Append(StringId name, StringId op, StringId device, llvm::StringRef source,
                     bool* name_taken, size_t attrs_at) {
  ++version_;
  NodeId id = nodes_.size();
  nodes_.emplace_back().op = op;
  alive_.push_back(1);
  Text& text = texts_.emplace_back();
  text.name = name;
  text.device = device;
  text.source = source.data();
  text.source_size = source.size();
  text.attrs_at = attrs_at;
  text.version = version_;
  bool is_new = by_name_.try_emplace(name, id).second;
  if (name_taken) *name_taken = !is_new;
  ++num_alive_;
  return id;
}

void Graph::AddChange(NodeId id) {
  constexpr size_t kLeast = 256;
  if (changes_.size() >= kLeast + nodes_.size() / 4) ForgetChanges();
  changes_.push_back({version_, id});
}

void Graph::ForgetChanges() {
  changes_.clear();
  changes_from_ = version_;
}

std::vector<NodeId> Graph::ChangedSince(uint64_t since) const {
  std::vector<NodeId> changed;
  if (since < changes_from_) {
    for (Node node : nodes()) {
      if (VersionOf(node.id()) > since) changed.push_back(node.id());
    }
    return changed;
  }
  auto first = std::partition_point(changes_.begin(), changes_.end(),
                                    [&](const Change& change) { return change.version <= since; });
  llvm::BitVector is_changed(nodes_.size());
  for (auto at = first; at != changes_.end(); ++at) is_changed[at->node] = alive_[at->node];
  for (NodeId id : is_changed.set_bits()) changed.push_back(id);
  return changed;
}

Graph::Edge Graph::MakeEdge(NodeId reader, uint32_t slot, Port port) {
  // A port of a removed node is a bug of the caller. The input becomes a dangling one, which the
  // verifier reports.
  if (!IsAlive(port.node)) {
    StringId text = port.node < texts_.size() ? texts_[port.node].name : kEmptyString;
    return {kNoNode, port.index, text};
  }
  std::vector<Data>& nodes = nodes_;
  uint32_t use = nodes[port.node].uses.size();
  nodes[port.node].uses.push_back({reader, slot});
  return {port.node, port.index, use};
}

// Removes the edge from the uses of the node that it reads; the last use moves into its place.
void Graph::DropUse(const Edge& edge) {
  if (edge.node == kNoNode) return;
  auto& uses = nodes_[edge.node].uses;
  uint32_t last = uses.size() - 1;
  if (edge.use != last) {
    uses[edge.use] = uses[last];
    nodes_[uses[edge.use].node].edges[uses[edge.use].slot].use = edge.use;
  }
  uses.pop_back();
}

void Graph::RemoveEdge(NodeId id, uint32_t slot) {
  ++version_;
  Data& data = nodes_[id];
  DropUse(data.edges[slot]);
  if (slot < data.num_data) --data.num_data;
  for (uint32_t i = slot; i + 1 < data.edges.size(); ++i) {
    data.edges[i] = data.edges[i + 1];
    if (data.edges[i].node != kNoNode) nodes_[data.edges[i].node].uses[data.edges[i].use].slot = i;
  }
  data.edges.pop_back();
  Mark(id);
}

void Graph::RemoveNode(NodeId id) {
  ++version_;
  if (!IsAlive(id)) return;
  Data& data = nodes_[id];
  // A caller must remove a node's readers first. A reader that remains gets a dangling input, which
  // the verifier reports.
  for (const Use& use : data.uses) {
    Edge& edge = nodes_[use.node].edges[use.slot];
    edge = {kNoNode, edge.port, texts_[id].name};
    Mark(use.node);
  }
  data.uses.clear();
  for (const Edge& edge : data.edges) DropUse(edge);
  data.edges.clear();
  data.num_data = 0;
  alive_[id] = 0;
  auto it = by_name_.find(texts_[id].name);
  if (it != by_name_.end() && it->second == id) by_name_.erase(it);
  --num_alive_;
}

void Graph::SetOp(NodeId id, llvm::StringRef op) {
  ++version_;
  // Copies the attributes out of the source NodeDef, because that belongs to the old op.
  if (!SharesAttrs(id)) OwnAttrs(id);
  nodes_[id].op = module_->strings.Intern(op);
  Mark(id);
  // In a function's body, NodeDefs name inputs by output arguments of the op, and the new op may
  // have other names. So the node's readers change too.
  if (this == &module_->main) return;
  for (const Use& use : nodes_[id].uses) Mark(use.node);
}

void Graph::SetDevice(NodeId id, llvm::StringRef device) {
  ++version_;
  texts_[id].device = module_->strings.Intern(device);
  Mark(id);
}

void Graph::Rename(NodeId id, llvm::StringRef name) {
  ++version_;
  Text& text = texts_[id];
  auto it = by_name_.find(text.name);
  if (it != by_name_.end() && it->second == id) by_name_.erase(it);
  text.name = module_->strings.Intern(name);
  by_name_.try_emplace(text.name, id);  // keeps the first node if a damaged graph has a name twice
  Mark(id);
  for (const Use& use : nodes_[id].uses) Mark(use.node);
}

void Graph::AddInput(NodeId id, Port port) {
  ++version_;
  uint32_t slot = nodes_[id].num_data;
  Edge edge = MakeEdge(id, slot, port);
  Data& data = nodes_[id];
  data.edges.insert(slot, edge);
  ++data.num_data;
  for (uint32_t i = slot + 1; i < data.edges.size(); ++i) {
    if (data.edges[i].node != kNoNode) nodes_[data.edges[i].node].uses[data.edges[i].use].slot = i;
  }
  Mark(id);
}

void Graph::SetInput(NodeId id, int slot, Port port) {
  ++version_;
  Data& data = nodes_[id];
  if (data.edges[slot].node == port.node && data.edges[slot].port == port.index) return;
  DropUse(data.edges[slot]);
  data.edges[slot] = MakeEdge(id, slot, port);
  Mark(id);
}

void Graph::RemoveInput(NodeId id, int slot) { RemoveEdge(id, slot); }

bool Graph::AddControl(NodeId id, NodeId from) {
  Data& data = nodes_[id];
  if (nodes_[from].uses.size() < data.edges.size()) {
    for (const Use& use : nodes_[from].uses) {
      if (use.node == id && use.slot >= data.num_data) return false;
    }
  } else {
    for (uint32_t i = data.num_data; i < data.edges.size(); ++i) {
      if (data.edges[i].node == from) return false;
    }
  }
  AppendControl(id, from);
  return true;
}

void Graph::AppendControl(NodeId id, NodeId from) {
  ++version_;
  Data& data = nodes_[id];
  Edge edge = MakeEdge(id, data.edges.size(), {from, kControlPort});
  data.edges.push_back(edge);
  Mark(id);
}

bool Graph::RemoveControl(NodeId id, NodeId from) {
  bool removed = false;
  for (uint32_t i = nodes_[id].edges.size(); i-- > nodes_[id].num_data;) {
    if (nodes_[id].edges[i].node == from) {
      RemoveEdge(id, i);
      removed = true;
    }
  }
  return removed;
}

void Graph::RemoveControlSlot(NodeId id, uint32_t slot) {
  ++version_;
  Data& data = nodes_[id];
  assert(slot >= data.num_data && "a data input has its place");
  DropUse(data.edges[slot]);
  if (slot + 1 < data.edges.size()) {
    data.edges[slot] = data.edges.back();
    if (data.edges[slot].node != kNoNode)
      nodes_[data.edges[slot].node].uses[data.edges[slot].use].slot = slot;
  }
  data.edges.pop_back();
  Mark(id);
}

void Graph::SetInputs(NodeId id, llvm::ArrayRef<Port> ports) {
  ++version_;
  Data& data = nodes_[id];
  for (const Edge& edge : data.edges) DropUse(edge);
  data.edges.clear();
  data.num_data = 0;
  for (Port port : ports) {
    assert((port.IsControl() || data.num_data == data.edges.size()) && "control inputs come last");
    Edge edge = MakeEdge(id, data.edges.size(), port);
    data.edges.push_back(edge);
    data.num_data += !port.IsControl();
  }
  Mark(id);
}

void Graph::AddImportedInput(NodeId id, Port port, llvm::StringRef text, bool control) {
  ++version_;
  bool after_controls = !control && nodes_[id].edges.size() != nodes_[id].num_data;
  if (port.node != kNoNode && after_controls) {
    bool was_changed = texts_[id].changed;
    AddInput(id, port);
    texts_[id].changed = was_changed;
    return;
  }
  uint32_t slot = nodes_[id].edges.size();
  Edge edge = {kNoNode, control ? kControlPort : 0, 0};
  if (port.node != kNoNode) {
    edge = MakeEdge(id, slot, port);
  } else if (after_controls) {
    return;  // it also dangles; import has reported the node
  } else {
    edge.use = module_->strings.Intern(text);
  }
  nodes_[id].edges.push_back(edge);
  nodes_[id].num_data += !control;
}

std::string Graph::UniqueName(llvm::StringRef base) const {
  std::string name = base.str();
  for (int i = 1; Find(name); ++i) name = (base + "_" + llvm::Twine(i)).str();
  return name;
}

llvm::StringRef Graph::UnchangedSource(NodeId id) const {
  return texts_[id].changed ? llvm::StringRef() : Source(id);
}

std::vector<NodeId> TopologicalOrder(const Graph& graph) {
  StringId merge = graph.module().strings.Find("Merge"),
           ref_merge = graph.module().strings.Find("RefMerge");
  StringId next = graph.module().strings.Find("NextIteration"),
           ref_next = graph.module().strings.Find("RefNextIteration");
  auto is_back_edge = [&](Node from, Node to) {
    return (from.op_id() == next || from.op_id() == ref_next) &&
           (to.op_id() == merge || to.op_id() == ref_merge);
  };
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  std::vector<uint32_t> waiting(graph.end_id(), 0);
  bool is_in_order = true;
  for (Node node : graph.nodes()) {
    uint32_t count = 0;
    for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot) {
      NodeId from = node.input(slot).node;
      if (from == kNoNode || is_back_edge(graph.node(from), node)) continue;
      ++count;
      is_in_order = is_in_order && from < node.id();
    }
    waiting[node.id()] = count;
    order.push_back(node.id());
  }
  if (is_in_order) return order;  // then every node comes after its inputs
  order.clear();
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (Node node : graph.nodes()) {
    if (waiting[node.id()] == 0) ready.push(node.id());
  }
  while (!ready.empty()) {
    NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    Node node = graph.node(id);
    for (const Use& use : node.uses()) {
      if (is_back_edge(node, graph.node(use.node))) continue;
      if (--waiting[use.node] == 0) ready.push(use.node);
    }
  }
  return order;
}

}  // namespace grapnel
